import { StoreError, type StoreReason } from '../../text/store-error.js';

/** Codes of failed encryption, as Node names them. */
const TLS = /CERT|^UNABLE_TO_(GET|VERIFY)|^ERR_(TLS|SSL)/;

/** Codes of PostgreSQL (SQLSTATE, or their class of two characters), of Node and of the drivers, with the reasons of failures. */
const REASONS: readonly (readonly [RegExp, StoreReason, string])[] = [
  [/^(53100|53200)$/, 'full', 'The database cannot grow'],
  [/^(55P03|57014)$/, 'busy', 'The database did not get a lock in time'],
  [/^(40001|40P01)$/, 'busy', 'Transactions of the database were in each other’s way'],
  [/^25006$/, 'unavailable', 'The database is read-only'],
  [/^28/, 'unavailable', 'The database refused the credentials'],
  [/^3D000$/, 'unavailable', 'The database does not exist'],
  [/^42501$/, 'unavailable', 'The role may not do this in the database'],
  [/^(XX001|XX002)$/, 'corrupt', 'The database is damaged'],
  [/^(08|57P|53)/, 'unavailable', 'The database cannot be reached'],
  [TLS, 'unavailable', 'The certificate or the encryption of the database was not accepted'],
  [/^(E[A-Z]+|CONNECTION_[A-Z]+|CONNECT_TIMEOUT)$/, 'unavailable', 'The database cannot be reached'],
];

/** Codes of failures after which nothing has been executed: there was no connection, or the server has refused it or the statement. */
const NOT_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|28.*|3D000|57P03|53300|25006|42501|.*CERT.*|UNABLE_TO_.*)$/;

/** Converts an error of a driver. No message contains the URL, which may hold a password. */
export function postgresError(thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const { message } = thrown as { readonly message?: unknown };
  const code = codeOf(thrown);
  const known = REASONS.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return new StoreError(known[1], `${known[2]}: ${code}`, { cause: thrown });
  // The drivers report lost connections without a code.
  if (/connection|timeout|socket/i.test(String(message)))
    return new StoreError('unavailable', 'The database cannot be reached', { cause: thrown });
  return new StoreError('failed', `The database: ${String(message ?? thrown)}`, { cause: thrown });
}

/** Returns whether a statement that failed has certainly not been executed. */
export function isNotSent({ cause }: StoreError): boolean {
  return NOT_SENT.test(codeOf(cause));
}

/** Returns whether the transaction was undone because of another one, and can be repeated at once. */
export function isContention({ cause }: StoreError): boolean {
  return /^(40001|40P01|55P03)$/.test(codeOf(cause));
}

/** Returns whether the server has refused a statement because of its values, and so has undone the transaction. */
export function isRefusal({ reason, cause }: StoreError): boolean {
  return reason === 'failed' && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(codeOf(cause));
}

/** Returns the code of an error, or of the first of several. */
function codeOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return '';
  const { code, errors } = thrown as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) ? codeOf(errors[0]) : '';
}
