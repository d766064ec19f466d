import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Outcome, type Target, TargetError } from '../../../src/fuzz/differential/target.js';
import { type ProcessOptions, processTarget } from '../../../src/fuzz/process/process-target.js';
import { start } from '../../helpers/child.js';
import { scratchFolder } from '../../helpers/cli.js';
import { adapterCommand, programCommand } from './programs/commands.js';

const scratch = scratchFolder();
const LISTENED = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'];
const open: Target[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((target) => target.close()));
});

function targetOf(command: string, options?: ProcessOptions): Target {
  const target = processTarget(command, options);
  open.push(target);
  return target;
}

/** Sends all texts at once, and returns their outcomes. */
function readAll(target: Target, inputs: readonly string[]): Promise<Outcome[]> {
  return Promise.all(inputs.map((input) => target.read({ input })));
}

function echoed(text: string): Outcome {
  return { kind: 'answer', answer: { ok: true, canonical: text } };
}

/** Returns `true` if a process runs. A zombie does not. */
function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${id}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

function idsOf(outcome: unknown): number[] {
  const { answer } = outcome as { answer: { canonical: string } };
  return answer.canonical.split(' ').map(Number);
}

describe('a program that answers', () => {
  test('gets many texts at once, and each gets its own answer', async () => {
    const inputs = Array.from({ length: 3000 }, (_, index) => `text ${index}`);
    const target = targetOf(adapterCommand());
    expect(await readAll(target, inputs)).toEqual(inputs.map(echoed));
    const refused = { ok: false, code: 'E1', offset: 3 } as const;
    expect(await target.read({ input: 'so bad' })).toEqual({ kind: 'answer', answer: refused });
  });

  test('gets every text unchanged', async () => {
    const target = targetOf(adapterCommand());
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 });
    const texts = units.map((codes) => String.fromCharCode(...codes)).filter((text) => !text.includes('bad'));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(await target.read({ input: text })).toEqual(echoed(text));
      }),
      { numRuns: 200 },
    );
    const long = '\ud800\u2028é'.repeat(300_000);
    expect(await target.read({ input: long })).toEqual(echoed(long));
  });

  test('may write blank lines, partial lines, null for absent members, and noise on stderr', async () => {
    const target = targetOf(
      adapterCommand(['a', 'blank'], ['b', 'pieces'], ['c', 'dialect'], ['d', 'nulls'], ['e', 'noise']),
    );
    const outcomes: Outcome[] = [];
    for (const input of ['a', 'b', 'c', 'd', 'e', 'f']) outcomes.push(await target.read({ input, dialect: 'lenient' }));
    const bare: Outcome = { kind: 'answer', answer: { ok: true } };
    expect(outcomes).toEqual([
      echoed('after blanks'),
      echoed('in pieces'),
      echoed('in lenient'),
      bare,
      bare,
      echoed('f'),
    ]);
  });

  test('may take longer to start than to answer, and print a banner first', async () => {
    const target = targetOf(programCommand('slow-start.mjs'), { timeoutMs: 1000 });
    expect(await target.read({ input: 'x' })).toEqual({ kind: 'answer', answer: { ok: true } });
  });
});

test.each([
  ['leave', {}, { kind: 'crash', detail: 'exit code 0' }],
  ['abort', {}, { kind: 'crash', detail: expect.stringMatching(/SIGKILL/) }],
  ['last-words', {}, { kind: 'crash', detail: expect.stringMatching(/^exit code 1; stderr ends: x{2040} the end$/) }],
  ['hang', { timeoutMs: 1000 }, { kind: 'hang', timeoutMs: 1000 }],
  ['eat', { maxMemoryBytes: 2 ** 28 }, { kind: 'memory', maxBytes: 2 ** 28 }],
  ['no-json', {}, { kind: 'garbage', detail: 'not JSON: "NaN is no answer"' }],
  ['long', { maxLineBytes: 50_000 }, { kind: 'garbage', detail: 'a line of more than 50000 bytes' }],
] as const)(
  'a program that fails on a text (%s): the text is found, and others are answered',
  async (action, options, outcome) => {
    const target = targetOf(adapterCommand(['boom', action]), options);
    expect(await readAll(target, ['a', 'boom', 'b', 'c'])).toEqual([echoed('a'), outcome, echoed('b'), echoed('c')]);
  },
);

test('a program that gets one text at a time fails on the same text', async () => {
  const target = targetOf(adapterCommand(['boom', 'exit']), { maxInFlight: 1 });
  const crash: Outcome = { kind: 'crash', detail: 'exit code 3' };
  expect(await readAll(target, ['a', 'boom', 'b'])).toEqual([echoed('a'), crash, echoed('b')]);
});

test('all texts that a program fails on are found', async () => {
  const target = targetOf(adapterCommand(['boom', 'exit'], ['clash', 'no-json']));
  const outcomes = await readAll(target, ['boom', 'a', 'clash', 'boom again', 'b']);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['crash', 'answer', 'garbage', 'crash', 'answer']);
});

