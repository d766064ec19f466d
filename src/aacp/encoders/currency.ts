/** What a currency has to look like. */
import { quotedShort } from '../../text/visible.js';
import { isCurrency } from '../lint/forms.js';
import type { Refusal } from './plan.js';

/** Why a text, in capitals, is no currency; `null` when it has the form of one, and where the reference SDK is followed. */
export function refuseNoCurrency(text: string, compat: boolean): Refusal | null {
  if (compat || isCurrency(text)) return null;
  const message = `${quotedShort(text)} is not three letters`;
  return { code: 'bad-input', message, help: 'a code of ISO 4217, such as GBP' };
}
