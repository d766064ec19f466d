import { chmodSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { cli, inPieces, jsonLines, lines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();

/** A message of each protocol that is its own canonical text. */
const MESSAGES = { accp: '@a>req:x{k:1}', aacp: 'ACK|HR|return:été' } as const;
const PROTOCOLS = ['accp', 'aacp'] as const;
const LINE_COMMANDS = ['parse', 'fmt', 'check', 'explain'] as const;

describe.each(PROTOCOLS)('lines of %s', (protocol) => {
  const message = MESSAGES[protocol];
  const two = `${message}\n${message}\n`;

  test.each([
    ['LF', two],
    ['CRLF', `${message}\r\n${message}\r\n`],
    ['no line end at the end', `${message}\n${message}`],
    ['CRLF, and none at the end', `${message}\r\n${message}`],
    ['a byte order mark', `\ufeff${two}`],
  ])('may have %s', async (_, stdin) => {
    expect(await cli(['fmt', protocol], { stdin })).toEqual({ code: 0, stdout: two, stderr: '' });
  });

  test.each(['\u00a0', '\u2028', '\u3000', '\ufeff', '\v'])('are not blank with only %j', async (other) => {
    const { code, stdout } = await cli(['check', protocol], { stdin: `${message}\n${other}\n` });
    expect({ code, names: stdout.includes(':2:') }).toEqual({ code: 1, names: true });
  });

  test('do not depend on the chunks of the input', async () => {
    const bytes = Buffer.from(`\ufeff${message}\r\n${message}`);
    for (const size of [1, 2, 3, 7]) {
      expect(await cli(['fmt', protocol], { stdin: inPieces(bytes, size) })).toEqual({
        code: 0,
        stdout: two,
        stderr: '',
      });
    }
  });

  test('are counted from 1, including blank ones', async () => {
    const { stdout } = await cli(['parse', protocol, '--json'], { stdin: `\r\n${message}\n\n\n${message}` });
    expect(jsonLines(stdout)).toMatchObject([{ line: 2 }, { line: 5 }]);
  });

  test('do not end at a lone CR, which stays in the message and is rejected', async () => {
    const { code, stdout, stderr } = await cli(['fmt', protocol], { stdin: `${message}\r${message}\n${message}\n` });
    expect({ code, stdout }).toEqual({ code: 1, stdout: `${message}\n` });
    expect(stderr).toContain(` --> stdin:1:${message.length + 1}\n`);
    expect(stderr).not.toContain('\r');
  });

  test('have a byte order mark removed only at the start of the input', async () => {
    const { code, stdout } = await cli(['fmt', protocol], { stdin: `${message}\n\ufeff${message}\n` });
    expect({ code, stdout }).toEqual({ code: 1, stdout: `${message}\n` });
  });

  test('with a NUL are invalid messages, but text that can be searched', async () => {
    const { code, stdout, stderr } = await cli(['fmt', protocol], { stdin: `${message}\n${message}\0\n${message}` });
    expect({ code, stdout }).toEqual({ code: 1, stdout: two });
    expect(stderr).toContain(` --> stdin:2:${message.length + 1}\n`);
    expect(stderr).not.toContain('\0');
  });

  test('of 10 MB exceed the limit, and the next lines are read', async () => {
    const long = message.slice(0, -1) + 'x'.repeat(10 * 1024 * 1024) + message.slice(-1);
    const { code, stdout, stderr } = await cli(['fmt', protocol], { stdin: lines(message, long, message) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: two });
    expect(stderr).toContain('--> stdin:2:');
    expect(stderr.length).toBeLessThan(1000);

    const json = await cli(['check', protocol, '--json'], { stdin: lines(message, long) });
    expect(json.code).toBe(1);
    expect(jsonLines(json.stdout)).toMatchObject([{ valid: protocol === 'accp' }, { line: 2, valid: false }]);
  });
});

test.each(PROTOCOLS)('a line over a limit of %s is rejected for that reason', async (protocol) => {
  const message = MESSAGES[protocol];
  const long = message.slice(0, -1) + 'x'.repeat(2 ** 20) + message.slice(-1);
  const { stdout } = await cli(['parse', protocol, '--json'], { stdin: long });
  expect(jsonLines(stdout)).toMatchObject([{ line: 1, ok: false, error: { reason: 'limit' } }]);
});

describe('an input without messages', () => {
  const EMPTY = { nothing: '', 'blank lines': '\n \r\n\t\n', 'a byte order mark': '\ufeff' };
  const cases = LINE_COMMANDS.flatMap((command) => Object.keys(EMPTY).map((what) => [command, what] as const));

  test.each(cases)('is an error of %s, with exit code 1: %s', async (command, what) => {
    const stdin = EMPTY[what as keyof typeof EMPTY];
    expect(await cli([command, 'accp'], { stdin })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error[empty]: The input is empty; expected at least one frame.\n',
    });
    const json = await cli([command, 'aacp', '--json'], { stdin });
    expect({ code: json.code, stdout: json.stdout }).toEqual({ code: 1, stdout: '' });
    expect(jsonLines(json.stderr)).toEqual([
      { error: { code: 'empty', message: 'The input is empty; expected at least one packet' } },
    ]);
  });
});

describe('a file', () => {
  test.each(LINE_COMMANDS)('is read by %s in the same way as stdin', async (command) => {
    const content = lines('@a>req:x{k:1}', '@a>req:x{k:01}');
    const file = scratch.write('frames.accp', content);
    const fromStdin = await cli([command, 'accp'], { stdin: content });
    expect(await cli([command, 'accp', file], { stdin: 'not read' })).toEqual(fromStdin);
  });

  test('is named in reports, with the line', async () => {
    const file = scratch.write('broken.accp', '@a>req:x{}\n@a>req:x{k:[1}\n');
    for (const command of ['parse', 'fmt', 'explain'] as const) {
      expect((await cli([command, 'accp', file])).stderr).toContain(` --> ${file}:2:14\n`);
    }
    expect((await cli(['check', 'accp', file])).stdout).toContain(` --> ${file}:2:14\n`);
    expect((await cli(['find', 'accp', file])).stderr).toContain(` --> ${file}:2:14\n`);
    const packet = scratch.write('packets.aacp', 'ACK|HR\n\nACK|HR||p:1\n');
    expect((await cli(['fmt', 'aacp', packet, '--check'])).stderr).toContain(` --> ${packet}:3:8\n`);
    expect((await cli(['fmt', 'accp', scratch.write('x.accp', '@a>req:x{k:01}'), '--check'])).stdout).toMatch(
      /x\.accp:1: not in canonical form\n$/,
    );
  });

  test('named - is stdin', async () => {
    const stdin = '@a>req:x{k:01}';
    for (const command of [...LINE_COMMANDS, 'find'] as const) {
      expect(await cli([command, 'accp', '-'], { stdin })).toEqual(await cli([command, 'accp'], { stdin }));
    }
  });

  test('whose name starts with a dash follows --', async () => {
    const { code, stderr } = await cli(['fmt', 'accp', '--', '-no-such-file']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'error[unreadable]: Cannot read -no-such-file: there is no such file.\n',
    });
  });
});

