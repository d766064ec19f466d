/** The errors of audit logs. */
import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/**
 * - `audit-in-use`: another holder, of this process or another one, writes to the log.
 * - `audit-damaged`: the log does not verify; nothing is appended to it.
 * - `audit-unavailable`: it cannot be opened, read or written.
 * - `audit-lost`: the lock was taken, or the file changed, under our hands.
 * - `audit-closed`: it was closed.
 */
export type AuditErrorCode = 'audit-in-use' | 'audit-damaged' | 'audit-unavailable' | 'audit-lost' | 'audit-closed';

/** A record cannot be appended. What is in the log is left as it was. */
export class AuditError extends PegwireError {
  override readonly name: string = 'AuditError';
  declare readonly code: AuditErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: AuditErrorCode; readonly message: string },
    options: ErrorOptions = {},
  ) {
    super(details, options);
  }
}
