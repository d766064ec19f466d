import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/** The code of a `RegistryError`. `bad-registry-file`: the file to import is not a list of entries in JSON. */
export type RegistryErrorCode = 'bad-registry-file';

/** The error thrown when a file of the reference SDK cannot be imported. A registry whose storage fails throws a StoreError instead. */
export class RegistryError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'RegistryError';
  declare readonly code: RegistryErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: RegistryErrorCode; readonly message: string },
    options: ErrorOptions = {},
  ) {
    super(details, options);
  }
}
