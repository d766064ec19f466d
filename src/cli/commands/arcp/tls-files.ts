/** The files of the options --tls-key and --tls-cert. */
import { readFileSync } from 'node:fs';
import { UsageError, unreadable } from '../../io/errors.js';

/** Reads the key and the certificate of a server. @throws UsageError if an option is missing, or a file cannot be read */
export function tlsFiles(options: {
  readonly 'tls-key'?: string | undefined;
  readonly 'tls-cert'?: string | undefined;
}): {
  readonly key: string;
  readonly cert: string;
} {
  const { 'tls-key': key, 'tls-cert': cert } = options;
  if (key === undefined || cert === undefined) throw new UsageError('TLS requires --tls-key and --tls-cert');
  return { key: read(key), cert: read(cert) };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
}
