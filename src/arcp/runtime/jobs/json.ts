/** Values that are kept as text. */
import { ArcpError } from '../../protocol/errors.js';

/** @throws ArcpError `INVALID_ARGUMENT` on what has no JSON */
export function jsonOf(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new ArcpError('INVALID_ARGUMENT', `What ${what} holds has no JSON: ${(cause as Error).message}`, { cause });
  }
  return text ?? 'null';
}
