/** The options --tls-key and --tls-cert, and their files. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { systemReason } from '../../text/system-reason.js';
import { UsageError, unreadable } from '../io/errors.js';
import { text, type Values } from './option.js';

/** Defines the options. @param what the listeners that they encrypt */
export function tlsOptions(what: string) {
  return {
    'tls-key': text('FILE', `Encrypt ${what} with this private key in PEM; requires --tls-cert`),
    'tls-cert': text('FILE', 'The certificate of --tls-key in PEM, followed by those of its issuers'),
  };
}

/**
 * Reads the key and the certificate of a server.
 *
 * @returns `undefined` if the options name none
 * @throws UsageError if one of them is missing or cannot be read, or the key does not belong to the certificate
 */
export function tlsFiles(
  options: Values<ReturnType<typeof tlsOptions>>,
): { readonly key: string; readonly cert: string } | undefined {
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
