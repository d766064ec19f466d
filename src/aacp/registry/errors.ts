import { type ErrorDetails, PegwireError } from '../../text/errors.js';

export type RegistryErrorCode =
  | 'registry-corrupt'
  | 'registry-unavailable'
  | 'registry-busy'
  | 'registry-newer'
  | 'registry-full'
  | 'registry-closed'
  | 'bad-registry-file';

/** An error of a registry. */
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
