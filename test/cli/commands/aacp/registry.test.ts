import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type NewEntry, sqliteRegistry } from '../../../../src/aacp/fallback/index.js';
import type { Ended } from '../../../helpers/child.js';
import { cli, jsonLines, lines, scratchFolder } from '../../../helpers/cli.js';
import { chatServer } from '../encode/chat-server.js';

const scratch = scratchFolder();
const chat = chatServer();
const data = path.join(scratch.path, 'data');
const full = path.join(scratch.path, 'full.db');

const CAKE = 'Bake a chocolate cake for the birthday of the director';
const CAKE_PACKET = 'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:birthday_cake';
const BADGES = 'Order new badges for the tennis club';
const BADGES_PACKET = 'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:badge_order';

beforeEach(() => vi.stubEnv('PEGWIRE_DATA_DIR', data));
afterEach(() => vi.unstubAllEnvs());

function registry(...args: readonly string[]): Promise<Ended> {
  return cli(['aacp', 'registry', ...args]);
}

async function encode(file: string, instruction: string, domain: string, packet: string): Promise<void> {
  chat.reply = packet;
  const model = ['--model', chat.model('baker'), '--price', '3,15'];
  const args = ['encode', 'aacp', '--english', instruction, '--domain', domain, '--registry', file, ...model];
  expect(await cli(args)).toMatchObject({ code: 0, stdout: `${packet}\n` });
}

interface Entry {
  readonly key: string;
  readonly id: string;
}

async function entryOf(file: string, domain: string): Promise<Entry> {
  const [entry] = jsonLines((await registry('list', '--registry', file, '--domain', domain, '--json')).stdout);
  return entry as Entry;
}

let copies = 0;

/** A copy of the registry that a test may change. */
function copy(): string {
  const file = path.join(scratch.path, `copy-${copies++}.db`);
  copyFileSync(full, file);
  return file;
}

beforeAll(async () => {
  await encode(full, CAKE, 'HR', CAKE_PACKET);
  await encode(full, BADGES, 'FIN', BADGES_PACKET);
  await encode(full, BADGES, 'FIN', BADGES_PACKET);
});

