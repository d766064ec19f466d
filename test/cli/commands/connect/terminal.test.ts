/** `pegwire connect` on a terminal. */
import { spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainEnvironment } from '../../../helpers/child.js';
import { PROGRAM } from '../../../helpers/cli.js';
import { type Serving, serving } from './server.js';

/** The `script` of util-linux gives a program a terminal; other systems have other options. */
const hasTerminals =
  process.platform === 'linux' && String(spawnSync('script', ['--version']).stdout).includes('util-linux');
const hint = hasTerminals ? '' : ' (skipped: script is missing; Debian has it as bsdutils)';

/** Removes erased lines: carriage return, then erase. */
const ERASED = '\r\x1b[2K';

let server: Serving;

beforeAll(async () => {
  server = await serving(PROGRAM);
});

afterAll(async () => {
  await server.stop();
});

test.skipIf(!hasTerminals)(`is asked for a line, and sees it sent and answered${hint}`, async () => {
  const command = [...PROGRAM, 'connect', server.ws].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    env: { ...plainEnvironment(), NO_COLOR: '1' },
  });
  let shown = '';
  let wake: () => void = () => undefined;
  child.stdout.on('data', (piece) => {
    shown += piece;
    wake();
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  const seen = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  await seen(() => shown.endsWith('> '));
  expect(shown).toBe(`Reading from the terminal; press Ctrl-D to end.\r\n${ERASED}> `);
  child.stdin.write('hello\n');
  await seen(() => shown.includes('@pegwire>done:chat{') && shown.endsWith('> '));
  const visibleLines = shown.split('\r\n').map((line) => line.split(ERASED).at(-1));
  expect(visibleLines).toEqual([
    'Reading from the terminal; press Ctrl-D to end.',
    // The terminal echoes the input.
    '> hello',
    expect.stringMatching(/^sent: @cli>req:chat\{role:user\|content:hello\|schema:CH\}\[/),
    expect.stringMatching(/^@pegwire>done:chat\{role:user\|content:hello\|schema:CH\}\[/),
    '> ',
  ]);
  child.stdin.end();
  expect(await closed).toBe(0);
});
