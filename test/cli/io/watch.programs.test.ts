import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { start } from '../../helpers/child.js';
import { cli, PROGRAM, scratchFolder } from '../../helpers/cli.js';

const folder = scratchFolder();

/** Starts a command that watches; `next` waits for an output that contains a text, after the last one. */
function watching(args: readonly string[]) {
  const child = start([...PROGRAM, ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  let from = 0;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    next: async (text: string) => {
      await expect.poll(() => output.indexOf(text, from), { timeout: 20_000 }).toBeGreaterThanOrEqual(0);
      from = output.indexOf(text, from) + text.length;
    },
    outputSoFar: () => output,
    end: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

test('check --watch checks the files that change, come and go', async () => {
  const file = folder.write('a.accp', '@a>req:x{k:1}\n');
  const { next, end } = watching(['check', 'accp', folder.path, '--watch']);
  await next('1 frame, 1 valid');
  await next('Watching 1 file');
  writeFileSync(file, '@a>req:x{k:1}\n@a>req:x{k:[1}\n');
  await next('a.accp:2:14');
  await next('2 frames, 1 valid');
  const other = folder.write('b.accp', '@b>req:y{}\n'.repeat(3));
  await next('2 files, 5 frames, 4 valid');
  rmSync(other);
  await next('2 frames, 1 valid');
  rmSync(file);
  await next('it has no file that ends in .accp');
  folder.write('a.accp', '@a>req:z{k:4}\n'.repeat(5));
  await next('5 frames, 5 valid');
  expect(await end()).toBe(0);
});

test('fmt --write --watch rewrites each change once, and ends with the exit code of the last run', async () => {
  const file = folder.write('c.accp', '@a>req:x{k:01}\n');
  const { next, end, outputSoFar } = watching(['fmt', 'accp', file, '--write', '--watch']);
  await next('c.accp');
  await next('Watching 1 file');
  expect(readFileSync(file, 'utf8')).toBe('@a>req:x{k:1}\n');
  writeFileSync(file, '@a>req:x{k:[1}\n');
  await next('error[E1001]');
  expect(outputSoFar().match(/c\.accp\n/g)).toHaveLength(1);
  expect(await end()).toBe(1);
});

test.each([
  [['check', 'accp', '--watch'], '--watch requires files'],
  [['check', 'accp', '-', '--watch'], '--watch requires files'],
  [['check', 'accp', folder.path, '--watch', '--format', 'sarif'], '--watch requires the format text'],
  [['fmt', 'accp', folder.path, '--watch'], '--watch requires --check or --write, and the format text'],
])('%j is an error', async (args, message) => {
  const { code, stderr } = await cli(args);
  expect(code).toBe(2);
  expect(stderr).toContain(`error[usage]: ${message}.`);
});
