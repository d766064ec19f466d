/** Streams survive the end of their transport: each transport is interrupted between two messages and within one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { type ClientOptions, connect, type Target } from '../../../src/arcp/client/index.js';
import { createRuntime, listenUnix, listenWebSocket, type Runtime } from '../../../src/arcp/runtime/index.js';
import {
  behind,
  cuttingProxy,
  frameEnds,
  lineEnds,
  SOCKET_ENDINGS,
  type SocketEnding,
} from '../../helpers/cutting-proxy.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const COUNT = 30;

/** A runtime whose tool streams numbers, and then runs until it is released. */
function start(): { runtime: Runtime; go: () => void } {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const runtime = createRuntime().tool('count', { durable: true }, async (_, { stream }) => {
    const out = stream({ kind: 'event', name: 'numbers' });
    for (let n = 0; n < COUNT; n++) {
      await out.write({ n });
      if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await out.close('that was all');
    await gone;
    return 'done';
  });
  ending.push(() => runtime.close());
  ending.push(() => go());
  return { runtime, go };
}

interface Cut {
  readonly how: SocketEnding;
  readonly what: string;
  readonly more: number;
}

/** Connections to each transport through a proxy that interrupts it once. */
const TRANSPORTS: Readonly<Record<string, (runtime: Runtime, cut: Cut) => Promise<Target>>> = {
  'a WebSocket': async (runtime, { how, what, more }) => {
    const { url, close } = await listenWebSocket(runtime, { port: 0 });
    ending.push(close);
    const cut = behind(frameEnds, what, more);
    const proxy = await cuttingProxy({ target: Number(new URL(url).port), listen: 0, ending: how, cut });
    ending.push(proxy.close);
    return url.replace(new URL(url).port, String(proxy.place));
  },
  'a Unix-domain socket': async (runtime, { how, what, more }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-ends-'));
    ending.push(() => rmSync(folder, { recursive: true, force: true }));
    const target = path.join(folder, 'runtime');
    const { close } = await listenUnix(runtime, target);
    ending.push(close);
    const cut = behind(lineEnds, what, more);
    const proxy = await cuttingProxy({ target, listen: path.join(folder, 'proxy'), ending: how, cut });
    ending.push(proxy.close);
    return `unix:${proxy.place}`;
  },
  TCP: async (runtime, { how, what, more }) => {
    const { address, close } = await listenUnix(runtime, { port: 0 });
    ending.push(close);
    const target = (address as { readonly port: number }).port;
    const proxy = await cuttingProxy({ target, listen: 0, ending: how, cut: behind(lineEnds, what, more) });
    ending.push(proxy.close);
    return `tcp://127.0.0.1:${proxy.place}`;
  },
};

async function begin(name: string, cut: Cut, options: ClientOptions) {
  const { runtime, go } = start();
  const client = await connect(await TRANSPORTS[name]!(runtime, cut), options);
  ending.push(() => client.disconnect());
  const work = client.invoke('count');
  work.result().catch(() => {});
  return { work, go };
}

async function read<T>(values: AsyncIterable<T>): Promise<{ taken: T[]; error: unknown }> {
  const taken: T[] = [];
  try {
    for await (const value of values) taken.push(value);
  } catch (error) {
    return { taken, error };
  }
  return { taken, error: undefined };
}

const ALL = Array.from({ length: COUNT }, (_, n) => ({ n }));
const PLACES: readonly [string, string, number][] = [
  ['between two messages', '"n":11', 0],
  ['within a message', '"n":11', 40],
];
const LOST = { name: 'ArcpError', code: 'UNAVAILABLE' };

describe.each(Object.keys(TRANSPORTS))('over %s', (transport) => {
  describe.each(SOCKET_ENDINGS)('a connection that ends by %s', (how) => {
    test.each(PLACES)('%s: the stream continues without loss or repetition', async (_, what, more) => {
      const { work, go } = await begin(transport, { how, what, more }, { reconnect: { minDelayMs: 1 } });
      const { taken, error } = await read(work.stream('numbers'));
      expect(error).toBeUndefined();
      expect(taken).toEqual(ALL);
      go();
      expect(await work.result()).toBe('done');
    });

    test.each(PLACES)(
      '%s without reconnection: the stream, the events and pending reads fail',
      async (_, what, more) => {
        const { work } = await begin(transport, { how, what, more }, { reconnect: false });
        const [numbers, events, never] = await Promise.all([
          read(work.stream('numbers')),
          read(work.events()),
          read(work.stream('never')),
        ]);
        expect(numbers.error).toMatchObject(LOST);
        expect(numbers.taken).toEqual(ALL.slice(0, numbers.taken.length));
        expect(numbers.taken.length).toBeLessThan(COUNT);
        expect(events.error).toMatchObject(LOST);
        expect(never.error).toMatchObject(LOST);
        expect((await read(work.stream('late'))).error).toMatchObject(LOST);
        await expect(work.result()).rejects.toMatchObject(LOST);
      },
    );

    test('after the end of the stream: the stream has ended', async () => {
      const cut = { how, what: 'that was all', more: 0 };
      const { work } = await begin(transport, cut, { reconnect: false });
      const { taken, error } = await read(work.stream('numbers'));
      if (how === 'reset' && error !== undefined) return;
      expect(error).toBeUndefined();
      expect(taken).toEqual(ALL);
    });
  });
});

/** Starts a runtime on standard streams, and forwards its output until the interruption. */
const CUTTING = `
const { spawn } = require('node:child_process');
const [what, more, ...command] = process.argv.slice(1);
const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] });
process.stdin.pipe(child.stdin);
let said = '';
let passed = 0;
child.stdout.setEncoding('latin1').on('data', (text) => {
  said += text;
  const found = said.indexOf(what);
  const end = found < 0 ? -1 : said.indexOf('\\n', found) + 1;
  const to = end > 0 ? Math.min(said.length, end + Number(more)) : said.length;
  process.stdout.write(Buffer.from(said.slice(passed, to), 'latin1'));
  passed = to;
  if (end > 0 && to === end + Number(more)) {
    child.kill();
    process.stdout.end(() => process.exit(0));
  }
});
`;

describe('over standard streams', () => {
  test.each([
    ['between two messages', 0],
    ['within a message', 40],
  ])('a program that ends %s: its stream, its events and its result fail', async (_, more) => {
    const { PROGRAM } = await import('../../helpers/cli.js');
    const serve = [...PROGRAM, 'arcp', 'serve', '--stdio'];
    const args = ['-e', CUTTING, '--', '"sequence":2', String(more), ...serve];
    const client = await connect({ command: process.execPath, args, stderr: 'ignore' }, { reconnect: false });
    ending.push(() => client.disconnect());
    const work = client.invoke('count', { to: 1000, ms: 1 });
    const [numbers, events] = await Promise.all([
      read(work.stream()),
      read(work.events()),
      work.result().catch(() => {}),
    ]);
    expect(numbers.error).toMatchObject(LOST);
    expect(events.error).toMatchObject(LOST);
    await expect(work.result()).rejects.toMatchObject(LOST);
  });
});
