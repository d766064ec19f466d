/** Stores that cannot be written: reading commands open them, and encoding uses their entries. */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqliteRegistry } from '../../../src/aacp/fallback/index.js';
import { sample } from '../../aacp/registry/sample.js';
import { type Ended, ended, start } from '../../helpers/child.js';
import { cli, PROGRAM, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();
/** Root can write everywhere, unless it has dropped its capabilities. */
const POWERLESS = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--'] : [];
const run = (args: readonly string[]): Promise<Ended> =>
  ended(start([...POWERLESS, ...PROGRAM, ...args], { stdin: '' }));

const registry = path.join(scratch.path, 'registry.db');
const log = path.join(scratch.path, 'log.db');

async function invoke(db: string): Promise<void> {
  const socket = path.join(scratch.path, 's');
  const serving = start([...PROGRAM, 'arcp', 'serve', '--socket', socket, '--db', db]);
  const over = ended(serving);
  await new Promise((resolve) => serving.stdout.once('data', resolve));
  try {
    expect((await cli(['arcp', 'invoke', `unix:${socket}`, 'count', '{"to":3,"ms":1}'])).stdout).toBe(
      '{"counted":3}\n',
    );
  } finally {
    serving.kill('SIGTERM');
    await over;
  }
}

const folders: string[] = [];

/** Copies a file, and makes it, or only its folder, read-only. */
function readOnly(file: string, mode = 0o444): string {
  const folder = path.join(scratch.path, `read-only-${folders.length}`);
  mkdirSync(folder);
  folders.push(folder);
  const copy = path.join(folder, path.basename(file));
  copyFileSync(file, copy);
  chmodSync(copy, mode);
  chmodSync(folder, 0o555);
  return copy;
}

beforeAll(async () => {
  const opened = await sqliteRegistry(registry);
  opened.putAll([sample(1), sample(2), sample(3)]);
  opened.close();
  await invoke(log);
});
afterAll(() => {
  for (const folder of folders) chmodSync(folder, 0o755);
});

describe.skipIf(process.platform === 'win32').each([
  ['a file and its folder', 0o444],
  ['the folder of a file', 0o644],
])('%s that cannot be written', (_, mode) => {
  test.each([
    ...['stats', 'list', 'pending', 'export'].map((word) => ['aacp', 'registry', word, '--registry', registry]),
    ['aacp', 'registry', 'show', sample(2).key, '--registry', registry],
    ['arcp', 'tail', log, '--json'],
    ['arcp', 'graph', log],
    ['arcp', 'replay', log, '--speed', '0'],
    ['arcp', 'validate', log],
  ])('is read by %s %s %s', async (...args: string[]) => {
    const shown = await cli(args);
    expect(shown.code).toBe(0);
    const [file] = args.filter((one) => one === registry || one === log);
    const copy = readOnly(file!, mode);
    const before = readFileSync(copy);
    const { code, stdout, stderr } = await run(args.map((one) => (one === file ? copy : one)));
    expect({ code, stdout: stdout.replaceAll(copy, file!), stderr }).toEqual(shown);
    expect(readdirSync(path.dirname(copy))).toEqual([path.basename(copy)]);
    expect(readFileSync(copy).equals(before)).toBe(true);
  });

  test.each([
    ['remove', sample(2).key],
    ['purge', '--older-than', '1d'],
  ])('is rejected by aacp registry %s', async (...args) => {
    const copy = readOnly(registry, mode);
    const { code, stdout, stderr } = await run(['aacp', 'registry', ...args, '--registry', copy]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error\[store-unavailable\]: [^\n]*\.\n$/);
  });

  test('is read by encode aacp, with one warning', async () => {
    const copy = readOnly(registry, mode);
    const child = start(
      [
        ...POWERLESS,
        ...PROGRAM,
        'encode',
        'aacp',
        '--english',
        '--domain',
        'HR',
        '--registry',
        copy,
        '--no-bundled-rules',
      ],
      { stdin: `${sample(1).instruction}\n${sample(3).instruction}\n` },
    );
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${sample(1).packet}\n${sample(3).packet}\n` });
    expect(stderr.match(/warning\[/g)).toHaveLength(1);
    expect(stderr).toMatch(
      /^warning\[registry-in-memory\]: [^\n]* Its entries are used\. New entries are kept for this run only/m,
    );
  });
});

test.skipIf(process.platform === 'win32')('a log that another user continues to write is followed', async () => {
  const copy = readOnly(log);
  const following = start([...POWERLESS, ...PROGRAM, 'arcp', 'tail', copy, '--follow', '--json']);
  const over = ended(following);
  let output = '';
  following.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const completed = async (times: number): Promise<void> => {
    while ((output.match(/"job\.completed"/g)?.length ?? 0) < times)
      await Promise.race([
        new Promise((resolve) => following.stdout.once('data', resolve)),
        over.then(({ stderr }) => {
          throw new Error(stderr);
        }),
      ]);
  };
  await completed(1);
  // From here on, the other user can write it.
  const folder = path.dirname(copy);
  chmodSync(folder, 0o755);
  chmodSync(copy, 0o644);
  await invoke(copy);
  chmodSync(copy, 0o444);
  chmodSync(folder, 0o555);
  await completed(2);
  following.kill('SIGINT');
  expect((await over).code).toBe(0);
});
