/** TX: transactions (draft-benzing-accp-00, section 10.3), which are safe to repeat. */

import { digitsOf, PLACES } from '../../text/decimal.js';
import type { AccpError } from '../errors.js';
import { sealDefinition } from '../message/json.js';
import { member, type Profile, type ProfileContext, type ProfileMessage, requireText, violation } from './profile.js';

export const TRANSACTION: Profile = {
  code: 'TX',
  name: 'Transaction',
  schemaName: 'transaction',
  schema: sealDefinition({
    code: 'TX',
    version: 1,
    fields: ['transaction_id', 'amount', 'currency', 'account', 'reference', 'status', 'retryable'],
    defaults: { currency: 'USD', status: 'pending', retryable: false },
    // Identifiers and account numbers keep their zeros.
    types: {
      transaction_id: 'string',
      amount: 'decimal',
      currency: 'string',
      account: 'string',
      reference: 'string',
      status: 'string',
      retryable: 'boolean',
    },
    operations: ['transaction'],
  }),
  check: checkTransaction,
};

/** The maximum length of an identifier: both sides store identifiers, like those of frames. */
const MAX_ID = 256;

function checkTransaction(message: ProfileMessage, context: ProfileContext): void {
  if (message.schema !== 'TX') return;
  const id = requireText(
    message,
    'transaction_id',
    'A transaction must have a transaction_id, a non-empty string (section 10.3).',
  );
  if (id.length > MAX_ID) {
    throw violation('payload.transaction_id', `A transaction_id can have at most ${MAX_ID} characters.`);
  }
  checkStable(id, context);
  checkAmount(message, context);
  checkCurrency(message, context);
}

/** A retry must have the identifier of the first attempt. */
function checkStable(id: string, { request }: ProfileContext): void {
  if (request?.transactionId === undefined || request.transactionId === id) return;
  throw violation(
    'payload.transaction_id',
    'An earlier request with this correlation_id has a different transaction_id; retries and answers must keep it (section 10.3).',
  );
}

function checkAmount(message: ProfileMessage, { direction, dialect, wireKind, isExact }: ProfileContext): void {
  const amount = member(message, 'amount');
  if (amount === undefined) return;
  if (typeof amount !== 'number' && typeof amount !== 'bigint') {
    throw violation('payload.amount', 'An amount must be a number (section 10.3).');
  }
  if (placesOf(amount) > PLACES || isExact?.('amount') === false) {
    throw roundedAmount();
  }
  const kind = direction === 'receive' ? wireKind?.('amount') : undefined;
  if (kind === undefined || kind === 'decimal' || (kind === 'integer' && dialect === 'lenient')) return;
  throw violation(
    'payload.amount',
    `An amount must be written as a decimal; got ${kind === 'integer' ? 'an integer' : `a ${kind}`} (section 10.3).`,
    kind === 'integer' ? 'write a decimal point ("142.0"), or decode in the lenient dialect' : undefined,
  );
}

export function roundedAmount(): AccpError {
  return violation(
    'payload.amount',
    `An amount can have at most ${PLACES} decimal places and the digits of a double, since it is never rounded (section 10.3).`,
    'round it first, or send it in a smaller unit',
  );
}

function placesOf(amount: number | bigint): number {
  if (typeof amount === 'bigint' || !Number.isFinite(amount)) return 0;
  const digits = digitsOf(amount);
  const point = digits.indexOf('.');
  return point < 0 ? 0 : digits.length - point - 1;
}

function checkCurrency(message: ProfileMessage, { warn }: ProfileContext): void {
  const currency = member(message, 'currency');
  if (typeof currency !== 'string' || isCurrency(currency)) return;
  warn('currency', 'The currency should be a code of ISO 4217, such as EUR (section 10.3).', 'payload.currency');
}

const SHAPE = /^[A-Z]{3}$/;

let known: ReadonlySet<string> | null = null;

/** Returns `true` for a code of ISO 4217; on a platform without a list of currencies, for any three capital letters. */
function isCurrency(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  known ??= new Set(typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('currency') : []);
  return known.size === 0 || known.has(text);
}
