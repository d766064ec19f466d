/** Where in a frame the part is that an error names by its path. */

import type { Param } from '../accp/ast.js';
import { keyTable } from '../accp/message/abbreviations.js';
import { type Dialect, tryParseFrame } from '../accp/parse.js';
import type { Span } from '../text/span.js';

/**
 * @param path `metadata.seq`, `payload.tool_name`, ...: the parameter is looked for, not what is inside of its value
 * @returns `null` where the frame has no such part
 */
export function placeOf(path: string | undefined, text: string, dialect: Dialect): Span | null {
  const [, block, key] = /^(metadata|payload)\.([A-Za-z0-9_]+)/.exec(path ?? '') ?? [];
  if (key === undefined) return null;
  const parsed = tryParseFrame(text, { dialect, spans: true });
  if (!parsed.ok) return null;
  const { payload, metadata } = parsed.value;
  return spanIn(block === 'payload' ? payload : (metadata ?? []), key);
}

function spanIn(params: readonly Param[], key: string): Span | null {
  const schema = params.find((param) => param.key === 'schema')?.value;
  const table = keyTable(schema?.kind === 'string' ? schema.value : undefined);
  const param = params.find((one) => one.key === key) ?? params.find((one) => table.expand(one.key) === key);
  return param?.span ?? null;
}
