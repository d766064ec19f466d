/** `pegwire connect` on a terminal: what somebody who types sees. */
import { spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainEnvironment } from '../../../helpers/child.js';
import { PROGRAM } from '../../../helpers/cli.js';
import { type Serving, serving } from './server.js';

/** util-linux's `script` gives a program a terminal; those of other systems take other options. */
const hasTerminals =
  process.platform === 'linux' && String(spawnSync('script', ['--version']).stdout).includes('util-linux');
const hint = hasTerminals ? '' : ' (skipped: script is missing; Debian has it as bsdutils)';

/** A line that is written over: back to its start, and all of it erased. */
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
  const told = shown.split('\r\n').map((line) => line.split(ERASED).at(-1));
  expect(told).toEqual([
    'Reading from the terminal; press Ctrl-D to end.',
    // What was typed, as the terminal shows it.
    '> hello',
    expect.stringMatching(/^sent: @cli>req:chat\{role:user\|content:hello\|schema:CH\}\[/),
    expect.stringMatching(/^@pegwire>done:chat\{role:user\|content:hello\|schema:CH\}\[/),
    '> ',
  ]);
  child.stdin.end();
  expect(await closed).toBe(0);
});
