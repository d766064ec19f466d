/** The folders of files. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeFolderOf, userDataFile } from '../../src/storage/paths.js';
import { TSX } from '../accp/session/tsx.js';
import { freshFiles } from './folder.js';

const fresh = freshFiles();
const withModes = test.skipIf(process.platform === 'win32');
const modeOf = (folder: string): number => statSync(folder).mode & 0o777;

describe('the data folder', () => {
  const SET = ['PEGWIRE_DATA_DIR', 'XDG_DATA_HOME', 'HOME', 'USERPROFILE', 'LOCALAPPDATA'] as const;
  const { platform } = process;
  afterEach(() => {
    vi.unstubAllEnvs();
    Object.defineProperty(process, 'platform', { value: platform });
  });

  test.each([
    ['linux', { HOME: '/home/jo' }, '/home/jo/.local/share/pegwire/a.db'],
    ['linux', { HOME: '/home/jo', XDG_DATA_HOME: '/data' }, '/data/pegwire/a.db'],
    ['linux', { HOME: '/home/jo', XDG_DATA_HOME: 'data' }, '/home/jo/.local/share/pegwire/a.db'],
    ['linux', { XDG_DATA_HOME: '/data' }, '/data/pegwire/a.db'],
    ['linux', { HOME: '/home/jo', PEGWIRE_DATA_DIR: '/own' }, '/own/a.db'],
    ['darwin', { HOME: '/Users/jo' }, '/Users/jo/Library/Application Support/pegwire/a.db'],
    ['win32', { LOCALAPPDATA: '/local' }, '/local/pegwire/Data/a.db'],
    ['win32', { HOME: '/Users/jo' }, '/Users/jo/AppData/Local/pegwire/Data/a.db'],
  ] as const)('is the usual one on %s with %o', (system, variables, file) => {
    for (const name of SET) vi.stubEnv(name, (variables as Partial<Record<string, string>>)[name]);
    Object.defineProperty(process, 'platform', { value: system });
    expect(userDataFile('a.db')).toBe(file);
  });

  test.each([
    [{ PEGWIRE_DATA_DIR: 'own' }, 'misconfigured', 'PEGWIRE_DATA_DIR is not an absolute path: "own"'],
    [{ HOME: '' }, 'unavailable', 'has no default file: the user has no home folder; set PEGWIRE_DATA_DIR to a folder'],
  ] as const)('is an error with %o', (variables, reason, message) => {
    for (const name of SET) vi.stubEnv(name, (variables as Partial<Record<string, string>>)[name]);
    expect(() => userDataFile('a.db')).toThrow(expect.objectContaining({ name: 'StoreError', reason, message }));
  });
});

describe('the folder of a file', () => {
  withModes('is created with its missing parents, accessible to the owner only; existing ones do not change', () => {
    const top = fresh('top');
    mkdirSync(top);
    chmodSync(top, 0o755);
    const file = path.join(top, 'a', 'b', 'c', 'file.db');
    expect(makeFolderOf(file)).toBe(file);
    expect(makeFolderOf(file)).toBe(file);
    expect(['a', 'a/b', 'a/b/c'].map((name) => modeOf(path.join(top, name)))).toEqual([0o700, 0o700, 0o700]);
    expect(modeOf(top)).toBe(0o755);
    expect(existsSync(file)).toBe(false);
  });

  test('is not created below a file', () => {
    const file = fresh();
    writeFileSync(file, '');
    expect(() => makeFolderOf(path.join(file, 'deep', 'file.db'))).toThrow(
      expect.objectContaining({ name: 'StoreError', reason: 'unavailable' }),
    );
  });

  withModes('is not created below a broken link', () => {
    const link = fresh('link');
    symlinkSync(fresh('nowhere'), link);
    const file = path.join(link, 'deep', 'file.db');
    expect(() => makeFolderOf(file)).toThrow(
      expect.objectContaining({ reason: 'unavailable', message: `${file} cannot be opened: there is no such folder` }),
    );
  });

  test('is an error where the system does not allow one', ({ skip }) => {
    if (!existsSync('/proc/self')) skip('there is no /proc');
    // In a process of its own, which can be killed if it loops forever.
    const place = new URL('../../src/storage/paths.ts', import.meta.url).href;
    const code = `import { makeFolderOf, userDataFile } from '${place}';
      try { makeFolderOf('/proc/x/file.db'); } catch (error) { console.log(error.reason, error.message); }`;
    const { stdout, signal } = spawnSync(process.execPath, ['--import', TSX, '--input-type=module', '-e', code], {
      encoding: 'utf8',
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    expect(signal).toBeNull();
    expect(stdout).toBe('unavailable /proc/x/file.db cannot be opened: there is no such folder\n');
  }, 30_000);
});
