import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { cli, jsonLines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();
const READERS = ['parse', 'fmt', 'check', 'explain', 'find'] as const;
const COMMANDS = [
  ...READERS,
  'encode',
  'decode',
  'render',
  'tokens',
  'aacp',
  'serve',
  'connect',
  'acp',
  'arcp',
  'fuzz',
  'conformance',
  'export',
  'prompt',
  'bench',
] as const;

/** Runs a command line that is wrong, and returns its error. */
async function wrong(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args, { stdin: '@a>req:x{}' });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const [first, ...rest] = stderr.split('\n');
  expect(rest).toEqual([expect.stringMatching(/^Run "pegwire( [a-z]+)* --help" for usage\.$/), '']);
  expect(first).toMatch(/^error\[[\w-]+\]: .*[^.?][.?]$/);
  return first!.replace(/^error\[[\w-]+\]: /, '');
}

describe('an unknown command', () => {
  test('is reported with the nearest name', async () => {
    expect(await wrong('chek', 'accp')).toBe('Unknown command "chek"; did you mean "check"?');
    expect(await wrong('PARSE', 'accp')).toBe('Unknown command "PARSE"; did you mean "parse"?');
    expect(await wrong('help', 'chek')).toBe('Unknown command "chek"; did you mean "check"?');
  });

  test('is reported without a suggestion if none is near', async () => {
    expect(await wrong('serve-everything')).toBe('Unknown command "serve-everything".');
    expect(await wrong('constructor')).toBe('Unknown command "constructor".');
    expect(await wrong('x'.repeat(100_000))).toContain('Unknown command "xxx');
  });

  test('is shown without control characters', async () => {
    expect(await wrong('\u001b[31mcheck\n')).toContain('"␛[31mcheck␊"');
  });

  test('may be an argument before the command', async () => {
    expect(await wrong('accp', 'fmt')).toBe('Unknown command "accp"; the command must come first: pegwire fmt accp.');
    expect(await wrong('accp')).toBe('Unknown command "accp"; the command must come first: pegwire parse accp.');
    expect(await wrong('aacp', 'parse')).toMatch(
      /^Unknown command "aacp parse"; the command must come first: pegwire parse aacp\.$/,
    );
    expect(await wrong('--dialect', 'lenient', 'parse', 'accp')).toBe(
      'Unknown command "lenient"; the command must come first: pegwire parse.',
    );
  });
});

describe.each(READERS)('%s', (command) => {
  test('requires a protocol', async () => {
    expect(await wrong(command)).toBe(`${command} requires a protocol: accp or aacp.`);
  });

  test.each(['acp', 'arcp', 'ACCP', 'json'])('names the accepted protocols for %s', async (name) => {
    expect(await wrong(command, name)).toMatch(new RegExp(`^${command} accepts accp or aacp; got "${name}"`));
  });

  test('suggests the nearest protocol', async () => {
    expect(await wrong(command, 'acpp')).toBe(`${command} accepts accp or aacp; got "acpp"; did you mean "accp"?`);
    expect(await wrong(command, 'aap')).toContain('did you mean "aacp"?');
  });

  test.each(['acp', 'arcp'])('explains that %s is another protocol', async (name) => {
    expect(await wrong(command, name)).toContain(`got "${name}"; ${name} is the `);
  });

  test('requires the protocol before the file', async () => {
    const file = scratch.write('message.txt', '@a>req:x{}');
    expect(await wrong(command, file, 'accp')).toBe(
      `The protocol must come before the file: pegwire ${command} <accp|aacp> ${file}.`,
    );
  });

  test('names the dialects of a protocol', async () => {
    expect(await wrong(command, 'accp', '--dialect', 'tolerant')).toMatch(
      /^--dialect must be strict or lenient; got "tolerant"/,
    );
    expect(await wrong(command, 'accp', '--dialect=lenent')).toContain('did you mean "lenient"?');
  });

  test('accepts its options in any position, and global options before the command', async () => {
    const orders = [
      ['--json', command, 'accp', '-', '--dialect', 'lenient'],
      [command, '--dialect=lenient', 'accp', '--json', '-'],
      [command, '--json', '--dialect', 'lenient', 'accp'],
    ];
    const runs = await Promise.all(orders.map((args) => cli(args, { stdin: '@a>req:x{who:@b}' })));
    expect(runs[0]!.code).toBe(0);
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
  });
});

