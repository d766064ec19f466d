/** Channels over byte streams of every temper. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteChannel, type Channel } from '../../src/acp/index.js';

interface Heard {
  readonly texts: string[];
  readonly garbage: string[];
  readonly tooLong: number[];
  /** What it has ended with, as often as it was told. */
  readonly ends: (Error | undefined)[];
  readonly ended: Promise<Error | undefined>;
}

function listen(channel: Channel, onText?: (text: string) => void): Heard {
  const heard = { texts: [] as string[], garbage: [] as string[], tooLong: [] as number[], ends: [] as never[] };
  const ended = new Promise<Error | undefined>((resolve) => {
    channel.start({
      text: (text) => {
        heard.texts.push(text);
        onText?.(text);
      },
      invalid: (why) => heard.garbage.push(why),
      tooLong: (limit) => heard.tooLong.push(limit),
      ended: (error) => {
        heard.ends.push(error as never);
        resolve(error);
      },
    });
  });
  return { ...heard, ended };
}

/** Takes what is written when it is told to, so that the pieces can be seen. */
function slowOutput(highWaterMark?: number): { output: Writable; pieces: string[]; take: () => void } {
  const pieces: string[] = [];
  let done: (() => void) | undefined;
  const output = new Writable({
    ...(highWaterMark === undefined ? {} : { highWaterMark }),
    write: (chunk, _, taken) => {
      pieces.push(String(chunk));
      done = taken;
    },
  });
  return { output, pieces, take: () => done?.() };
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

describe('what arrives', () => {
  test('is the same however the bytes are cut', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => JSON.stringify(text));
    const property = fc.asyncProperty(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\n\n'))),
      fc.array(fc.nat({ max: 40 }), { minLength: 1 }),
      fc.boolean(),
      async (lines, cuts, isLastUnended) => {
        let written = lines.map(([text, end]) => text + end).join('');
        if (isLastUnended) written = written.trimEnd();
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

  test('before the start is given then', async () => {
    const input = new PassThrough();
    const channel = byteChannel(input, new PassThrough());
    input.end('1\n2\n3');
    await new Promise((resolve) => setImmediate(resolve));
    const { texts, ended } = listen(channel);
    expect(await ended).toBeUndefined();
    expect(texts).toEqual(['1', '2', '3']);
  });

  test('waits while the channel is paused, from the start on', async () => {
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

  test('of one piece is told once and in order, whoever pauses and resumes meanwhile', async () => {
    const calls = fc.array(fc.constantFrom('pause', 'resume'), { maxLength: 3 });
    const property = fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: 20 }), async (steps) => {
      const input = new PassThrough();
      const channel = byteChannel(input, new PassThrough());
      const { texts, ends, ended } = listen(channel, (text) => {
        for (const call of steps[Number(text)] ?? []) channel[call as 'pause' | 'resume']();
        expect(ends).toEqual([]);
      });
      input.end(steps.map((_, n) => `${n}\n`).join(''));
      // Who pauses is gone on for later, until all is told.
      const later = setInterval(channel.resume, 1);
      await ended;
      clearInterval(later);
      expect(texts).toEqual(steps.map((_, n) => String(n)));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test('after the channel was dropped is told to nobody, even of the same piece', async () => {
    const input = new PassThrough();
    const channel = byteChannel(input, new PassThrough());
    const { texts, garbage, tooLong, ends, ended } = listen(channel, () => channel.destroy());
    input.write(Buffer.concat([Buffer.from('1\n2\n'), Buffer.of(0xff, 0x0a)]));
    await ended;
    expect({ texts, garbage, tooLong, ends }).toEqual({ texts: ['1'], garbage: [], tooLong: [], ends: [undefined] });
  });

  test('beyond a line that is too long is told to nobody', async () => {
    const input = new PassThrough();
    const { texts, tooLong, ends, ended } = listen(byteChannel(input, new PassThrough(), { maxLineBytes: 10 }));
    input.write(`1\n${'x'.repeat(11)}\n2\n`);
    await ended;
    expect({ texts, tooLong, ends }).toEqual({ texts: ['1'], tooLong: [10], ends: [undefined] });
  });
});

describe('what is sent', () => {
  test('of one turn is one write', async () => {
    const { output, pieces, take } = slowOutput();
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    channel.send('1');
    channel.send('2');
    await Promise.resolve();
    take();
    channel.send('3');
    await Promise.resolve();
    expect(pieces).toEqual(['1\n2\n', '3\n']);
    channel.destroy();
  });

  test('counts until it has been taken, and who sends too much waits', async () => {
    const { output, take } = slowOutput(8);
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    expect(channel.ready()).toBeUndefined();
    channel.send('123456789');
    expect(channel.backlog()).toBe(10);
    const ready = channel.ready();
    expect(ready).toBeInstanceOf(Promise);
    expect(channel.ready()).toBe(ready);
    expect(channel.backlog()).toBe(10);
    take();
    await ready;
    expect(channel.backlog()).toBe(0);
    expect(channel.ready()).toBeUndefined();
    channel.destroy();
  });

  test.each<[string, (channel: Channel, take: () => void) => unknown]>([
    ['is ended', (channel, take) => [void channel.end(), take()]],
    ['is dropped', (channel) => channel.destroy()],
  ])('who waits goes on when the channel %s', async (_, how) => {
    const { output, take } = slowOutput(8);
    const channel = byteChannel(new PassThrough(), output);
    listen(channel);
    channel.send('123456789');
    const ready = channel.ready();
    how(channel, take);
    await ready;
    channel.destroy();
  });

  test('after the end goes nowhere, and before it all is written', async () => {
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

describe('ends', () => {
  test('one side may end what it says, and still hears', async () => {
    const { here, there, close } = await sockets();
    const ours = byteChannel(here, here);
    const theirs = byteChannel(there, there);
    const heard = listen(ours);
    const { ended } = listen(theirs);
    ours.send('"bye"');
    await ours.end();
    expect(await ended).toBeUndefined();
    theirs.send('"late"');
    await theirs.end();
    expect(await heard.ended).toBeUndefined();
    expect(heard.texts).toEqual(['"late"']);
    close();
  });

  test.each(['before', 'after'])('a socket that is reset %s the start is an end with an error', async (when) => {
    const { here, there, close } = await sockets();
    const channel = byteChannel(here, here);
    const early = when === 'after' ? listen(channel) : undefined;
    const closed = new Promise((resolve) => here.once('close', resolve));
    there.resetAndDestroy();
    // Who does not read finds it out by writing.
    const more = setInterval(() => here.write('x'), 5);
    await closed;
    clearInterval(more);
    const { ended, ends } = early ?? listen(channel);
    expect(await ended).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) });
    expect(ends).toHaveLength(1);
    channel.send('nobody');
    await channel.end();
    close();
  });

  test('where the other side does not read any more, what it has said still counts', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const { texts, ended } = listen(byteChannel(input, output));
    output.destroy(new Error('EPIPE'));
    await new Promise((resolve) => setImmediate(resolve));
    input.write('1\n');
    // The input stays open: it is not waited for.
    expect(await ended).toMatchObject({ message: 'EPIPE' });
    expect(texts).toEqual(['1']);
  });

  test('where it has gone while nothing is read, nothing is lost', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const channel = byteChannel(input, output);
    const { texts, ended } = listen(channel);
    channel.pause();
    input.write('1\n');
    output.destroy(new Error('EPIPE'));
    // Longer than anybody is waited for who is read.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(texts).toEqual([]);
    channel.resume();
    expect(await ended).toMatchObject({ message: 'EPIPE' });
    expect(texts).toEqual(['1']);
  });

  test('a child whose pipe breaks does no harm', async () => {
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
