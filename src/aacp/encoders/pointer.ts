/** Where personal data is, instead of in a packet (draft-mackay-aacp-01, section 15). */
import { sha256Hex } from '../../text/sha256.js';
import { checkedValue } from '../build/values.js';
import type { EncodeOptions } from './options.js';
import type { ReferencedData } from './result.js';

/**
 * Puts data behind a pointer.
 *
 * @param entries by name, in ascending order; at least one
 * @throws TypeError on a pointer that cannot stand in a packet
 */
export function referTo(
  entries: readonly (readonly [name: string, text: string])[],
  pointer: EncodeOptions['pointer'],
): ReferencedData {
  const data: Record<string, string> = Object.create(null);
  for (const [name, text] of entries) data[name] = text;
  return { pointer: pointer === undefined ? digestOf(entries) : checkedPointer(pointer(data)), data };
}

/** Of the canonical JSON: `{"email":"..."}`, names ascending. */
function digestOf(entries: readonly (readonly [name: string, text: string])[]): string {
  const json = entries.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`).join(',');
  return `sha256:${sha256Hex(`{${json}}`)}`;
}

function checkedPointer(pointer: unknown): string {
  if (typeof pointer !== 'string') throw new TypeError('the option pointer has to give a text');
  try {
    return checkedValue(pointer, 'pointer');
  } catch (thrown) {
    throw new TypeError('the option pointer gave what cannot stand in a packet', { cause: thrown });
  }
}