describe('unreadable input is reported, with exit code 2 and no output', () => {
  const unreadable: readonly (readonly [what: string, name: string, reason: RegExp])[] = [
    ['a missing file', path.join(scratch.path, 'missing.accp'), /missing\.accp: there is no such file\.\n$/],
    [
      'a path through a file',
      path.join(scratch.write('plain', 'x'), 'inner'),
      /inner: part of the path is not a folder\.\n$/,
    ],
    [
      'a name of 5,000 characters',
      'a'.repeat(5000),
      /^error\[unreadable\]: Cannot read a{100}\.\.\.: the name is too long\.\n$/,
    ],
  ];
  const cases = unreadable.flatMap((one) =>
    [...LINE_COMMANDS, 'find'].map((command) => [one[0], command, one] as const),
  );

  test.each(cases)('%s: %s', async (_, command, [, name, reason]) => {
    const { code, stdout, stderr } = await cli([command, 'accp', name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/^error\[unreadable\]: Cannot read [^\n]+\n$/);
  });

  test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')('a file without permission', async () => {
    const file = scratch.write('secret.accp', '@a>req:x{}');
    chmodSync(file, 0o000);
    const { code, stderr } = await cli(['parse', 'accp', file]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error[unreadable]: Cannot read ${file}: permission denied.\n`,
    });
  });

  test('with --json as one JSON document', async () => {
    const missing = path.join(scratch.path, 'missing.accp');
    const { code, stdout, stderr } = await cli(['parse', 'accp', missing, '--json']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(jsonLines(stderr)).toEqual([
      { error: { code: 'unreadable', message: `Cannot read ${missing}: there is no such file` } },
    ]);
  });

  test('a message in place of a file, with a hint', async () => {
    for (const [protocol, message] of Object.entries(MESSAGES)) {
      const { code, stderr } = await cli(['parse', protocol, message]);
      expect(code).toBe(2);
      expect(stderr).toContain('pass messages in a file or on stdin, not as arguments');
    }
  });

  test('a stream that fails', async () => {
    const stdin = new Readable({
      read() {
        this.destroy(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' }));
      },
    });
    const { code, stderr } = await cli(['parse', 'accp'], { stdin });
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'error[unreadable]: Cannot read stdin: i/o error.\n' });
  });

  const ENCODED: readonly (readonly [what: string, bytes: Uint8Array, error: RegExp])[] = [
    ['binary data', Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0x02, 0xff, 0xfe]), /:1: .* not UTF-8: byte 6 is 0xFF;/],
    ['Latin-1', Buffer.from('ACK|HR|return:\u00e9t\u00e9\n', 'latin1'), /:1: .* not UTF-8: byte 15 is 0xE9;/],
    [
      'a character without its end',
      Buffer.from('ACK|HR|return:é').subarray(0, -1),
      /:1: .* it ends inside a character;/,
    ],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeff@a>req:x{}\n', 'utf16le'), / is UTF-16; .* iconv -f UTF-16 /],
    ['UTF-16 of the other order', Buffer.from('\ufeff@a>req:x{}\n', 'utf16le').swap16(), / is UTF-16; /],
    ['UTF-16 without a byte order mark', Buffer.from('@a>req:x{}', 'utf16le'), / is UTF-16; /],
    ['the other order without one', Buffer.from('@a>req:x{}', 'utf16le').swap16(), / is UTF-16; /],
  ];
  test.each(ENCODED)('%s', async (_, bytes, error) => {
    for (const command of LINE_COMMANDS) {
      const { code, stdout, stderr } = await cli([command, 'aacp'], { stdin: bytes });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(error);
      expect(stderr).toMatch(/^error\[unreadable\]: stdin[^\n]+\.\n$/);
    }
  });
});

describe('one invalid byte', () => {
  /** Commands that read lines, with a line that each accepts. */
  const READERS: readonly (readonly [args: readonly string[], line: string])[] = [
    ...LINE_COMMANDS.map((command) => [[command, 'accp'], '@a>req:x{}'] as const),
    [['decode', 'accp'], '@a>req:x{}'],
    [['encode', 'accp'], '{"intent":"req","operation":"find","payload":{"query":"cats"}}'],
    [['tokens'], 'Hello'],
    [['arcp', 'validate', '--skip-order'], '{"arcp":"1.0"}'],
  ];

  test.each(READERS)('ends %j with the name of its line, after all lines before it', async (args, line) => {
    const fixed = args[0] === 'encode' || args[0] === 'decode' ? ['--now', '2023-11-14T22:13:20Z', '--id', 's'] : [];
    const good = `${line}\n`.repeat(3);
    const whole = await cli([...args, ...fixed, '--json'], { stdin: good });
    for (const size of [1, 7, 1_000_000]) {
      const bytes = Buffer.concat([Buffer.from(`${good}\n${line}`), Uint8Array.from([0xff]), Buffer.from(`\n${good}`)]);
      const { code, stdout, stderr } = await cli([...args, ...fixed, '--json'], { stdin: inPieces(bytes, size) });
      expect(code).toBe(2);
      // Identifiers are random, and counts follow only at the end of the input.
      expect(jsonLines(stdout)).toHaveLength(3);
      expect(whole.stdout.split('\n').length).toBeGreaterThan(3);
      const at = line.length + 1;
      expect(jsonLines(stderr).at(-1)).toMatchObject({
        error: {
          code: 'unreadable',
          message: expect.stringContaining(`stdin:5: The line is not UTF-8: byte ${at} is 0xFF;`),
        },
      });
    }
  });

  test('does not prevent find from finding the messages around it, with offsets that count U+FFFD', async () => {
    const frame = '@a>req:x{k:1}';
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.uint8Array({ minLength: 1, maxLength: 6 }),
            fc.constantFrom(`\n${frame}\n`, 'é', '\u{1f600}', '\0'),
          ),
        ),
        fc.integer({ min: 1, max: 9 }),
        async (parts, size) => {
          const bytes = Buffer.concat([
            Buffer.from('log:\n'),
            ...parts.map((part) => Buffer.from(part as string)),
            Buffer.from(`\n${frame}\n`),
          ]);
          const { code, stdout } = await cli(['find', 'accp', '--json'], { stdin: inPieces(bytes, size) });
          expect(code).toBeLessThan(2);
          const text = bytes.toString('utf8');
          const found = jsonLines(stdout) as { start: number; end: number; text: string }[];
          expect(found.filter((one) => one.text === frame)).toHaveLength(text.split(`\n${frame}\n`).length - 1);
          for (const one of found) expect(text.slice(one.start, one.end)).toBe(one.text);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('is reported by find, as text and with --json', async () => {
    const stdin = Buffer.from('\u00e9 @a>req:x{}', 'latin1');
    const { code, stdout, stderr } = await cli(['find', 'accp'], { stdin });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2-12\tok\t@a>req:x{}\n' });
    expect(stderr).toMatch(/^warning\[not-utf8\]: stdin contains bytes that are not UTF-8; [^\n]*\.\n/);
    const json = await cli(['find', 'accp', '--json'], { stdin });
    expect(jsonLines(json.stderr)).toEqual([{ notice: expect.stringContaining('bytes that are not UTF-8') }]);
  });

  test('is reported in the same way on platforms whose TextDecoder throws errors without a code', async () => {
    const Strict = globalThis.TextDecoder;
    vi.stubGlobal(
      'TextDecoder',
      class extends Strict {
        override decode(...args: Parameters<InstanceType<typeof Strict>['decode']>): string {
          try {
            return super.decode(...args);
          } catch {
            throw new TypeError('The encoded data is not valid.');
          }
        }
      },
    );
    try {
      const stdin = Buffer.from('@a>req:x{}\n\u00e9\n', 'latin1');
      const { code, stdout, stderr } = await cli(['fmt', 'accp'], { stdin });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '@a>req:x{}\n' });
      expect(stderr).toMatch(/^error\[unreadable\]: stdin:2: The line is not UTF-8/);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('is not a NUL in a log, nor a missing last line end', async () => {
    expect((await cli(['find', 'accp'], { stdin: '\0\0\0\0@a>req:x{}' })).stdout).toBe('4-14\tok\t@a>req:x{}\n');
  });
});

test('on a terminal, a note explains how to end the input', async () => {
  const stdin = Object.assign(Readable.from([Buffer.from('@a>req:x{}')]), { isTTY: true });
  const { code, stderr } = await cli(['fmt', 'accp'], { stdin });
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Reading from the terminal; press Ctrl-D to end.\n' });
});
