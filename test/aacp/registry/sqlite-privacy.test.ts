/** Files of registries that others may read, and names that are not file names. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type RegistryNotice, sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { StoreError } from '../../../src/text/store-error.js';
import { freshFiles } from '../../storage/folder.js';
import { sample } from './sample.js';

const fresh = freshFiles();
const fault = vi.hoisted(() => ({ message: null as string | null }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    chmodSync: (path: string, mode: number) => {
      if (fault.message !== null) throw new Error(fault.message);
      fs.chmodSync(path, mode);
    },
  };
});

afterEach(() => {
  fault.message = null;
});

const modeOf = (file: string): number => statSync(file).mode & 0o777;

/** A registry with one entry, closed, with a file mode. */
async function closedWith(mode: number): Promise<string> {
  const file = fresh();
  const registry = await sqliteRegistry(file);
  registry.put(sample(1));
  registry.close();
  chmodSync(file, mode);
  return file;
}

describe.skipIf(process.platform === 'win32')('a file that others may read', () => {
  test.each([
    [0o644, 0o600],
    [0o666, 0o600],
    [0o755, 0o600],
    [0o660, 0o600],
    [0o600, 0o600],
  ])('of mode %o is of mode %o once it is open, as is its log', async (mode, expected) => {
    const file = await closedWith(mode);
    const notices: RegistryNotice[] = [];
    const registry = await sqliteRegistry(file, { onNotice: (notice) => notices.push(notice) });
    registry.put(sample(2));
    for (const suffix of ['', '-wal', '-shm']) expect(modeOf(`${file}${suffix}`)).toBe(expected);
    expect(registry.get(sample(1).key)).toBeDefined();
    expect(notices).toEqual([]);
    registry.close();
    expect(modeOf(file)).toBe(expected);
  });

  test('through a link, too: its log is beside the target of the link', async () => {
    const file = await closedWith(0o644);
    const link = fresh('link');
    symlinkSync(file, link);
    const registry = await sqliteRegistry(link);
    registry.put(sample(2));
    for (const suffix of ['', '-wal', '-shm']) expect(modeOf(`${file}${suffix}`)).toBe(0o600);
    registry.close();
  });

  test('and that belongs to another program is left unchanged', async () => {
    const file = fresh();
    const other = new DatabaseSync(file);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    chmodSync(file, 0o644);
    await expect(sqliteRegistry(file)).rejects.toMatchObject({ code: 'store-foreign' });
    const text = fresh();
    writeFileSync(text, 'x'.repeat(200), { mode: 0o644 });
    await expect(sqliteRegistry(text)).rejects.toMatchObject({ code: 'store-foreign' });
    expect([modeOf(file), modeOf(text)]).toEqual([0o644, 0o644]);
  });

  test('and whose mode cannot be changed is reported, and used', async () => {
    const file = await closedWith(0o644);
    fault.message = 'EPERM: operation not permitted';
    const notices: RegistryNotice[] = [];
    const registry = await sqliteRegistry(file, { onNotice: (notice) => notices.push(notice) });
    expect(notices[0]).toEqual({
      kind: 'not-private',
      file,
      message:
        `Other users can read the registry ${file}, and their permissions could not be removed: ` +
        'EPERM: operation not permitted.',
    });
    expect(new Set(notices.map(({ kind }) => kind))).toEqual(new Set(['not-private']));
    expect(registry.get(sample(1).key)).toBeDefined();
    registry.close();
    (await sqliteRegistry(file)).close();
  });
});

test.each([
  ':memory:',
  ' :memory:',
  ':memory:\n',
  'file::memory:',
  'file:registry.db?mode=memory',
  'file:///tmp/registry.db',
])('%j is not a file name: the error names the in-memory registry, in code and at the command line', async (name) => {
  // In a temporary folder, in case the name is used as a file name.
  const folder = fresh('folder');
  mkdirSync(folder);
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  try {
    const thrown: unknown = await sqliteRegistry(name).then(
      (registry) => registry.close(),
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(StoreError);
    expect(thrown).toMatchObject({
      code: 'store-misconfigured',
      message: `${JSON.stringify(name)} is not the name of a file. For a registry in memory, use memoryRegistry() or --registry memory.`,
      help: expect.stringContaining(JSON.stringify(`./${name}`)),
    });
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    cwd.mockRestore();
  }
});

test.skipIf(process.platform === 'win32')('a file that really has this name is opened by its path', async () => {
  const folder = fresh('folder');
  mkdirSync(folder);
  for (const name of [':memory:', 'file:x']) {
    const registry = await sqliteRegistry(path.join(folder, name));
    expect(registry.file).toBe(path.join(folder, name));
    registry.close();
    expect(existsSync(path.join(folder, name))).toBe(true);
  }
});
