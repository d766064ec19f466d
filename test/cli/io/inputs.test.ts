import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

const GOOD = '@a>req:x{k:1}';
const LOOSE = '@a>req:x{k:01}';
const BAD = '@a>req:x{k:';

/** A temporary folder, which is the current folder during a test. */
let folder = '';
const home = process.cwd();

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pegwire-inputs-'));
  process.chdir(folder);
});

afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, ...content: string[]): void {
  mkdirSync(path.dirname(name), { recursive: true });
  writeFileSync(name, lines(...content));
}

const read = (name: string): string => readFileSync(name, 'utf8');

describe('the files of a command', () => {
  const filesOf = async (...args: string[]): Promise<unknown[]> => {
    const { stdout } = await cli(['parse', 'accp', '--json', ...args]);
    return jsonLines(stdout).map((record) => (record as { file?: string }).file);
  };

  beforeEach(() => {
    put('b.accp', GOOD);
    put('logs/a.accp', GOOD);
    put('logs/deep/c.accp', GOOD);
    put('logs/notes.txt', GOOD);
    put('node_modules/x/d.accp', GOOD);
    put('.git/e.accp', GOOD);
  });

  test('are those of a folder, in alphabetical order', async () => {
    expect(await filesOf('.')).toEqual(['b.accp', 'logs/a.accp', 'logs/deep/c.accp']);
    expect(await filesOf('logs')).toEqual(['logs/a.accp', 'logs/deep/c.accp']);
    put('.agents/hidden.accp', GOOD);
    expect(await filesOf('.')).toContain('.agents/hidden.accp');
  });

  test('are those that a pattern matches, whatever their ending', async () => {
    expect(await filesOf('logs/*')).toEqual(['logs/a.accp', 'logs/notes.txt']);
    expect(await filesOf('**/{a,c}.accp')).toEqual(['logs/a.accp', 'logs/deep/c.accp']);
  });

  test('are read once each, in the order of the arguments', async () => {
    expect(await filesOf('logs/a.accp', 'logs', 'b.accp', 'logs/**')).toEqual([
      'logs/a.accp',
      'logs/deep/c.accp',
      'b.accp',
      'logs/notes.txt',
    ]);
  });

  test('may be named like a pattern', async () => {
    put('[x].accp', GOOD);
    expect(await filesOf('[x].accp')).toEqual(['[x].accp']);
  });

  test('include stdin, whose records have no name', async () => {
    const { stdout } = await cli(['parse', 'accp', '--json', 'b.accp', '-'], { stdin: GOOD });
    expect(jsonLines(stdout)).toMatchObject([{ file: 'b.accp', line: 1 }, { line: 1 }]);
    expect(jsonLines(stdout)[1]).not.toHaveProperty('file');
  });

  test('leave out those that .pegwireignore lists', async () => {
    put('.pegwireignore', '# made by a program', 'deep/', '/b.accp');
    expect(await filesOf('.')).toEqual(['logs/a.accp']);
    expect(await filesOf('logs/**')).toEqual(['logs/a.accp', 'logs/notes.txt']);
    expect(await cli(['check', 'accp', 'b.accp', 'logs/a.accp'])).toEqual({
      code: 0,
      stdout: '',
      stderr: lines('note[ignored]: b.accp is in .pegwireignore.', '1 frame, 1 valid, 0 invalid, 0 errors, 0 warnings'),
    });
  });

  test('are read once, whatever their names', async () => {
    symlinkSync('../logs', 'logs/self');
    expect(await filesOf('logs', './logs/a.accp', 'logs/../logs/deep/c.accp')).toEqual([
      'logs/a.accp',
      'logs/deep/c.accp',
    ]);
  });

  test('are named in a note if all of a folder are ignored', async () => {
    put('.pegwireignore', 'logs/');
    expect(await cli(['fmt', 'accp', '--check', 'logs'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'note[ignored]: logs is in .pegwireignore.\n',
    });
  });

  test('end with the extension of the protocol in a folder', async () => {
    put('p.aacp', 'ACK|HR|return:x');
    const { stdout } = await cli(['parse', 'aacp', '--json', '.']);
    expect(jsonLines(stdout)).toMatchObject([{ file: 'p.aacp' }]);
  });

  test.each([
    [['nothing/*.accp'], 'Cannot read nothing/*.accp: no file matches.'],
    [['empty'], 'Cannot read empty: it has no file that ends in .accp.'],
  ])('must exist: %j', async (args, message) => {
    mkdirSync('empty');
    const { code, stdout, stderr } = await cli(['check', 'accp', ...args]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `error[unreadable]: ${message}\n` });
  });

  test('are read although another one cannot be', async () => {
    const { code, stdout, stderr } = await cli(['parse', 'accp', 'missing.accp', 'b.accp']);
    expect(code).toBe(2);
    expect(stdout).toContain('"operation":"x"');
    expect(stderr).toBe('error[unreadable]: Cannot read missing.accp: there is no such file.\n');
  });

  test('may be empty if there are several', async () => {
    put('empty.accp');
    expect((await cli(['check', 'accp', 'empty.accp'])).code).toBe(1);
    expect(await cli(['check', 'accp', 'empty.accp', 'b.accp'])).toMatchObject({
      code: 0,
      stderr: lines('2 files, 1 frame, 1 valid, 0 invalid, 0 errors, 0 warnings'),
    });
  });

  test('have their names in errors, and before the offsets of find', async () => {
    put('bad.accp', GOOD, BAD);
    const checked = await cli(['check', 'accp', 'bad.accp', 'b.accp']);
    expect(checked.code).toBe(1);
    expect(checked.stdout).toContain(' --> bad.accp:2:12\n');
    const found = await cli(['find', 'accp', 'logs']);
    // A folder stands for all texts in it.
    const names = ['logs/a.accp', 'logs/deep/c.accp', 'logs/notes.txt'];
    expect(found.stdout).toBe(lines(...names.map((name) => `${name}\t0-13\tok\t${GOOD}`)));
  });
});

