/** ER: errors (draft-benzing-accp-00, section 3.6). */
import { type AccpError, type AccpErrorCode, ERROR_CODES, type ErrorCode } from '../errors.js';
import { type Json, sealDefinition } from '../message/json.js';
import { broken, member, type Profile, type ProfileContext, type ProfileMessage, requireText } from './profile.js';

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

/** Table 5 defines the ranges of codes; Table 6 lists only some of them. */
const CODE = /^E[0-9]{4}$/;
const RANGES = /^E[123459]/;

/** Includes error frames that do not name the schema. */
function isError({ intent, operation, schema }: ProfileMessage): boolean {
  return schema === 'ER' || (intent === 'fail' && operation === 'error');
}

export function standardError(code: Json | undefined): ErrorCode | undefined {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as AccpErrorCode] : undefined;
}

/** Makes the payload of an error frame; `details` do not replace standard members. */
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

/** Fills in `retryable` from Table 6 if an error with a known code lacks it. */
export function completeError(message: ProfileMessage): { readonly [key: string]: Json } {
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
  if (intent !== 'fail') throw broken('intent', 'Error frames have the intent "fail" (section 3.6).');
  if (operation !== 'error') throw broken('operation', 'Error frames have the operation "error" (section 3.6).');
  if (schema === undefined && context.direction === 'receive') {
    context.warn('error-schema', 'An error frame should name the schema ER (section 3.6).', 'schema');
    return;
  }
  if (schema !== 'ER') throw broken('schema', 'Error frames have the schema ER (section 3.6).');
  checkPayload(message, context);
}

function checkPayload(message: ProfileMessage, { direction, warn }: ProfileContext): void {
  const code = requireText(message, 'code', 'An error needs its code (section 3.6).');
  if (!CODE.test(code)) throw broken('payload.code', 'The code of an error is an E and four digits (section 3.6).');
  if (!RANGES.test(code)) warn('error-range', 'The code is in none of the ranges of Table 5.', 'payload.code');
  // Optional on receipt: the code alone is useful.
  if (direction === 'send') requireText(message, 'message', 'An error needs its message, a text (section 3.6).');
  const retryable = member(message, 'retryable');
  if (retryable === undefined) return;
  if (typeof retryable !== 'boolean') throw broken('payload.retryable', 'Whether to retry is true or false.');
  const standard = standardError(code);
  if (standard === undefined || standard.retryable === retryable) return;
  const why = `Table 6 has ${standard.name} as ${standard.retryable ? '' : 'not '}retryable.`;
  if (direction === 'send') throw broken('payload.retryable', why);
  warn('retryable', why, 'payload.retryable');
}
