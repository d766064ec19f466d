/** Channels over byte streams. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteChannel, type Channel } from '../../src/acp/index.js';

interface Received {
  readonly texts: string[];
  readonly invalid: string[];
  readonly tooLong: number[];
  /** The arguments of all calls of `ended`. */
  readonly ends: (Error | undefined)[];
  readonly ended: Promise<Error | undefined>;
}

function listen(channel: Channel, onText?: (text: string) => void): Received {
  const received = { texts: [] as string[], invalid: [] as string[], tooLong: [] as number[], ends: [] as never[] };
  const ended = new Promise<Error | undefined>((resolve) => {
    channel.start({
      text: (text) => {
        received.texts.push(text);
        onText?.(text);
      },
      invalid: (reason) => received.invalid.push(reason),
      tooLong: (limit) => received.tooLong.push(limit),
      ended: (error) => {
        received.ends.push(error as never);
        resolve(error);
      },
    });
  });
  return { ...received, ended };
}

/** Creates an output that accepts each write when `take` is called. */
function slowOutput(highWaterMark?: number): { output: Writable; chunks: string[]; accept: () => void } {
  const chunks: string[] = [];
  let done: (() => void) | undefined;
  const output = new Writable({
    ...(highWaterMark === undefined ? {} : { highWaterMark }),
    write: (chunk, _, accepted) => {
      chunks.push(String(chunk));
      done = accepted;
    },
  });
  return { output, chunks, accept: () => done?.() };
}

async function sockets(): Promise<{ here: Socket; there: Socket; close: () => void }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const here = connect({ port: (server.address() as { port: number }).port, allowHalfOpen: true });
  const [[there]] = await Promise.all([accepted, once(here, 'connect')]);
  return {
    here,
    there,
    close: () => {
      here.destroy();
      there.destroy();
      server.close();
    },
  };
}

