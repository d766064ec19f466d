/** The errors of storage as those of a registry. */
import { storeError } from '../../storage/errors.js';
import type { StoreError, StoreReason } from '../../text/store-error.js';
import { RegistryError, type RegistryErrorCode } from '../fallback/errors.js';

const CODES: Readonly<Record<StoreReason, RegistryErrorCode>> = {
  taken: 'registry-unavailable',
  closed: 'registry-unavailable',
  foreign: 'bad-registry-file',
  newer: 'registry-newer',
  corrupt: 'registry-corrupt',
  busy: 'registry-busy',
  full: 'registry-full',
  unavailable: 'registry-unavailable',
  'no-driver': 'registry-unavailable',
  misconfigured: 'registry-unavailable',
  failed: 'registry-unavailable',
};

/** What can be done about it. */
const HELP: Readonly<Partial<Record<StoreReason, string>>> = {
  foreign: 'name another file; this one is left as it is',
  newer: 'use the version of pegwire that wrote it, or name another file',
  busy: 'try again, or give a longer busyTimeout',
};

/** What storage threw, as a RegistryError with the StoreError as its cause. */
export function registryError(thrown: unknown, file: string): RegistryError {
  if (thrown instanceof RegistryError) return thrown;
  const cause = storeError(thrown, file);
  return new RegistryError(
    { code: CODES[cause.reason], message: `The registry ${cause.message}.`, help: HELP[cause.reason] },
    { cause },
  );
}

/** A damaged file that says nothing of a registry: it may be somebody else's. */
export function strangerError(cause: StoreError, file: string): RegistryError {
  const message = `${file} is damaged, and it does not look like a registry; it is left as it is.`;
  return new RegistryError({ code: 'bad-registry-file', message, help: HELP.foreign }, { cause });
}

/** @param aside where the file is now; `null` when it could not be set aside */
export function corruptError(file: string, aside: string | null, cause: unknown): RegistryError {
  const message =
    aside === null
      ? `The registry ${file} is damaged, and could not be set aside.`
      : `The registry ${file} is damaged. It was set aside, unchanged, as ${aside}; the next opening begins an empty one.`;
  const help =
    aside === null ? 'move it away; nothing is written over it' : 'what can be read of it: sqlite3 FILE .recover';
  return new RegistryError({ code: 'registry-corrupt', message, help }, { cause });
}

/** Whether a file that could be opened is one no longer. */
export function isDamage(error: StoreError): boolean {
  return error.reason === 'corrupt' || error.reason === 'foreign';
}
