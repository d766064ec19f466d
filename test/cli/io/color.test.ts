import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cli } from '../../helpers/cli.js';

/** The start of every colour code. */
const COLOR = '\u001b[';
const BROKEN = '@a>req:x{k:[1}';

beforeEach(() => {
  vi.stubEnv('TERM', 'xterm-256color');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each(['check', 'parse', 'tokens'])('%s', (command) => {
  const args = command === 'tokens' ? [command] : [command, 'accp'];
  const output = async (extra: readonly string[], isTTY: boolean) => {
    const { stdout, stderr } = await cli([...args, ...extra], { stdin: BROKEN, isTTY });
    return stdout + stderr;
  };

  test('has colour on a terminal, and not in a pipe', async () => {
    expect(await output([], true)).toContain(COLOR);
    expect(await output([], false)).not.toContain(COLOR);
  });

  test('has no colour if NO_COLOR is set', async () => {
    vi.stubEnv('NO_COLOR', '1');
    expect(await output([], true)).not.toContain(COLOR);
  });

  test('has colour with --color, in a pipe and with NO_COLOR', async () => {
    expect(await output(['--color'], false)).toContain(COLOR);
    vi.stubEnv('NO_COLOR', '1');
    expect(await output(['--color'], false)).toContain(COLOR);
  });

  test('has no colour with --no-color, whatever the other options', async () => {
    expect(await output(['--no-color'], true)).not.toContain(COLOR);
    expect(await output(['--color', '--no-color'], true)).not.toContain(COLOR);
    expect(await output(['--no-color', '--color'], true)).not.toContain(COLOR);
    vi.stubEnv('FORCE_COLOR', '1');
    expect(await output(['--no-color'], true)).not.toContain(COLOR);
  });

  test('has the same text with and without colour', async () => {
    const plain = await output([], false);
    expect(stripVTControlCharacters(await output(['--color'], false))).toBe(plain);
  });
});

test('results that are data have no colour, even on a terminal', async () => {
  const stdin = '@a>req:x{k:01}';
  for (const args of [['parse'], ['parse', '--json'], ['fmt'], ['explain'], ['find'], ['check', '--json']]) {
    const [command, ...flags] = args as [string, ...string[]];
    const { stdout } = await cli([command, 'accp', ...flags], { stdin, isTTY: true });
    expect(stdout).not.toContain(COLOR);
  }
});

test('usage errors have colour only on a terminal', async () => {
  expect((await cli(['chek'], { isTTY: true })).stderr).toContain(COLOR);
  expect((await cli(['chek'], { isTTY: false })).stderr).not.toContain(COLOR);
});
