/** Files and folders that cannot be used: every argument and option reports the path and the reason in the same form. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { cli, jsonLines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();
const within = (...names: string[]): string => path.join(scratch.path, ...names);
const plain = scratch.write('plain', '');
const folder = within('folder');
mkdirSync(folder);
const log = scratch.write('log.jsonl', '');
/** A message of a client. */
const messages = scratch.write('messages.jsonl', readFileSync('test/examples/customer-support-refund.jsonl', 'utf8'));
const SERVE_QUIC = ['arcp', 'serve', '--quic', '0'];
const PROGRAM = ['--', process.execPath, '-e', ''];
const FRAME = '@a>req:find{q:cats}[mid:m1,seq:1]\n';
const LONG = 'x'.repeat(300);

const [MISSING, IN_FILE, IN_NOTHING, DIRECTORY, TOO_LONG, PLAIN] = [
  within('missing'),
  path.join(plain, 'inner'),
  within('nothing', 'inner'),
  folder,
  within(LONG),
  plain,
] as const;

/** Reasons why a place cannot be used. */
const FAULTS = {
  /** A file that is read. */
  read: [
    [DIRECTORY, 'it is a folder'],
    [MISSING, 'there is no such file'],
    [IN_FILE, 'part of the path is not a folder'],
    [TOO_LONG, 'the name is too long'],
  ],
  /** A file or folder that is read. */
  input: [
    [MISSING, 'there is no such file'],
    [IN_FILE, 'part of the path is not a folder'],
    [DIRECTORY, 'it has no file that ends in .accp'],
    [TOO_LONG, 'the name is too long'],
  ],
  /** A file that is written. */
  write: [
    [IN_NOTHING, 'there is no such folder'],
    [IN_FILE, 'part of the path is not a folder'],
    [DIRECTORY, 'it is a folder'],
    [TOO_LONG, 'the name is too long'],
  ],
  /** A folder for files, or a database, whose parent folders are created. */
  folder: [
    [PLAIN, 'it is not a folder'],
    [IN_FILE, 'part of the path is not a folder'],
    [TOO_LONG, 'the name is too long'],
  ],
  database: [
    [IN_FILE, 'part of the path is not a folder'],
    [DIRECTORY, 'it is a folder'],
    [TOO_LONG, 'the name is too long'],
  ],
  socket: [
    [IN_NOTHING, 'there is no such folder'],
    [IN_FILE, 'part of the path is not a folder'],
    [DIRECTORY, 'the address is already in use'],
    [TOO_LONG, 'the path of a socket has at most'],
  ],
} as const;

/** The command, its option or argument, its kind, and the command line. */
type Row = readonly [command: string, option: string, kind: keyof typeof FAULTS, args: (place: string) => string[]];

