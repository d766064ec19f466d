/** The command line as a program: its exit code, and real pipes. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/cli/run.js';
import { ended, start } from '../helpers/child.js';
import { cli, inPieces, jsonLines, lines, PROGRAM, program, scratchFolder } from '../helpers/cli.js';

const scratch = scratchFolder();
const POSIX = process.platform !== 'win32';

/** A few megabytes for the fast commands; for all, more than the buffer of a pipe. */
const FILES = {
  frames: scratch.write('many.accp', '@planner>req:schedule{who:dev_team|m:{b:1.50,a:007}}\n'.repeat(60_000)),
  fewerFrames: scratch.write('fewer.accp', '@planner>req:schedule{who:dev_team|m:{b:1.50,a:007}}\n'.repeat(10_000)),
  packets: scratch.write('packets.aacp', 'FECH|HR|p:1|aacp:1.1|return:HR-Agent|res:emp_salary\n'.repeat(10_000)),
  broken: scratch.write('broken.accp', '@planner>req:schedule{who:[1}\n'.repeat(10_000)),
};

describe.concurrent('as a program', () => {
  test('it writes results to stdout and the rest to stderr, and exits with 1 if the input is invalid', async () => {
    const stdin = '@a>req:x{k:01}\n@a>req:x{k:[1}\n';
    const ending = await program(['fmt', 'accp'], { stdin });
    expect(ending).toEqual(await cli(['fmt', 'accp'], { stdin }));
    expect(ending).toMatchObject({ code: 1, stdout: '@a>req:x{k:1}\n' });
  });

  test('it exits with 0 on success, and has no colour in a pipe', async () => {
    const ending = await program(['check', 'accp'], { stdin: '@a>req:x{}' });
    expect(ending).toMatchObject({ code: 0, stderr: '1 frame, 1 valid, 0 invalid, 0 errors, 0 warnings\n' });
    expect(ending.stderr).not.toContain('\u001b');
  });

  test('it has colour in a pipe with --color', async () => {
    const ending = await program(['check', 'accp', '--color'], { stdin: '@a>req:x{', env: { NO_COLOR: '1' } });
    expect(ending.stdout).toContain('\u001b[31m');
  });

  test('it finds files relative to its working directory, and names them as given', async () => {
    scratch.write('one.accp', '\n@a>req:x{k:[1}');
    const { code, stderr } = await program(['parse', 'accp', 'one.accp'], { cwd: scratch.path });
    expect(code).toBe(1);
    expect(stderr).toContain(' --> one.accp:2:14\n');
  });

  test('it exits with 2 on incorrect usage, without waiting for a stdin that stays open', async () => {
    const child = start([...PROGRAM, 'chek']);
    const ending = await ended(child);
    expect(ending).toMatchObject({ code: 2, stdout: '' });
    child.stdin.destroy();
  });

  test('it stops reading at bytes that are not text', async () => {
    const stdin = Buffer.concat([Buffer.from('@a>req:x{}\n'), Uint8Array.from([0xff, 0xfe])]);
    const child = start([...PROGRAM, 'fmt', 'accp']);
    child.stdin.write(stdin);
    const { code, stderr } = await ended(child);
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 2, lines: 2 });
    expect(stderr).toContain('stdin:2: The line is not UTF-8: byte 1 is 0xFF');
    child.stdin.destroy();
  });
});

