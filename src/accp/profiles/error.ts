/** ER: errors (draft-benzing-accp-00, section 3.6). */
import { type AccpError, type AccpErrorCode, ERROR_CODES, type ErrorCode } from '../errors.js';
import { type Json, sealDefinition } from '../message/json.js';
import { member, type Profile, type ProfileContext, type ProfileMessage, requireText, violation } from './profile.js';

export const ERROR: Profile = {
  code: 'ER',
  name: 'Error',
  schemaName: 'error',
  schema: sealDefinition({
    code: 'ER',
    version: 1,
    fields: ['code', 'message', 'retryable'],
    types: { code: 'string', message: 'string', retryable: 'boolean' },
    operations: ['error'],
  }),
  check: checkError,
};

/** Codes: Table 5 defines their ranges, and Table 6 lists only some of them. */
const CODE = /^E[0-9]{4}$/;
const RANGES = /^E[123459]/;

/** Returns `true` for error messages, including those that do not name the schema. */
function isError({ intent, operation, schema }: ProfileMessage): boolean {
  return schema === 'ER' || (intent === 'fail' && operation === 'error');
}

export function standardError(code: Json | undefined): ErrorCode | undefined {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as AccpErrorCode] : undefined;
}

/**
 * Creates the payload of an error frame; `details` do not replace standard members.
 *
 * Source: draft-benzing-accp-00, section 3.6.
 */
export function errorPayload(
  code: AccpErrorCode,
  message: string,
  details: { readonly [key: string]: Json } = {},
): { readonly [key: string]: Json } {
  const payload = Object.assign(Object.create(null) as { [key: string]: Json }, details);
  return Object.assign(payload, { code, message, retryable: ERROR_CODES[code].retryable });
}

export function errorPayloadOf({ code, message, details }: AccpError): { readonly [key: string]: Json } {
  return errorPayload(code, message, details);
}

/** Returns the payload of a message; if it is an error with a standard code, `retryable` is filled in from Table 6. */
export function completeError(message: Pick<ProfileMessage, 'schema' | 'payload'>): { readonly [key: string]: Json } {
  const { payload, schema } = message;
  const standard = schema === 'ER' ? standardError(member(message, 'code')) : undefined;
  if (standard === undefined || member(message, 'retryable') !== undefined) return payload;
  const completed = Object.assign(Object.create(null) as { [key: string]: Json }, payload);
  completed['retryable'] = standard.retryable;
  return completed;
}

function checkError(message: ProfileMessage, context: ProfileContext): void {
  if (!isError(message)) return;
  const { intent, operation, schema } = message;
  if (intent !== 'fail') throw violation('intent', 'An error frame must have the intent "fail" (section 3.6).');
  if (operation !== 'error')
    throw violation('operation', 'An error frame must have the operation "error" (section 3.6).');
  if (schema === undefined && context.direction === 'receive') {
    context.warn('error-schema', 'An error frame should name the schema ER (section 3.6).', 'schema');
    return;
  }
  if (schema !== 'ER') throw violation('schema', 'An error frame must have the schema ER (section 3.6).');
  checkPayload(message, context);
}

function checkPayload(message: ProfileMessage, { direction, warn }: ProfileContext): void {
  const code = requireText(message, 'code', 'An error frame must have a code (section 3.6).');
  if (!CODE.test(code))
    throw violation('payload.code', 'The code of an error must be an E and four digits (section 3.6).');
  if (!RANGES.test(code)) warn('error-range', 'The code is outside the ranges of Table 5.', 'payload.code');
  // Optional on receipt: the code alone is useful.
  if (direction === 'send')
    requireText(message, 'message', 'An error frame must have a message, a non-empty string (section 3.6).');
  const retryable = member(message, 'retryable');
  if (retryable === undefined) return;
  if (typeof retryable !== 'boolean') throw violation('payload.retryable', 'The value must be true or false.');
  const standard = standardError(code);
  if (standard === undefined || standard.retryable === retryable) return;
  const why = `${standard.name} is ${standard.retryable ? '' : 'not '}retryable in Table 6.`;
  if (direction === 'send') throw violation('payload.retryable', why);
  warn('retryable', why, 'payload.retryable');
}