const ROWS: readonly Row[] = [
  ...['parse', 'fmt', 'check', 'explain', 'find'].map(
    (command): Row => [command, 'file', 'input', (place) => [command, 'accp', place]],
  ),
  ...['encode', 'decode'].map((command): Row => [command, 'file', 'read', (place) => [command, 'accp', place]]),
  ['tokens', 'file', 'read', (place) => ['tokens', place]],
  ['render', 'file', 'read', (place) => ['render', '-', place]],
  ['encode', 'file', 'read', (place) => ['encode', 'aacp', '--domain', 'HR', '--registry', 'memory', place]],
  ['connect', 'file', 'read', (place) => ['connect', 'http://127.0.0.1:1', place]],
  ['decode', '--session', 'database', (place) => ['decode', 'accp', '--session', place]],
  ['decode', '--replies', 'write', (place) => ['decode', 'accp', '--replies', place]],
  ['encode', '--session', 'database', (place) => ['encode', 'accp', '--session', place]],
  ['encode', '--registry', 'database', (place) => ['aacp', 'registry', 'import', log, '--registry', place]],
  ['encode', '--rules', 'read', (place) => ['encode', 'aacp', '--english', 'x', '--domain', 'HR', '--rules', place]],
  ['export', 'file', 'read', (place) => ['export', `${place}.peggy`, '--to', 'abnf']],
  ['export', '--output', 'write', (place) => ['export', 'aacp', '--to', 'abnf', '--output', place]],
  ['fuzz', 'file', 'read', (place) => ['fuzz', `${place}.peggy`]],
  ['fuzz', '--corpus', 'read', (place) => ['fuzz', 'aacp', '--corpus', place]],
  ['fuzz', '--coverage', 'read', (place) => ['fuzz', 'aacp', '--coverage', place]],
  ['fuzz', '--html', 'write', (place) => ['fuzz', 'aacp', '--count', '1', '--html', place]],
  ['fuzz', '--output', 'folder', (place) => ['fuzz', 'aacp', '--target', 'exit 1', '--output', place]],
  ['bench', '--output', 'folder', (place) => ['bench', 'aacp', '--duration', '50ms', '--output', place]],
  ['bench', '--corpus', 'read', (place) => ['bench', '--corpus', place]],
  ['registry learn', 'file', 'read', (place) => ['registry', 'learn', place]],
  ['registry learn', '--out', 'write', (place) => ['registry', 'learn', messages, '--out', place]],
  ['registry learn', '--types', 'write', (place) => ['registry', 'learn', messages, '--types', place]],
  ['acp run', '--log', 'write', (place) => ['acp', 'run', '--log', place, ...PROGRAM]],
  ['aacp audit', 'file', 'read', (place) => ['aacp', 'audit', 'verify', place]],
  ['aacp rules', 'file', 'read', (place) => ['aacp', 'rules', 'check', place]],
  ['aacp rules', '--rules', 'read', (place) => ['aacp', 'rules', 'find', 'x', '--rules', place]],
  ['aacp registry', 'file', 'read', (place) => ['aacp', 'registry', 'import', place, '--registry', within('r.db')]],
  ['aacp registry', '--registry', 'database', (place) => ['aacp', 'registry', 'import', log, '--registry', place]],
  ['arcp graph', 'file', 'read', (place) => ['arcp', 'graph', place]],
  ['arcp validate', 'file', 'read', (place) => ['arcp', 'validate', place]],
  ['arcp replay', 'file', 'read', (place) => ['arcp', 'replay', place]],
  ['arcp tail', 'file', 'read', (place) => ['arcp', 'tail', place]],
  ['arcp status', '--db', 'read', (place) => ['arcp', 'status', '--db', place]],
  ['arcp invoke', '--log', 'write', (place) => ['arcp', 'invoke', '--log', place, 'x', ...PROGRAM]],
  ['arcp serve', '--db', 'database', (place) => ['arcp', 'serve', '--ws', '0', '--db', place]],
  ['arcp serve', '--module', 'read', (place) => ['arcp', 'serve', '--ws', '0', '--module', place]],
  ...['--tls-key', '--tls-cert'].flatMap((option): Row[] => {
    const files = (place: string): string[] => [
      option,
      place,
      option === '--tls-key' ? '--tls-cert' : '--tls-key',
      log,
    ];
    return [
      ['arcp serve', option, 'read', (place) => [...SERVE_QUIC, ...files(place)]],
      ['acp run', option, 'read', (place) => ['acp', 'run', '--listen', '0', ...files(place), ...PROGRAM]],
    ];
  }),
  ...['invoke', 'tail', 'replay', 'conformance'].map(
    (command): Row => [
      `arcp ${command}`,
      '--ca',
      'read',
      (place) => [
        'arcp',
        command,
        ...(command === 'replay' ? [messages] : []),
        'quic://localhost:1',
        'x',
        '--ca',
        place,
      ],
    ],
  ),
  ['inspect', 'file', 'read', (place) => ['inspect', place, '--port', '0']],
  ['inspect', '--ca', 'read', (place) => ['inspect', 'quic://localhost:1', '--ca', place, '--port', '0']],
  ['arcp serve', '--socket', 'socket', (place) => ['arcp', 'serve', '--socket', place]],
];

const cases = ROWS.flatMap(([command, option, kind, args]) =>
  // Names of grammars end in `.peggy`, which no folder here does.
  FAULTS[kind]
    .filter(([place]) => !(args('').includes('.peggy') && place === DIRECTORY))
    .map(([place, reason]) => [command, option, reason, place, args(place)] as const),
);