describe.concurrent('large outputs are complete', () => {
  const numbered = (count: number, write: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `${write(index)}\n`).join('');
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');

  test('20,000 lines through a pipe', async () => {
    const stdin = numbered(20_000, (index) => `@a>req:x{m:{b:${index}.50,a:007}}`);
    const { code, stdout, stderr } = await program(['fmt', 'accp'], { stdin });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.length).toBeGreaterThan(400_000);
    expect(digest(stdout)).toBe(digest(numbered(20_000, (index) => `@a>req:x{m:{a:7,b:${index}.5}}`)));
  });

  test('5,000 lines of JSON, every other one an error', async () => {
    const stdin = numbered(5_000, (index) => (index % 2 === 0 ? `ACK|HR|n:${index}` : `ACK|HR||n:${index}`));
    const { code, stdout, stderr } = await program(['parse', 'aacp', '--json'], { stdin });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const documents = jsonLines(stdout) as { line: number; ok: boolean }[];
    expect(documents).toHaveLength(5_000);
    expect(documents.every(({ line, ok }, index) => line === index + 1 && ok === (index % 2 === 0))).toBe(true);
  });

  test('a slow reader gets everything', async () => {
    let text = '';
    let waiting = 0;
    const stdout = new Writable({
      highWaterMark: 1000,
      write(piece: Buffer, _encoding, done) {
        text += piece.toString();
        waiting = Math.max(waiting, stdout.writableLength);
        setImmediate(done);
      },
    });
    const stdin = inPieces(Buffer.from('@a>req:x{k:01}\n'.repeat(2000)), 65_536);
    const stderr = new Writable({ write: (_piece, _encoding, done) => done() });
    expect(await run(['fmt', 'accp'], { stdin, stdout, stderr })).toBe(0);
    await new Promise<void>((resolve) => stdout.end(resolve));
    expect(text).toBe('@a>req:x{k:1}\n'.repeat(2000));
    expect(waiting).toBeLessThan(2000);
  });
});

describe.runIf(POSIX).concurrent('a reader that closes the pipe early', () => {
  /** Starts a program that writes its exit code to the stderr of the shell. */
  const first = (script: string, ...args: readonly string[]) =>
    ended(start(['sh', '-c', script, 'sh', ...PROGRAM, ...args], { stdin: '' }));
  const HEAD = '{ "$@"; echo "exit $?" >&2; } | head -n 1';
  const HEAD_OF_STDERR = '{ { "$@" 2>&3; } >/dev/null; echo "exit $?"; } 3>&1 >&2 | head -n 1';

  test.each([
    ['fmt', FILES.frames, '@planner>req:schedule{who:dev_team|m:{a:7,b:1.5}}\n'],
    ['parse', FILES.fewerFrames, expect.stringMatching(/^\{"kind":"frame".*\}\n$/)],
    ['check', FILES.broken, expect.stringMatching(/^error\[E1001\]: .*\n$/)],
    ['find', FILES.fewerFrames, expect.stringMatching(/^0-\d+\tok\t@planner.*\n$/)],
  ])('ends %s quietly, with exit code 0', async (command, file, stdout) => {
    const ending = await first(HEAD, command, 'accp', file);
    expect(ending).toEqual({ code: 0, stdout, stderr: 'exit 0\n' });
  });

  test('ends check of packets quietly, with exit code 0', async () => {
    const ending = await first(HEAD, 'check', 'aacp', FILES.packets);
    expect(ending).toMatchObject({ stdout: expect.stringMatching(/^warning\[unknown-task\]/), stderr: 'exit 0\n' });
  });

  test('ends a program that reads an endless stdin', async () => {
    const script = '{ yes "@a>req:x{k:01}" | { "$@"; echo "exit $?" >&2; } ; } | head -n 2';
    const ending = await first(script, 'fmt', 'accp');
    expect(ending).toEqual({ code: 0, stdout: lines('@a>req:x{k:1}', '@a>req:x{k:1}'), stderr: 'exit 0\n' });
  });

  test('of stderr ends it, too', async () => {
    const ending = await first(HEAD_OF_STDERR, 'fmt', 'accp', FILES.broken);
    expect(ending).toMatchObject({ stdout: expect.stringMatching(/^error\[E1001\]: .*\n$/), stderr: 'exit 0\n' });
  });

  test('in this process ends the program that it started', async () => {
    const child = start([...PROGRAM, 'fmt', 'accp', FILES.frames], { stdin: '' });
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await ended(child)).toMatchObject({ code: 0, stderr: '' });
  });
});

test.runIf(existsSync('/dev/full'))('an output that cannot be written is reported, with exit code 2', async () => {
  const script = '"$@" >/dev/full';
  const { code, stderr } = await ended(
    start(['sh', '-c', script, 'sh', ...PROGRAM, 'fmt', 'accp'], { stdin: '@a>req:x{}' }),
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error\[unwritable\]: Cannot write the output: .*\n$/);
});