describe('aacp registry', () => {
  test.each([[[]], [['stats']]])('%j counts', async (words) => {
    const { code, stdout } = await registry(...words, '--registry', full);
    expect(code).toBe(0);
    expect(stdout).toBe(
      lines(
        `file        ${full}`,
        'entries     2: FIN 1, HR 1',
        'requested   3 times',
        'served      1 time without a model',
        'pending     2 without a rule',
        'spent       $0.00090',
        'saved       $0.00045',
      ),
    );
    const inJson = await registry(...words, '--registry', full, '--json');
    expect(jsonLines(inJson.stdout)).toEqual([
      {
        file: full,
        exists: true,
        entries: 2,
        timesSeen: 3,
        served: 1,
        pending: 2,
        spent: expect.closeTo(0.0009),
        saved: expect.closeTo(0.00045),
        unpriced: 0,
        expired: 0,
        byDomain: { FIN: 1, HR: 1 },
      },
    ]);
  });

  test('a missing default registry is empty and is not created', async () => {
    const { code, stdout } = await registry();
    expect(code).toBe(0);
    expect(stdout).toContain(`${path.join(data, 'registry.db')} (does not exist yet)\n`);
    expect(await registry('list')).toEqual({ code: 0, stdout: '', stderr: '0 entries\n' });
    expect(existsSync(data)).toBe(false);
  });

  test('list prints all entries, or those of a domain', async () => {
    const { stdout, stderr } = await registry('list', '--registry', full);
    expect(stdout).toMatch(/^[0-9a-f]{12} +1x {2}BUILD\|HR\|[^\n]*"\n[0-9a-f]{12} +2x {2}PROC\|FIN\|[^\n]*"\n$/);
    expect(stderr).toBe('2 entries\n');
    const { stdout: ofDomain } = await registry('list', '--registry', full, '--domain', 'fin');
    expect(ofDomain.split('\n')).toEqual([expect.stringContaining(BADGES), '']);
  });

  test('pending prints the entries that no rule covers, most frequent first', async () => {
    const file = copy();
    const { stdout } = await registry('pending', '--registry', file);
    expect(stdout.split('\n')).toEqual([expect.stringContaining(BADGES), expect.stringContaining(CAKE), '']);
    const open = await sqliteRegistry(file);
    open.setCovered((await entryOf(full, 'FIN')).key, true);
    open.close();
    expect((await registry('pending', '--registry', file)).stdout.split('\n')).toHaveLength(2);
  });

  test('show prints an entry in full, by its key, the start of its key, or its id', async () => {
    const { key, id } = await entryOf(full, 'HR');
    for (const word of [key, key.slice(0, 12), key.slice(0, 12).toUpperCase(), id]) {
      const { code, stdout } = await registry('show', word, '--registry', full);
      expect(code).toBe(0);
      for (const expected of [key, id, CAKE, CAKE_PACKET, 'model: baker', '$0.00045', 'requested   1 time, last at 20'])
        expect(stdout).toContain(expected);
    }
    const { stdout } = await registry('show', key, '--registry', full, '--json');
    expect(jsonLines(stdout)).toMatchObject([{ key, instruction: CAKE, packet: CAKE_PACKET, origin: 'model' }]);
  });

  test('show and remove require exactly one entry', async () => {
    for (const action of ['show', 'remove']) {
      const none = await registry(action, 'zzz', '--registry', full);
      expect(none).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'error[no-entry]: No entry has a key that starts with "zzz".\n',
      });
      const many = await registry(action, '', '--registry', full);
      expect(many).toMatchObject({ code: 1, stdout: '' });
      expect(many.stderr).toMatch(
        /^error\[no-entry\]: 2 entries match "": [0-9a-f]{12}, [0-9a-f]{12}; give more digits of the key\.\n$/,
      );
    }
    const inJson = await registry('show', 'zzz', '--registry', full, '--json');
    expect({ code: inJson.code, stderr: inJson.stderr }).toEqual({ code: 1, stderr: '' });
    const message = 'No entry has a key that starts with "zzz".';
    expect(jsonLines(inJson.stdout)).toMatchObject([{ ok: false, error: { code: 'no-entry', message } }]);
  });

  test('remove removes an entry, which is then new again', async () => {
    const file = copy();
    const { key } = await entryOf(file, 'HR');
    expect((await registry('remove', key, '--registry', file)).stdout).toMatch(/^removed: .*BUILD\|HR\|/);
    const args = ['encode', 'aacp', '--english', CAKE, '--domain', 'HR', '--registry', file];
    expect((await cli(args)).stderr).toContain('error[no-model]');
  });

  test('purge removes entries older than an age, which it requires', async () => {
    const file = copy();
    const withoutAge = await registry('purge', '--registry', file);
    expect(withoutAge).toMatchObject({ code: 2, stdout: '' });
    expect(withoutAge.stderr).toContain('purge requires --older-than');
    expect((await registry('purge', '--registry', file, '--older-than', '1d')).stdout).toBe('0 entries removed\n');
    const open = await sqliteRegistry(file);
    const [entry] = open.entries({ domain: 'HR' });
    open.put({ ...(entry as NewEntry), createdAt: Date.now() - 3 * 86_400_000 });
    open.close();
    const purged = await registry('purge', '--registry', file, '--older-than', '1d', '--json');
    expect(jsonLines(purged.stdout)).toEqual([{ removed: 1 }]);
    expect((await entryOf(file, 'FIN')).key).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('import and export', () => {
  const PATTERN = {
    id: 'abc',
    timestamp: '2025-03-01T12:00:00+00:00',
    domain: 'HR',
    english: 'Count the plants of the head office for last month',
    aacp_packet: 'CALC|HR|return:HR-Agent|p:2|aacp:1.0|res:plants',
    times_seen: 3,
  };

  test('an exported registry can be imported and serves its entries', async () => {
    const exported = scratch.write('exported.json', (await registry('export', '--registry', full)).stdout);
    const file = path.join(scratch.path, 'imported.db');
    const first = await registry('import', exported, '--registry', file);
    expect(first).toEqual({ code: 0, stdout: '2 imported, 0 merged, 0 rewritten, 0 skipped\n', stderr: '' });
    const second = await registry('import', exported, '--registry', file, '--json');
    expect(jsonLines(second.stdout)).toEqual([{ imported: 0, merged: 2, rewritten: 0, skipped: [] }]);
    const args = ['encode', 'aacp', '--english', CAKE, '--domain', 'HR', '--registry', file];
    expect(await cli(args)).toMatchObject({ code: 0, stdout: `${CAKE_PACKET}\n` });
  });

  test('imported entries serve equivalent instructions, too', async () => {
    const file = path.join(scratch.path, 'alike.db');
    const patterns = scratch.write('alike.json', JSON.stringify([{ ...PATTERN, english: 'Count all office plants' }]));
    await registry('import', patterns, '--registry', file);
    const english = 'Please count all office plants.';
    const { stdout, stderr } = await cli([
      'encode',
      'aacp',
      '--english',
      english,
      '--domain',
      'HR',
      '--registry',
      file,
    ]);
    expect(stdout).toBe('CALC|HR|return:HR-Agent|p:2|aacp:1.1|res:plants\n');
    expect(stderr).toMatch(/^pattern, free: /);
  });

  test('an instruction with a relative date is served only for the date that it meant', async () => {
    const file = path.join(scratch.path, 'relative.db');
    const patterns = scratch.write('relative.json', JSON.stringify([PATTERN]));
    await registry('import', patterns, '--registry', file);
    const at = (time: number): Promise<Ended> => {
      const args = [
        '--english',
        PATTERN.english,
        '--domain',
        'HR',
        '--registry',
        file,
        '--now',
        new Date(time).toISOString(),
      ];
      return cli(['encode', 'aacp', ...args]);
    };
    expect((await at(Date.UTC(2025, 2, 20))).stderr).toMatch(/^cache, free: /);
    expect((await at(Date.UTC(2025, 7, 20))).stderr).not.toMatch(/^cache/);
  });

  test('invalid entries are skipped and reported', async () => {
    const patterns = [PATTERN, { ...PATTERN, aacp_packet: 'rm -rf /' }, null];
    const file = scratch.write('bad.json', JSON.stringify(patterns));
    const into = path.join(scratch.path, 'some.db');
    const { code, stdout, stderr } = await registry('import', file, '--registry', into);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '1 imported, 0 merged, 1 rewritten, 2 skipped\n' });
    expect(stderr).toContain(`${file}: entry 2 (abc): Its packet is not valid`);
    expect(stderr).toContain(`${file}: entry 3: It is not an entry.`);
  });

  test('--json exports one line', async () => {
    const { stdout } = await registry('export', '--registry', full, '--json');
    expect(jsonLines(stdout)).toEqual([JSON.parse((await registry('export', '--registry', full)).stdout)]);
  });
});