describe('an option', () => {
  test('that is unknown is reported with the nearest name', async () => {
    expect(await wrong('parse', 'accp', '--dialct', 'lenient')).toBe(
      'Unknown option --dialct; did you mean "--dialect"?',
    );
    expect(await wrong('fmt', 'accp', '--sortparams')).toBe(
      'Unknown option --sortparams; did you mean "--sort-params"?',
    );
    expect(await wrong('--jsn')).toBe('Unknown option --jsn; did you mean "--json"?');
    expect(await wrong('parse', 'accp', '-x')).toBe('Unknown option -x.');
    expect(await wrong('parse', 'accp', '--__proto__')).toBe('Unknown option --__proto__.');
  });

  test('of another command is unknown', async () => {
    expect(await wrong('parse', 'accp', '--check')).toMatch(/^Unknown option --check/);
    expect(await wrong('fmt', 'accp', '--profile', 'draft')).toMatch(/^Unknown option --profile/);
  });

  test('of the other protocol is rejected', async () => {
    const profile = '--profile does not apply to accp; it is an option of pegwire check aacp.';
    expect(await wrong('check', 'accp', '--profile', 'draft')).toBe(profile);
    expect(await wrong('check', 'accp', '--profile', 'none')).toBe(profile);
    const dialect = '--dialect does not apply to aacp; it is an option of pegwire check accp.';
    expect(await wrong('check', 'aacp', '--dialect', 'strict')).toBe(dialect);
    expect(await wrong('check', 'aacp', '--dialect', 'lenient')).toBe(dialect);
    expect(await wrong('fmt', 'aacp', '--sort-params')).toMatch(/^--sort-params applies to accp/);
    expect(await wrong('parse', 'aacp', '--dialect', 'lenient')).toBe(
      '--dialect must be strict or tolerant; got "lenient".',
    );
  });

  test('that requires a value is rejected without one', async () => {
    const expected = 'Option --dialect requires a value.';
    expect(await wrong('parse', 'accp', '--dialect')).toBe(expected);
    expect(await wrong('parse', 'accp', '--dialect=')).toBe(expected);
    expect(await wrong('parse', 'accp', '--dialect', '')).toBe(expected);
    expect(await wrong('parse', 'accp', '--dialect', '--spans')).toBe(expected);
  });

  test('with an unknown value is rejected with the nearest one', async () => {
    expect(await wrong('check', 'aacp', '--profile', 'interopt')).toBe(
      '--profile must be draft or interop; got "interopt"; did you mean "interop"?',
    );
  });

  test('that is a flag does not take a value', async () => {
    expect(await wrong('parse', 'accp', '--spans=yes')).toBe('Option --spans does not take a value.');
    expect(await wrong('parse', 'accp', '--help=yes')).toBe('Option --help does not take a value.');
  });
});

test('serve takes no arguments', async () => {
  expect(await wrong('serve', 'accp')).toBe('serve takes only options; remove "accp".');
});

test('with --json, incorrect usage is one JSON document on stderr', async () => {
  for (const args of [
    ['chek', '--json'],
    ['--json', 'parse'],
    ['parse', 'accp', '--json', '--dialect'],
    ['parse', 'accp', '--dialect', '--json'],
  ]) {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(jsonLines(stderr)).toEqual([{ error: { code: 'usage', message: expect.any(String) } }]);
  }
});

describe('help', () => {
  test.each([['--help'], ['-h'], ['help'], ['--json', 'help'], ['help', 'help']])(
    'in general: %s %s',
    async (...args) => {
      const { code, stdout, stderr } = await cli(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${command} +\\S`, 'm'));
      for (const word of ['accp', 'aacp', '--json', '--color', '--no-color', '--help', '--version', '70']) {
        expect(stdout).toContain(word);
      }
    },
  );

  test.each(COMMANDS)('of %s is the same in all spellings', async (command) => {
    const { code, stdout, stderr } = await cli([command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^pegwire ${command}: `));
    expect(stdout).toContain(`Usage: pegwire ${command} `);
    expect(stdout).toContain('Exit codes:');
    for (const args of [
      ['help', command],
      [command, '-h'],
      ['--help', command],
      [command, 'accp', 'some', 'more', '--help'],
    ]) {
      expect((await cli(args)).stdout).toBe(stdout);
    }
  });

  test.each(COMMANDS)('of %s fits into 100 columns and lists each option once', async (command) => {
    const { stdout } = await cli([command, '--help']);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    const named = [...stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, name]) => name);
    expect(named).toEqual([...new Set(named)]);
    expect(named).toEqual(expect.arrayContaining(['json', 'color', 'no-color', 'help', 'version']));
  });

  test('every example on a help page runs', async () => {
    for (const command of READERS) {
      const { stdout } = await cli([command, '--help']);
      const example = /Examples?:\n {2}(.*)\n/.exec(stdout)![1]!;
      const piped = /^echo '(.*)' \| pegwire (.*)$/.exec(example);
      if (piped === null) expect(example).toMatch(/^pegwire find accp \S+$/);
      else expect((await cli(piped[2]!.split(' '), { stdin: piped[1]! })).code).toBe(command === 'check' ? 1 : 0);
    }
  });

  test('is not printed with an unknown option', async () => {
    expect(await wrong('parse', '--help', '--dialct')).toContain('--dialct');
  });
});

test('--version prints the version of the package and those of the protocols', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  for (const args of [['--version'], ['-V'], ['parse', '--version']]) {
    expect(await cli(args)).toEqual({
      code: 0,
      stdout: `pegwire ${version} (ACCP: draft-benzing-accp-00, AACP: draft-mackay-aacp-01)\n`,
      stderr: '',
    });
  }
});

test('without arguments, the help goes to stderr and the exit code is 2', async () => {
  const help = await cli(['--help']);
  for (const args of [[], ['-'], ['--no-color']]) {
    expect(await cli(args)).toEqual({ code: 2, stdout: '', stderr: help.stdout });
  }
});

describe('an internal error', () => {
  const failing = () =>
    new Readable({
      read() {
        this.destroy(new TypeError('unexpected'));
      },
    });

  test('has exit code 70 and asks for a report', async () => {
    const { code, stdout, stderr } = await cli(['parse', 'accp'], { stdin: failing() });
    expect({ code, stdout }).toEqual({ code: 70, stdout: '' });
    expect(stderr).toMatch(
      /^error\[defect\]: Internal error in pegwire; please report it:\nTypeError: unexpected\n {4}at /,
    );
  });

  test('with --json is one JSON document', async () => {
    const { code, stderr } = await cli(['parse', 'accp', '--json'], { stdin: failing() });
    expect(code).toBe(70);
    expect(jsonLines(stderr)).toEqual([{ error: { code: 'defect', message: expect.stringContaining('unexpected') } }]);
  });
});
