import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../src/text/sha256.js';
import { runs } from '../helpers/runs.js';

function oracle(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
])('the vectors of FIPS 180-4: %j', (data, hash) => {
  expect(sha256Hex(data)).toBe(hash);
});

test('every length up to three blocks hashes as in Node, at any offset of its buffer', () => {
  const buffer = Uint8Array.from({ length: 260 }, (_, index) => (index * 7) % 256);
  for (let length = 0; length <= 192; length++) {
    const bytes = buffer.subarray(3, 3 + length);
    expect(sha256Hex(bytes)).toBe(oracle(bytes));
  }
});

test('any text hashes as in Node, lone surrogates included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(sha256Hex(text)).toBe(oracle(text));
    }),
    runs(500),
  );
  for (const text of ['\ud800', 'a\udc00b', '\ud800\ud801\udc00', '\u{10ffff}é日'])
    expect(sha256Hex(text)).toBe(oracle(text));
});

test('long data hash as in Node', () => {
  const bytes = new Uint8Array(1_000_003).fill(0x61);
  expect(sha256Hex(bytes)).toBe(oracle(bytes));
});