describe('a place that cannot be used', () => {
  test.each(cases)('%s %s: %s', async (_, option, reason, place, args) => {
    const { code, stdout, stderr } = await cli(args, { stdin: FRAME });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    // One sentence with the path once.
    expect(stderr).toMatch(/^error\[[\w-]+\]: [^\n]+\.\n$/);
    expect(stderr).toContain(`: ${reason}`);
    const shown = place.slice(0, 99);
    expect(stderr.split(shown).length - 1).toBe(1);
    // No wording of Node.
    expect(stderr.replaceAll(place, '')).not.toMatch(/\bE[A-Z]{3,}\b|no such file or directory|illegal|imported from/);
    if (option.startsWith('--')) return;
    const json = await cli([...args, '--json'], { stdin: FRAME });
    expect(jsonLines(json.stderr)).toMatchObject([{ error: { code: 'unreadable' } }]);
  });

  test('is tested for every argument and option that names a file or a folder', async () => {
    const named: string[] = [];
    for (const command of await commands()) {
      const { stdout } = await cli([...command.split(' '), '--help']);
      if (/^Usage: .*\[file\|-\]|^Usage: .*FILE/m.test(stdout)) named.push(`${command} file`);
      // The path of `serve` is part of a URL.
      for (const [, option] of stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+) \[?(?:FILE|DIR|PATH)\b/gm))
        if (command !== 'serve') named.push(`${command} ${option}`);
    }
    expect(named.length).toBeGreaterThan(25);
    const looked = new Set(ROWS.map(([command, option]) => `${command} ${option}`));
    expect(named.filter((one) => !looked.has(one))).toEqual([]);
  });
});

/** All commands and subcommands, from the help pages. */
async function commands(above = ''): Promise<string[]> {
  const { stdout } = await cli([...above.split(' ').filter((word) => word !== ''), '--help']);
  const section = /^Commands:\n((?: {2}\S.*\n)+)/m.exec(stdout)?.[1] ?? '';
  const names = [...section.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => `${above} ${name}`.trim());
  const below = await Promise.all(names.map(commands));
  return [...names, ...below.flat()];
}

describe('a file that is not UTF-8', () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
  test.each([
    [
      'a registry',
      (file: string) => ['aacp', 'registry', 'import', file, '--registry', within('utf.db')],
      '[\n "\xe9t\xe9"]',
    ],
    ['a grammar', (file: string) => ['export', file, '--to', 'abnf'], 'start =\n  "\xe9"\n'],
    ['a grammar', (file: string) => ['fuzz', file], 'start =\n  "\xe9"\n'],
    ['a corpus', (file: string) => ['fuzz', 'aacp', '--corpus', file], 'A|B\n\xff\n'],
  ] as const)('is rejected with its line, and not decoded with replacements: %s', async (_, args, text) => {
    const file = scratch.write('latin1.peggy', bytes(text));
    const { code, stdout, stderr } = await cli(args(file));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error[unreadable]: ${file}:2: The line is not UTF-8: byte `);
  });

  test('may start with a byte order mark', async () => {
    const file = scratch.write('marked.json', '\ufeff[]');
    const { code } = await cli(['aacp', 'registry', 'import', file, '--registry', within('marked.db')]);
    expect(code).toBe(0);
  });
});

describe('targets that cannot be reached or started', () => {
  const unix = (name: string): string => `unix:${name}`;
  test.each([
    ['arcp invoke', unix(MISSING), 'there is no such socket'],
    ['arcp invoke', unix(PLAIN), 'the connection was refused'],
    ['arcp invoke', unix(IN_FILE), 'part of the path is not a folder'],
    ['arcp invoke', unix(TOO_LONG), 'the path of a socket has at most'],
    ['arcp invoke', `pipe:${MISSING}`, 'there is no such named pipe'],
    ['arcp tail', unix(MISSING), 'there is no such socket'],
    ['arcp tail', 'ws://127.0.0.1:1', 'the connection was refused'],
    ['arcp conformance', unix(MISSING), 'there is no such socket'],
  ])('%s %s is reported at once', async (command, target, reason) => {
    const more = command === 'arcp conformance' ? [] : ['x'];
    const { code, stdout, stderr } = await cli([...command.split(' '), target, ...more]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr).not.toMatch(/\bE[A-Z]{3,}\b/);
  });

  test.each([
    ['acp run', MISSING, 'there is no such program'],
    ['acp run', DIRECTORY, 'permission is denied'],
    ['arcp conformance', MISSING, 'there is no such program'],
    ['arcp invoke x', PLAIN, 'permission is denied'],
  ])('%s -- %s is reported in words', async (command, program, reason) => {
    const { code, stderr } = await cli([...command.split(' '), '--', program]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${program} could not be started: ${reason}.`);
  });

  test.skipIf(process.platform === 'win32')('half a pair of named pipes is removed', async () => {
    scratch.write('pair.out', '');
    const { code, stderr } = await cli(['arcp', 'serve', '--pipe', within('pair')]);
    expect(code).toBe(2);
    expect(stderr).toBe(`error[address]: The named pipe ${within('pair.out')} cannot be created: File exists.\n`);
    expect(existsSync(within('pair.in'))).toBe(false);
  });
});
