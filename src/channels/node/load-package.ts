import { ConnectionError } from '../errors.js';

/** Imports an optional package. @throws ConnectionError `no-package` if it is not installed */
export async function loadPackage<Package>(name: string): Promise<Package> {
  try {
    return (await import(name)) as Package;
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    // The package of a broken installation has another code.
    if (code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const message = `The package ${name} is not installed; run npm install ${name}`;
    throw new ConnectionError<'no-package'>('no-package', message, { cause });
  }
}
