/** The QUIC package of the tests, which has no binary for some platforms. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { describe } from 'vitest';
import { matrixQuic, type QuicDriver } from '../../src/arcp/quic/index.js';

const FOLDER = new URL('../fixtures/tls/', import.meta.url);
/** A certificate for `localhost`, which has no issuer but itself, and its key. */
export const tls = {
  cert: readFileSync(new URL('certificate.pem', FOLDER), 'utf8'),
  key: readFileSync(new URL('key.pem', FOLDER), 'utf8'),
};

const loaded = await import('@matrixai/quic').then(matrixQuic, (error: unknown) => {
  // In CI, tests of QUIC are not skipped.
  if (process.env['CI'] !== undefined) throw error;
  return undefined;
});

/** The end of the names of tests that need the package. */
export const quicHint = loaded === undefined ? ' (skipped: @matrixai/quic has no binary for this platform)' : '';

/** `true` if the package can be loaded. */
export const hasQuic = loaded !== undefined;

/** The driver of the package; only called by tests that need it. */
export function quicDriver(): QuicDriver {
  return loaded!;
}

/** Describes tests that need the package; without it, they are skipped and name it. */
export function describeQuic(title: string, body: () => void): void {
  describe.skipIf(!hasQuic)(`${title}${quicHint}`, body);
}
