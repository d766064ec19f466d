/** The registry file of the reference SDK: read, and written. */
import { readFile } from 'node:fs/promises';
import { exportPatterns, importPatterns, type Registry } from '../../aacp/fallback/index.js';
import { visible } from '../../text/visible.js';
import { unreadable } from '../io/errors.js';
import { strictText } from '../io/input.js';
import { toJson } from '../io/json.js';
import type { Invocation } from '../options/command.js';

/** @returns the exit code: 1 when some of it was not taken */
export async function importFile(registry: Registry, { json, output }: Invocation, file: string): Promise<number> {
  const report = importPatterns(registry, await textOf(file));
  const { imported, merged, rewritten, skipped } = report;
  if (json) await output.result(toJson(report));
  else {
    for (const { index, id, reason } of skipped)
      await output.note(
        `${visible(file)}: entry ${index + 1}${id === null ? '' : ` (${visible(id)})`}: ${visible(reason)}`,
      );
    const parts = [
      `${imported} imported`,
      `${merged} were there`,
      `${rewritten} written anew`,
      `${skipped.length} left out`,
    ];
    await output.result(parts.join(', '));
  }
  return skipped.length > 0 ? 1 : 0;
}

export async function exportEntries(registry: Registry, { json, output }: Invocation): Promise<number> {
  const text = exportPatterns(registry);
  await output.result(json ? toJson(JSON.parse(text)) : text.trimEnd());
  return 0;
}

async function textOf(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
  return strictText(bytes, file);
}
