/** What a currency has to look like. */
import { quotedShort } from '../../text/visible.js';
import type { Refusal } from './plan.js';

/** Of ASCII, in any case. */
const LETTERS = /^[A-Za-z]{3}$/;

/**
 * Why what was given is no currency; `null` when it has the form of one, and where the reference SDK is followed. What was made
 * of it is not looked at: in capitals, "ßa" is "SSA", three letters of ASCII.
 */
export function refuseNoCurrency(_capitals: string, compat: boolean, given: string): Refusal | null {
  if (compat || LETTERS.test(given)) return null;
  const message = `${quotedShort(given)} is not three letters`;
  return { code: 'bad-input', message, help: 'a code of ISO 4217, such as GBP' };
}