describe('incorrect usage and invalid registries', () => {
  const foreign = scratch.write('text.db', 'this is a text and no database at all, however long it may become');

  test.each([
    [['shw'], 'Unknown action "shw"; did you mean "show"?'],
    [['show'], 'aacp registry show requires a KEY.'],
    [['import'], 'aacp registry import requires a FILE.'],
    [['list', 'HR'], 'aacp registry list takes no arguments; remove "HR".'],
    [['show', 'a', 'b'], 'aacp registry show takes one KEY; remove "b".'],
    [['stats', '--domain', 'HR'], '--domain applies only to list and pending.'],
    [['list', '--older-than', '3d'], '--older-than applies only to purge.'],
    [['purge', '--older-than', '-3'], '--older-than must be a duration such as 500ms, 30s, 2m, 1h or 7d; got "-3".'],
    [['list', '--registry', 'no-such-file.db'], 'Cannot read no-such-file.db: there is no such file.'],
    [['import', 'no-such-file.json'], 'Cannot read no-such-file.json: there is no such file.'],
    [['import', 'README.md'], 'The file is not a registry of the reference SDK: '],
    [['list', '--registry', foreign], foreign],
  ])('%j', async (args, expected) => {
    const { code, stdout, stderr } = await registry(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });

  test('a data folder that is not an absolute path', async () => {
    vi.stubEnv('PEGWIRE_DATA_DIR', 'relative/folder');
    const { code, stdout, stderr } = await registry();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('PEGWIRE_DATA_DIR');
  });

  test('a damaged registry is set aside and reported once', async () => {
    const folder = path.join(scratch.path, 'damaged');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'registry.db'), Buffer.alloc(8192, 0x55));
    vi.stubEnv('PEGWIRE_DATA_DIR', folder);
    const { code, stdout, stderr } = await registry('list');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.match(/^error\[store-corrupt\]: .*registry\.db\.corrupt-/gm)).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^registry\.db\.corrupt-/)]);
  });
});
