/** The frame of a message outside a session. */
import type { Frame, Param } from '../ast.js';
import { keyTable } from '../message/abbreviations.js';
import { type MessageInput, UNKNOWN_AGENT } from '../message/message.js';
import { createWriting, writeParam } from '../message/write-value.js';
import { fieldType, omitDefaults } from '../registry/defaults.js';
import type { Registry } from '../registry/registry.js';

/**
 * Returns the frame that a codec makes of a message, without metadata: with abbreviated keys, without defaults, and with transliterated strings.
 *
 * @throws AccpError E1004 with the path if a value cannot be written
 */
export function frameOf(
  { agent = UNKNOWN_AGENT, intent, operation, schema: code, payload = {} }: MessageInput,
  { byCode }: Registry,
): Frame {
  const schema = code === undefined ? undefined : byCode(code);
  const fields = schema === undefined ? payload : omitDefaults(payload, schema);
  const { abbreviate, expand } = keyTable(code);
  const writing = createWriting({ text: 'transliterate' });
  const params: Param[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    params.push(writeParam(abbreviate(key), value, writing, fieldType(schema, expand(key)), key));
  }
  if (code !== undefined) params.push({ key: 'schema', value: { kind: 'string', value: code } });
  return { kind: 'frame', agent, intent, operation, payload: params, metadata: null };
}
