import { writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { bytesRead, createBar } from '../../../src/cli/io/progress.js';
import { run } from '../../../src/cli/run.js';
import { cli, inPieces, Screen, scratchFolder } from '../../helpers/cli.js';

/** A bar on a terminal of the given width, and what it shows at each time in milliseconds. */
function barOf({
  columns = 80,
  amount,
}: {
  columns?: number;
  amount?: Parameters<typeof createBar>[1]['amount'];
} = {}) {
  let at = 0;
  const shown: string[] = [];
  const bar = createBar('Reading', {
    columns: () => columns,
    show: (text) => shown.push(text),
    amount,
    now: () => at,
  });
  return {
    shown,
    passes: (ms: number, ...state: Parameters<typeof bar>) => {
      at = ms;
      bar(...state);
    },
  };
}

describe('a bar', () => {
  test('appears after a second, and changes ten times a second', () => {
    const { shown, passes } = barOf();
    for (const ms of [0, 500, 999]) passes(ms, 1, 10);
    expect(shown).toEqual([]);
    for (const ms of [1000, 1050, 1099, 1100]) passes(ms, 5, 10);
    expect(shown).toHaveLength(2);
  });

  test('shows the share that is done, and the time that is left', () => {
    const { shown, passes } = barOf();
    passes(1000, 5, 10);
    passes(6000, 9, 10, '9 of 10 inputs');
    expect(shown).toEqual([
      'Reading [##########----------] 50 %, 1 s left',
      'Reading [##################--] 90 %, 1 s left, 9 of 10 inputs',
    ]);
  });

  test.each([
    [90_000, '90 s'],
    [600_000, '10 min'],
    [86_400_000, '24 h'],
  ])('shows %i ms as %s', (ms, text) => {
    const { shown, passes } = barOf();
    passes(ms, 1, 2);
    expect(shown[0]).toContain(`50 %, ${text} left`);
  });

  test('never has as many characters as the terminal has columns', () => {
    for (let columns = 1; columns < 60; columns++) {
      const { shown, passes } = barOf({ columns });
      passes(1000, 5, 10, 'a detail');
      expect(shown[0]!.length).toBeLessThan(columns);
    }
    const { shown, passes } = barOf({ columns: 40 });
    passes(1000, 5, 10);
    expect(shown).toEqual(['Reading [#######-------] 50 %, 1 s left']);
  });

  test('shows the amount without a total, and no time before anything is done', () => {
    const { shown, passes } = barOf({ amount: bytesRead });
    passes(1000, 2_500_000);
    passes(2000, 0, 10);
    passes(3000, 20, 10);
    expect(shown).toEqual([
      'Reading 2.5 MB',
      'Reading [--------------------] 0 %',
      'Reading [####################] 100 %, 0 s left',
    ]);
  });
});

describe('commands', () => {
  const { path: folder, write } = scratchFolder();
  const frames = '@a>req:x{k:1}\n'.repeat(20_000);
  /** Each look at the clock finds it a second later. */
  const hurry = () => {
    let seconds = 0;
    return vi.spyOn(performance, 'now').mockImplementation(() => 1000 * seconds++);
  };

  test('show how much of a file is read on a terminal, and erase it before the next line', async () => {
    const file = write('many.accp', frames);
    const spy = hurry();
    const { stderr } = await cli(['check', 'accp', file, '--no-color'], { isTTY: true });
    const piped = await cli(['check', 'accp', file]);
    spy.mockRestore();
    expect(stderr).toContain(`\r\u001b[2KReading ${file} [`);
    expect(stderr.split('\r\u001b[2K').at(-1)).toBe('20000 frames, 20000 valid, 0 invalid, 0 errors, 0 warnings\n');
    expect(piped.stderr).toBe('20000 frames, 20000 valid, 0 invalid, 0 errors, 0 warnings\n');
  });

  test('show the files that are done', async () => {
    for (const name of ['a', 'b', 'c']) write(`${name}.accp`, '@a>req:x{k:1}\n');
    const spy = hurry();
    const { stderr } = await cli(['fmt', 'accp', folder, '--write'], { isTTY: true });
    spy.mockRestore();
    expect(stderr).toMatch(/4 files \[#{5}-{15}\] 25 %/);
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  });

  test('show nothing of a short pipe, which may be written to by hand', async () => {
    const spy = hurry();
    const { stderr } = await cli(['parse', 'accp'], { stdin: frames, isTTY: true });
    const long = await cli(['parse', 'accp'], { stdin: frames.repeat(5), isTTY: true });
    spy.mockRestore();
    expect(stderr).toBe('');
    expect(long.stderr).toContain('Reading stdin 1.0 MB');
  });

  test('do not leave the bar of an input that ends with an error', async () => {
    const file = write('broken.accp', `${frames}\u00ff`);
    writeFileSync(file, Buffer.concat([Buffer.from(frames), Buffer.from([0xff, 0x0a])]));
    const spy = hurry();
    const { code, stderr } = await cli(['parse', 'accp', file, '--no-color'], { isTTY: true });
    spy.mockRestore();
    expect(code).toBe(2);
    expect(stderr.split('\r\u001b[2K').at(-1)).toMatch(/^error\[unreadable\]: /);
  });
});

/** A terminal with a width. */
class Terminal extends Screen {
  readonly columns: number;

  constructor(columns: number) {
    super({ isTTY: true });
    this.columns = columns;
  }
}

describe('tables on a narrow terminal are lists', () => {
  const inWidth = async (args: readonly string[], stdin: string, columns: number) => {
    const stdout = new Terminal(columns);
    await run([...args, '--no-color'], {
      stdin: inPieces(Buffer.from(stdin), 65_536),
      stdout,
      stderr: new Writable({ write: (_c, _e, done) => done() }),
    });
    return stdout.text;
  };

  test.each([
    { args: ['tokens'], stdin: '@a>req:x{k:1}[mid:m1,seq:1]\n@b>req:y{k:2}\n' },
    { args: ['fuzz', 'accp', '--coverage', '-'], stdin: '@a>req:x{k:1}\n' },
  ])('$args', async ({ args, stdin }) => {
    const wide = await inWidth(args, stdin, 200);
    const narrow = await inWidth(args, stdin, 40);
    const rows = wide.split('\n').filter((line) => / {2}\d/.test(line));
    expect(rows.length).toBeGreaterThan(1);
    const table = narrow.split('\n').filter((line) => line.startsWith('  ') && line.includes(': '));
    expect(table.length).toBeGreaterThan(rows.length);
    for (const line of table) expect(line.length).toBeLessThanOrEqual(40);
    expect(wide.split('\n').filter((line) => /^ {2}[^:]*: /.test(line))).toEqual([]);
  });
});