describe('input', () => {
  test('does not depend on the size of chunks', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => JSON.stringify(text));
    const property = fc.asyncProperty(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\n\n'))),
      fc.array(fc.nat({ max: 40 }), { minLength: 1 }),
      fc.boolean(),
      async (lines, cuts, isLastUnterminated) => {
        let written = lines.map(([text, end]) => text + end).join('');
        if (isLastUnterminated) written = written.trimEnd();
        const bytes = Buffer.from(written);
        const input = new PassThrough();
        const { texts, ends, ended } = listen(byteChannel(input, new PassThrough()));
        for (let from = 0, n = 0; from < bytes.length; n++) {
          const to = from + 1 + cuts[n % cuts.length]!;
          input.write(bytes.subarray(from, to));
          from = to;
        }
        input.end();
        expect(await ended).toBeUndefined();
        expect(texts).toEqual(lines.map(([text]) => text));
        expect(ends).toHaveLength(1);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  test('is delivered after the start if it arrived before', async () => {
    const input = new PassThrough();
    const channel = byteChannel(input, new PassThrough());
    input.end('1\n2\n3');
    await new Promise((resolve) => setImmediate(resolve));
    const { texts, ended } = listen(channel);
    expect(await ended).toBeUndefined();
    expect(texts).toEqual(['1', '2', '3']);
  });

  test('waits while the channel is paused', async () => {
    const input = new PassThrough();
    const channel = byteChannel(input, new PassThrough());
    const { texts, ended } = listen(channel);
    channel.pause();
    input.end('1\n2\n');
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(texts).toEqual([]);
    channel.resume();
    await ended;
    expect(texts).toEqual(['1', '2']);
  });

  test('of one chunk is delivered once and in order, with pauses in between', async () => {
    const calls = fc.array(fc.constantFrom('pause', 'resume'), { maxLength: 3 });
    const property = fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: 20 }), async (steps) => {
      const input = new PassThrough();
      const channel = byteChannel(input, new PassThrough());
      const { texts, ends, ended } = listen(channel, (text) => {
        for (const call of steps[Number(text)] ?? []) channel[call as 'pause' | 'resume']();
        expect(ends).toEqual([]);
      });
      input.end(steps.map((_, n) => `${n}\n`).join(''));
      // Resumes after each pause.
      const timer = setInterval(channel.resume, 1);
      await ended;
      clearInterval(timer);
      expect(texts).toEqual(steps.map((_, n) => String(n)));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test('is not delivered after the channel is destroyed, even in the same chunk', async () => {
    const input = new PassThrough();
    const channel = byteChannel(input, new PassThrough());
    const { texts, invalid, tooLong, ends, ended } = listen(channel, () => channel.destroy());
    input.write(Buffer.concat([Buffer.from('1\n2\n'), Buffer.of(0xff, 0x0a)]));
    await ended;
    expect({ texts, invalid, tooLong, ends }).toEqual({ texts: ['1'], invalid: [], tooLong: [], ends: [undefined] });
  });

  test('after a line that is too long is not delivered', async () => {
    const input = new PassThrough();
    const { texts, tooLong, ends, ended } = listen(byteChannel(input, new PassThrough(), { maxLineBytes: 10 }));
    input.write(`1\n${'x'.repeat(11)}\n2\n`);
    await ended;
    expect({ texts, tooLong, ends }).toEqual({ texts: ['1'], tooLong: [10], ends: [undefined] });
  });
});

describe('output', () => {
  test('of one microtask is one write', async () => {
    const { output, chunks, accept } = slowOutput();
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    channel.send('1');
    channel.send('2');
    await Promise.resolve();
    accept();
    channel.send('3');
    await Promise.resolve();
    expect(chunks).toEqual(['1\n2\n', '3\n']);
    channel.destroy();
  });

  test('counts as backlog until it is accepted, and makes senders wait', async () => {
    const { output, accept } = slowOutput(8);
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    expect(channel.ready()).toBeUndefined();
    channel.send('123456789');
    expect(channel.backlog()).toBe(10);
    const ready = channel.ready();
    expect(ready).toBeInstanceOf(Promise);
    expect(channel.ready()).toBe(ready);
    expect(channel.backlog()).toBe(10);
    accept();
    await ready;
    expect(channel.backlog()).toBe(0);
    expect(channel.ready()).toBeUndefined();
    channel.destroy();
  });

  test.each<[string, (channel: Channel, accept: () => void) => unknown]>([
    ['is ended', (channel, accept) => [void channel.end(), accept()]],
    ['is destroyed', (channel) => channel.destroy()],
  ])('does not make senders wait after the channel %s', async (_, how) => {
    const { output, accept } = slowOutput(8);
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    channel.send('123456789');
    const ready = channel.ready();
    how(channel, accept);
    await ready;
    channel.destroy();
  });

  test('is written before the end, and discarded after it', async () => {
    const output = new PassThrough();
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    channel.send('1');
    await channel.end();
    channel.send('2');
    await channel.end();
    expect(String(output.read())).toBe('1\n');
    channel.destroy();
  });
});

describe('the end', () => {
  test('of the output does not end the input', async () => {
    const { here, there, close } = await sockets();
    const ours = byteChannel(here, here);
    const theirs = byteChannel(there, there);
    const received = listen(ours);
    const { ended } = listen(theirs);
    ours.send('"bye"');
    await ours.end();
    expect(await ended).toBeUndefined();
    theirs.send('"late"');
    await theirs.end();
    expect(await received.ended).toBeUndefined();
    expect(received.texts).toEqual(['"late"']);
    close();
  });

  test.each(['before', 'after'])('has an error if a socket is reset %s the start', async (when) => {
    const { here, there, close } = await sockets();
    const channel = byteChannel(here, here);
    const started = when === 'after' ? listen(channel) : undefined;
    const closed = new Promise((resolve) => here.once('close', resolve));
    there.resetAndDestroy();
    // A socket that is not read detects a reset when it writes.
    const more = setInterval(() => here.write('x'), 5);
    await closed;
    clearInterval(more);
    const { ended, ends } = started ?? listen(channel);
    expect(await ended).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) });
    expect(ends).toHaveLength(1);
    channel.send('text');
    await channel.end();
    close();
  });

  test('comes after the input of a side that does not read any more', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const { texts, ended } = listen(byteChannel(input, output));
    output.destroy(new Error('EPIPE'));
    await new Promise((resolve) => setImmediate(resolve));
    input.write('1\n');
    // The channel ends although the input stays open.
    expect(await ended).toMatchObject({ message: 'EPIPE' });
    expect(texts).toEqual(['1']);
  });

  test('comes after buffered input if the other side exits while the channel is paused', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const channel = byteChannel(input, output);
    const { texts, ended } = listen(channel);
    channel.pause();
    input.write('1\n');
    output.destroy(new Error('EPIPE'));
    // Longer than the wait of a channel that is not paused.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(texts).toEqual([]);
    channel.resume();
    expect(await ended).toMatchObject({ message: 'EPIPE' });
    expect(texts).toEqual(['1']);
  });

  test('comes without an error in this process if the pipe of a child breaks', async () => {
    const child = spawn(process.execPath, ['--eval', 'process.stdin.destroy(); console.log(1);'], { stdio: 'pipe' });
    const channel = byteChannel(child.stdout, child.stdin);
    const { texts, ended } = listen(channel);
    const more = setInterval(() => channel.send('x'.repeat(100_000)), 5);
    await ended;
    clearInterval(more);
    expect(texts).toEqual(['1']);
    channel.destroy();
  });
});

test('other work has its turn while many texts are delivered, in order', async () => {
  const input = new PassThrough();
  const channel = byteChannel(input, new PassThrough());
  let turns = 0;
  const count = (): void => {
    turns++;
    if (received.texts.length < COUNT) setImmediate(count);
  };
  const COUNT = 10_000;
  const received = listen(channel);
  setImmediate(count);
  input.end(Array.from({ length: COUNT }, (_, n) => `${n}\n`).join(''));
  expect(await received.ended).toBeUndefined();
  expect(received.texts).toEqual(Array.from({ length: COUNT }, (_, n) => String(n)));
  expect(turns).toBeGreaterThan(5);
});

test('the line ends of a text become spaces', async () => {
  const output = new PassThrough();
  const channel = byteChannel(new PassThrough(), output);
  channel.send('{\n  "a": "\\n",\r\n  "b": 1\n}');
  await channel.flushed!();
  expect(String(output.read())).toBe('{   "a": "\\n",    "b": 1 }\n');
});
