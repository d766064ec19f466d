/** The files of the options --tls-key and --tls-cert. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError, unreadable } from '../../io/errors.js';

/**
 * Reads the key and the certificate of a server.
 *
 * @returns `undefined` if the options name none
 * @throws UsageError if one of them is missing or cannot be read, or the key does not belong to the certificate
 */
export function tlsFiles(options: {
  readonly 'tls-key'?: string | undefined;
  readonly 'tls-cert'?: string | undefined;
}): { readonly key: string; readonly cert: string } | undefined {
  const { 'tls-key': key, 'tls-cert': cert } = options;
  if (key === undefined && cert === undefined) return undefined;
  if (key === undefined) throw new UsageError('--tls-cert requires --tls-key');
  if (cert === undefined) throw new UsageError('--tls-key requires --tls-cert');
  const identity = { key: read(key), cert: read(cert) };
  try {
    createSecureContext(identity);
  } catch (thrown) {
    throw new UsageError(`Cannot use the key ${key} with the certificate ${cert}: ${systemReason(thrown)}`);
  }
  return identity;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
}
