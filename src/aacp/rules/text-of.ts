import { RulesError } from './errors.js';

/** @throws RulesError with code `bad-rules` on bytes that are no UTF-8 */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RulesError({ code: 'bad-rules', message: 'These are no rules: the bytes are no UTF-8.' }, { cause });
  }
}
