/** Errors of the registry. */
import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/** Something about the registry, a rule library or an audit log that is not as it should be. */
export type RegistryErrorCode =
  | 'registry-corrupt'
  | 'registry-unavailable'
  | 'registry-busy'
  | 'registry-newer'
  | 'registry-full'
  | 'registry-closed'
  | 'bad-registry-file';

export class RegistryError extends PegwireError {
  override readonly name: string = 'RegistryError';
  declare readonly code: RegistryErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: RegistryErrorCode; readonly message: string },
    options: ErrorOptions = {},
  ) {
    super(details, options);
  }
}