test('a failure that no text causes alone is reported for the first unanswered one, with a note', async () => {
  // The two requests of the start, four texts, and then the program ends.
  const target = targetOf(adapterCommand(['x', 'exit@6']));
  const outcomes = await readAll(target, ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']);
  expect(outcomes).toEqual([
    ...['x1', 'x2', 'x3', 'x4'].map(echoed),
    { kind: 'crash', detail: 'exit code 3', note: expect.stringContaining('only after other texts') },
    echoed('x6'),
  ]);
});

test('an answer without a request is reported for the next text', async () => {
  const target = targetOf(adapterCommand(['x', 'twice']));
  expect(await target.read({ input: 'x' })).toEqual({ kind: 'answer', answer: { ok: true } });
  expect(await target.read({ input: 'y' })).toEqual({
    kind: 'garbage',
    detail: 'an answer without a request: {"ok":true}',
    note: expect.stringContaining('before this text was sent'),
  });
  expect(await target.read({ input: 'z' })).toEqual(echoed('z'));
});

describe('a program that cannot be tested', () => {
  test.each<[string, string, ProcessOptions, RegExp]>([
    [
      'is not there',
      'pegwire-no-such-program',
      {},
      /"pegwire-no-such-program" cannot be used: it ended before .* \(started 3 times\)/s,
    ],
    ['only ends', programCommand('adapter.mjs', '--on', '', 'last-words'), {}, /exit code 1; stderr ends: x+ the end/],
    [
      'gives no answers',
      programCommand('adapter.mjs', '--on', '', 'wrong-shape'),
      {},
      /it wrote an invalid answer: the member "ok" is missing/,
    ],
    ['answers once', programCommand('one-shot.mjs'), {}, /after one answer; an adapter must read/],
    ['answers with two lines', programCommand('chatty.mjs'), {}, /an answer without a request/],
    ['keeps its answers', programCommand('buffered.mjs'), { startTimeoutMs: 1500 }, /Flush the output after each line/],
    [
      'never answers',
      programCommand('adapter.mjs', '--on', '', 'hang'),
      { startTimeoutMs: 400 },
      /did not answer within 0.4 s .*\(started 2 times\)/s,
    ],
    ['has no folder', 'echo', { cwd: '/pegwire/no/such/folder' }, /cannot be used: .*failed to start: .*ENOENT/],
    ['has an impossible name', 'a\0b', {}, /cannot be started/],
  ])('%s', async (_what, command, options, message) => {
    const target = targetOf(command, options);
    const reads = await Promise.allSettled(['a', 'b', 'c'].map((input) => target.read({ input })));
    for (const read of reads) {
      expect(read).toEqual({ status: 'rejected', reason: expect.any(TargetError) });
      expect(String((read as PromiseRejectedResult).reason)).toMatch(message);
    }
    await expect(target.read({ input: 'd' })).rejects.toThrow(TargetError);
  });

  test('is accepted if it only fails on the empty text', async () => {
    const target = targetOf(adapterCommand(['EMPTY', 'exit']));
    const outcomes = await readAll(target, ['a', '', 'b']);
    expect(outcomes).toEqual([echoed('a'), { kind: 'crash', detail: expect.any(String) }, echoed('b')]);
  });
});

describe('closing', () => {
  test('leaves no process and no listener of a program that ignores signals', async () => {
    const before = LISTENED.map((event) => process.listenerCount(event));
    const target = processTarget(programCommand('stubborn.mjs'));
    const ids = idsOf(await target.read({ input: 'x' }));
    expect(ids.map(isRunning)).toEqual([true, true]);
    await target.close();
    await vi.waitFor(() => expect(ids.map(isRunning)).toEqual([false, false]), { timeout: 10_000 });
    expect(LISTENED.map((event) => process.listenerCount(event))).toEqual(before);
  });

  test('rejects waiting and later requests, and may be repeated', async () => {
    const target = processTarget(adapterCommand(['x', 'hang']), { timeoutMs: 600_000 });
    await target.read({ input: 'a' });
    const pending = readAll(target, ['x', 'b']);
    const rejected = expect(pending).rejects.toThrow('The target is closed');
    await Promise.all([target.close(), target.close()]);
    await rejected;
    await expect(target.read({ input: 'c' })).rejects.toThrow('The target is closed');
  });

  test('also ends a program that has not started yet', async () => {
    const target = processTarget(programCommand('slow-start.mjs'));
    const rejected = expect(target.read({ input: 'a' })).rejects.toThrow('The target is closed');
    // The program is starting now.
    await new Promise((resolve) => setImmediate(resolve));
    await target.close();
    await rejected;
  });

  test('does not start a target without requests', async () => {
    const target = processTarget(`echo started > "${scratch.path}/marker"`);
    await target.close();
    expect(existsSync(`${scratch.path}/marker`)).toBe(false);
  });
});

test.skipIf(process.platform === 'win32')('a program does not outlive this process, however that ends', async () => {
  const endings = ['exit', 'SIGTERM'].map(async (way) => {
    const args = [programCommand('stubborn.mjs'), way];
    const parent = start([process.execPath, '--import', 'tsx', 'test/fuzz/process/programs/abandons.ts', ...args]);
    const line = await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve));
    const ids = idsOf(JSON.parse(line.toString()));
    const ending = new Promise((resolve) => parent.once('exit', (code, signal) => resolve(signal ?? code)));
    if (way !== 'exit') parent.kill(way as NodeJS.Signals);
    expect(await ending).toBe(way === 'exit' ? 0 : way);
    await vi.waitFor(() => expect(ids.map(isRunning)).toEqual([false, false]), { timeout: 10_000 });
  });
  await Promise.all(endings);
});

test.each([
  ['maxInFlight', 0],
  ['timeoutMs', -1],
  ['maxMemoryBytes', Number.NaN],
])('%s must be positive', (name, value) => {
  expect(() => processTarget('x', { [name]: value })).toThrow(
    new TypeError(`${name} must be a positive number; got ${value}`),
  );
});