test.each(['parse', 'check', 'explain'])('comments are no messages of %s', async (command) => {
  const stdin = lines('# a comment', '', ` \t#${BAD}`, GOOD);
  const { code, stdout, stderr } = await cli([command, 'accp', '--json'], { stdin });
  expect({ code, stderr, records: jsonLines(stdout).length }).toEqual({ code: 0, stderr: '', records: 1 });
  expect(jsonLines(stdout)).toMatchObject([{ line: 4 }]);
});

describe('fmt', () => {
  test('keeps comments, and blank lines between the first and the last message', async () => {
    const stdin = lines('', '# first', '', LOOSE, ' ', '', '  # last', '', '');
    const { code, stdout } = await cli(['fmt', 'accp'], { stdin });
    expect({ code, stdout }).toEqual({ code: 0, stdout: lines('# first', '', GOOD, '', '', '  # last') });
  });

  test('--write changes the files that are not canonical, and lists them', async () => {
    put('a.accp', '# a', '', LOOSE);
    put('b.accp', GOOD);
    const { mtimeMs } = statSync('b.accp');
    expect(await cli(['fmt', 'accp', '--write', '.'])).toEqual({ code: 0, stdout: 'a.accp\n', stderr: '' });
    expect([read('a.accp'), read('b.accp')]).toEqual([lines('# a', '', GOOD), lines(GOOD)]);
    expect(statSync('b.accp').mtimeMs).toBe(mtimeMs);
    const again = await cli(['fmt', 'accp', '--write', '--json', '.']);
    expect(jsonLines(again.stdout)).toEqual([
      { file: 'a.accp', changed: false },
      { file: 'b.accp', changed: false },
    ]);
  });

  test('--write leaves a file with an invalid message as it is, and continues', async () => {
    put('a.accp', LOOSE, BAD);
    put('b.accp', LOOSE);
    const { code, stdout, stderr } = await cli(['fmt', 'accp', '--write', 'a.accp', 'b.accp']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'b.accp\n' });
    expect(stderr).toContain(' --> a.accp:2:12\n');
    expect([read('a.accp'), read('b.accp')]).toEqual([lines(LOOSE, BAD), lines(GOOD)]);
  });

  test('--write keeps line ends, permissions and links', async () => {
    writeFileSync('a.accp', `${LOOSE}\r\n# b\r\n${LOOSE}`, { mode: 0o640 });
    symlinkSync('a.accp', 'link.accp');
    expect((await cli(['fmt', 'accp', '--write', 'link.accp'])).code).toBe(0);
    expect(read('a.accp')).toBe(`${GOOD}\r\n# b\r\n${GOOD}\r\n`);
    expect(statSync('a.accp').mode & 0o777).toBe(0o640);
    put('b.accp', LOOSE);
    chmodSync('b.accp', 0o666);
    linkSync('b.accp', 'c.accp');
    expect((await cli(['fmt', 'accp', '--write', 'b.accp'])).code).toBe(0);
    expect([read('b.accp'), read('c.accp'), statSync('b.accp').mode & 0o777]).toEqual([
      lines(GOOD),
      lines(GOOD),
      0o666,
    ]);
  });

  test('--check finds the same lines as --write changes', async () => {
    put('a.accp', '# a', LOOSE, GOOD);
    expect(await cli(['fmt', 'accp', '--check', '.'])).toMatchObject({
      code: 1,
      stdout: 'a.accp:2: not in canonical form\n',
    });
    await cli(['fmt', 'accp', '--write', '.']);
    expect(await cli(['fmt', 'accp', '--check', '.'])).toEqual({ code: 0, stdout: '', stderr: '' });
    for (const text of [GOOD, `${GOOD}\n\n`, `\n${GOOD}\n`, `${GOOD}\n${GOOD}\r\n`, `\ufeff${GOOD}\n`]) {
      writeFileSync('a.accp', text);
      const checked = await cli(['fmt', 'accp', '--check', '.']);
      const { stdout } = await cli(['fmt', 'accp', '--write', '.']);
      expect([text, checked.code === 1]).toEqual([text, stdout !== '']);
      if (checked.code === 1)
        expect(checked.stdout).toBe('a.accp: its blank lines or line ends are not in canonical form\n');
    }
  });

  test.each([
    [['--write'], '--write requires files'],
    [['--write', '--check', 'a.accp'], '--check and --write exclude each other'],
    [['--format', 'junit', 'a.accp'], '--format requires --check'],
  ])('%j is incorrect usage', async (args, message) => {
    const { code, stderr } = await cli(['fmt', 'accp', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(`error[usage]: ${message}.`);
  });
});
