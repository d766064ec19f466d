/** A default registry that cannot be written: encoding continues in memory, with one warning. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFallbackEncoder, memoryRegistry } from '../../../src/aacp/fallback/index.js';
import { cli } from '../../helpers/cli.js';
import { goodReply, scriptedModel } from '../../helpers/fallback.js';
import { freshFiles } from '../../storage/folder.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';
const KNOWN = 'Retrieve the employee salary records for August 2024';
const HR = { domain: 'HR' } as const;
const fresh = freshFiles();

/** Folders in which no registry can be created. */
const PLACES: readonly (readonly [name: string, make: () => string])[] = [
  ['below a file', () => path.join(file(), 'data')],
  ['that is a file', () => file()],
  ['on a file system that takes no files', () => '/proc/pegwire'],
  ['that does not exist there', () => '/dev/null/pegwire'],
  [
    'whose registry is a folder',
    () => {
      const folder = path.join(path.dirname(fresh('place')), 'with-folder');
      mkdirSync(path.join(folder, 'registry.db'), { recursive: true });
      return folder;
    },
  ],
  [
    'that is read-only',
    () => {
      const folder = path.join(path.dirname(fresh('place')), 'read-only');
      mkdirSync(folder);
      chmodSync(folder, 0o500);
      return folder;
    },
  ],
];

function file(): string {
  const name = fresh('a-file');
  writeFileSync(name, 'a file');
  return name;
}

// Root can write everywhere.
const places = PLACES.filter(([name]) => name !== 'that is read-only' || process.getuid?.() !== 0);

beforeEach(() => vi.unstubAllEnvs());
afterEach(() => vi.unstubAllEnvs());

describe.each(places)('a data folder %s', (_name, make) => {
  test('results in a registry in memory, and one warning', async () => {
    vi.stubEnv('PEGWIRE_DATA_DIR', make());
    const { model, calls } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, rules: null });
    const results = [];
    for (let turn = 0; turn < 3; turn++) results.push(await encoder.encode(INSTRUCTION, HR));
    expect(results.map(({ tier, warnings }) => [tier, warnings.map(({ code }) => code)])).toEqual([
      ['model', ['registry-in-memory']],
      ['cache', []],
      ['cache', []],
    ]);
    expect([calls.length, (await encoder.registry())?.file]).toEqual([1, null]);
    await encoder.close();
  });

  test('lets `encode aacp` print its packet, with a warning that names --registry memory', async () => {
    vi.stubEnv('PEGWIRE_DATA_DIR', make());
    for (const extra of [[], ['--json']]) {
      const { code, stdout, stderr } = await cli(['encode', 'aacp', '--english', KNOWN, '--domain', 'HR', ...extra]);
      expect([code, stdout.includes('period:2024-08')]).toEqual([0, true]);
      expect(stderr.match(/registry-in-memory/g)?.length).toBe(1);
      expect(stderr).toContain('--registry memory');
    }
  });
});

describe('a user without a home folder, as in a container', () => {
  beforeEach(() => {
    for (const name of ['PEGWIRE_DATA_DIR', 'XDG_DATA_HOME', 'LOCALAPPDATA']) vi.stubEnv(name, undefined);
    for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, '');
  });

  test('has a registry in memory, and one warning that names the variable to set', async () => {
    const { model } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, rules: null });
    const results = [await encoder.encode(INSTRUCTION, HR), await encoder.encode(INSTRUCTION, HR)];
    expect(results.map(({ tier, warnings }) => [tier, warnings.length])).toEqual([
      ['model', 1],
      ['cache', 0],
    ]);
    expect(results[0]?.warnings[0]).toMatchObject({
      code: 'registry-in-memory',
      message: expect.stringContaining('set PEGWIRE_DATA_DIR'),
    });
    await encoder.close();
  });

  test('gets the packets of `encode aacp`, and one warning', async () => {
    const args = ['encode', 'aacp', '--english', '--domain', 'HR'];
    const { code, stdout, stderr } = await cli(args, { stdin: `${KNOWN}\n${KNOWN}\n` });
    expect([code, stdout.match(/period:2024-08/g)?.length]).toEqual([0, 2]);
    expect(stderr.match(/registry-in-memory.*set PEGWIRE_DATA_DIR/g)?.length).toBe(1);
  });

  test('sees the variable to set in errors of registry commands', async () => {
    const { code, stderr } = await cli(['aacp', 'registry', 'stats']);
    expect([code, stderr.includes('set PEGWIRE_DATA_DIR')]).toEqual([2, true]);
  });
});

describe('an explicit path', () => {
  test('that cannot be written also lets `encode aacp` print its packet', async () => {
    const named = ['--registry', path.join(file(), 'registry.db')];
    const { code, stdout, stderr } = await cli(['encode', 'aacp', '--english', KNOWN, '--domain', 'HR', ...named]);
    expect([code, stdout.includes('period:2024-08')]).toEqual([0, true]);
    expect(stderr).toContain('warning[registry-in-memory]');
  });

  test('that is memory has no warning', async () => {
    vi.stubEnv('PEGWIRE_DATA_DIR', file());
    const { model } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, rules: null, registry: memoryRegistry() });
    expect((await encoder.encode(INSTRUCTION, HR)).warnings).toEqual([]);
    const args = ['encode', 'aacp', '--english', KNOWN, '--domain', 'HR', '--registry', 'memory'];
    expect((await cli(args)).stderr).not.toContain('registry-in-memory');
  });
});
