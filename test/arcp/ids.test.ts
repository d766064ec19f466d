import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/arcp/index.js';

const PROCESSES = 4;
/** `npm run test:long` uses ten times as many: a million in total. */
const EACH = process.env['LONG_RUNS'] === undefined ? 25_000 : 250_000;

async function made(count: number): Promise<readonly string[]> {
  const args = ['--import', 'tsx', 'test/fixtures/ids.ts', String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 2 ** 20 });
  return stdout.split('\n');
}

describe('identifiers', () => {
  test('are unique across processes', { timeout: 60_000 }, async () => {
    const all = await Promise.all(Array.from({ length: PROCESSES }, () => made(EACH)));
    expect(new Set(all.flat()).size).toBe(PROCESSES * EACH);
  });

  test('have a prefix for their kind, and increase with time', () => {
    const some = Array.from({ length: 100 }, () => newId('job'));
    expect(some.every((id) => /^job_[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).toBe(true);
    expect([...some].sort()).toEqual(some);
  });
});
