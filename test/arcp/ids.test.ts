import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
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

describe('with a clock that is set', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.resetModules();
  });

  /** A fresh module, as in another process. */
  async function freshIds(): Promise<(kind: 'job') => string> {
    vi.resetModules();
    return (await import('../../src/arcp/protocol/ids.js')).newId;
  }

  test('identifiers of two processes differ at time zero', async () => {
    vi.useFakeTimers({ now: 0 });
    const [one, other] = [await freshIds(), await freshIds()];
    expect(one('job')).toMatch(/^job_[0-9A-Z]{26}$/);
    expect(one('job')).not.toBe(other('job'));
  });

  test('identifiers ascend although the clock goes back', async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    const newId = await freshIds();
    const ids = Array.from({ length: 3000 }, (_, index) => {
      vi.setSystemTime(1_700_000_000_000 + ((index * 37) % 100) - 50);
      return newId('job');
    });
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });
});
