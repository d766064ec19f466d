import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/** `bad-registry-file`: the text to import is not a list of entries in JSON. */
export type RegistryErrorCode = 'bad-registry-file';

/** A file of the reference SDK that cannot be imported. A registry whose storage fails throws a StoreError instead. */
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
