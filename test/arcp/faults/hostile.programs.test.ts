/** Hostile clients: the runtime answers them or ends their connections, and others are not affected. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect as connectNet } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../../src/arcp/client/index.js';
import { type Envelope, MESSAGE_TYPES } from '../../../src/arcp/index.js';
import { createRuntime, listenUnix, type Runtime, sqliteStore } from '../../../src/arcp/runtime/index.js';
import { memoryInUse } from '../../helpers/memory.js';
import { runs } from '../../helpers/runs.js';
import { MESSAGE_CASES } from '../messages.js';
import { connectTo, type Wire } from '../runtime/wire.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'pegwire-hostile-'));
  ending.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function start(): { readonly runtime: Runtime; readonly defects: unknown[] } {
  const defects: unknown[] = [];
  const runtime = createRuntime({ onError: (error) => defects.push(error) })
    .tool('echo', {}, (input) => input)
    .tool('job', { durable: true }, (input) => input)
    .agent('agent', {}, ({ task }) => task);
  ending.push(() => runtime.close());
  return { runtime, defects };
}

/** Any JSON value. */
const json = fc.jsonValue({ maxDepth: 3 });
/** Messages of every type, with valid or arbitrary members. */
const messages = fc.record(
  {
    arcp: fc.oneof({ weight: 9, arbitrary: fc.constant('1.0') }, json),
    id: fc.oneof({ weight: 5, arbitrary: fc.uuid() }, json),
    type: fc.oneof({ weight: 9, arbitrary: fc.constantFrom<string>(...MESSAGE_TYPES) }, fc.string()),
    timestamp: fc.oneof({ weight: 9, arbitrary: fc.constant('2026-05-07T21:30:00Z') }, json),
    session_id: fc.oneof({ weight: 9, arbitrary: fc.constant('SESSION') }, json),
    job_id: fc.oneof(fc.constantFrom('job_1', 'job_2'), json),
    stream_id: fc.oneof(fc.constantFrom('str_1', 'str_2'), json),
    correlation_id: fc.oneof(fc.constantFrom('msg_1'), json),
    payload: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...MESSAGE_CASES.flatMap(({ minimal, full }) => [minimal, full])) },
      json,
    ),
  },
  { requiredKeys: [] },
);

/** Sends a message that a live session answers. */
async function isAlive(wire: Wire): Promise<void> {
  const sent = wire.send('tool.invoke', { tool: 'echo', arguments: { alive: true } });
  expect((await wire.answer('tool.result', sent)).payload.result).toEqual({ alive: true });
}

describe('arbitrary messages', () => {
  test('are answered or accepted, and all sessions continue', async () => {
    const { runtime, defects } = start();
    const other = connectTo(runtime);
    await other.open();
    await fc.assert(
      fc.asyncProperty(fc.array(messages, { minLength: 1, maxLength: 20 }), async (all) => {
        const wire = connectTo(runtime);
        await wire.open();
        // Other tests close the session or flood it with invalid texts.
        for (const message of all) {
          if (message.type === 'session.close') continue;
          wire.channel.send(JSON.stringify(message).replace('"SESSION"', JSON.stringify(wire.sessionId)));
        }
        await Promise.race([isAlive(wire), wire.ended()]);
        for (const { type } of wire.heard) expect(MESSAGE_TYPES).toContain(type);
        await isAlive(other);
        wire.channel.destroy();
      }),
      runs(150),
    );
    expect(defects).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each([
    ['a prototype', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'],
    ['depth', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a number beyond the range of a double', '1e999999'],
    ['a repeated member', '{"arcp":"1.0","arcp":"2.0"}'],
    ['an unpaired surrogate', '"\\ud800"'],
    ['nothing', ''],
    ['a comment', '// {}'],
  ])('%s is refused', async (name, text) => {
    const { runtime, defects } = start();
    const wire = connectTo(runtime);
    await wire.open();
    wire.channel.send(text);
    const refused = await wire.until(({ type }) => type === 'nack');
    expect(refused.payload).toMatchObject({ code: name === 'depth' ? 'PAYLOAD_TOO_LARGE' : 'INVALID_ARGUMENT' });
    await isAlive(wire);
    expect(defects).toEqual([]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('with __proto__ in arguments reach the tool unchanged', async () => {
    const wire = connectTo(start().runtime);
    await wire.open();
    const id = wire.send('ping').id;
    await wire.answer('pong', { id });
    wire.channel.send(
      `{"arcp":"1.0","id":"p","type":"tool.invoke","timestamp":"2026-05-07T21:30:00Z","session_id":"${wire.sessionId}","payload":{"tool":"echo","arguments":{"__proto__":{"polluted":1}}}}`,
    );
    const result = await wire.until(({ type }) => type === 'tool.result' || type === 'nack');
    expect(result.type).toBe('tool.result');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('in large numbers are all answered, in linear time', async () => {
    const wire = connectTo(start().runtime);
    await wire.open();
    const sent = Array.from({ length: 20_000 }, (_, n) =>
      wire.send('tool.invoke', { tool: n % 2 === 0 ? 'nothing' : 'echo' }),
    );
    await wire.until((message) => message.correlation_id === sent.at(-1)!.id && message.type !== 'ack');
    await isAlive(wire);
  });
});

describe('arbitrary bytes', () => {
  test('on a socket are answered or end the connection, and others continue', async () => {
    const { runtime } = start();
    const socket = path.join(folder(), 'socket');
    const listener = await listenUnix(runtime, socket, { maxLineBytes: 100_000 });
    ending.push(() => listener.close());
    const other = await connect(`unix:${socket}`);
    ending.push(() => other.disconnect());
    const pieces = [
      ...Array.from({ length: 20 }, () => randomBytes(10_000)),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from('x'.repeat(200_000)),
      Buffer.from('{"arcp":"1.0","id":"cut off in the mid'),
      Buffer.alloc(50_000, '\n'),
    ];
    for (const piece of pieces) {
      const client = connectNet(socket);
      client.on('error', () => {});
      const over = new Promise((resolve) => client.once('close', resolve));
      client.resume();
      client.end(piece);
      await over;
      expect(await other.invoke('echo', { n: 1 }).result()).toEqual({ n: 1 });
    }
  });
});

describe('a client that does not read', () => {
  test('does not cost memory or slow down others, and receives all messages later', {
    timeout: 600_000,
  }, async () => {
    const isLong = process.env['LONG_RUNS'] !== undefined;
    const [messagesOfIt, size] = isLong ? [200_000, 5000] : [20_000, 15_000];
    const place = folder();
    const runtime = createRuntime({ store: await sqliteStore(path.join(place, 'arcp.db')) })
      .tool('echo', {}, (input) => input)
      .tool('flood', { durable: true }, async (_, { progress }) => {
        for (let n = 0; n < messagesOfIt; n++) {
          const said = progress({ current: n, message: 'x'.repeat(size) });
          if (n % 500 === 499) await said;
        }
        return 'flooded';
      });
    ending.push(() => runtime.close());
    const socket = path.join(place, 'socket');
    const listener = await listenUnix(runtime, socket);
    ending.push(() => listener.close());
    const other = await connect(`unix:${socket}`);
    ending.push(() => other.disconnect());
    const heard: Envelope[] = [];
    let buffered = '';
    const slow = connectNet(socket);
    ending.push(() => slow.destroy());
    const say = (message: object): void =>
      void slow.write(`${JSON.stringify({ arcp: '1.0', timestamp: '2026-05-07T21:30:00Z', ...message })}\n`);
    const until = async (is: (message: Envelope) => boolean): Promise<Envelope> => {
      for (;;) {
        const found = heard.find(is);
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    const read = (data: Buffer): void => {
      const lines = `${buffered}${data}`.split('\n');
      buffered = lines.pop()!;
      for (const line of lines) {
        const { type, id, payload, session_id, correlation_id } = JSON.parse(line) as Envelope;
        heard.push({
          type,
          id,
          correlation_id,
          session_id,
          payload: type === 'job.progress' ? { current: (payload as { current: number }).current } : payload,
        } as Envelope);
      }
    };
    slow.on('data', read);
    say({ id: 'open', type: 'session.open', payload: { capabilities: { durable_jobs: true } } });
    const { session_id: sessionId } = await until(({ type }) => type === 'session.accepted');
    say({ id: 'go', type: 'tool.invoke', session_id: sessionId, payload: { tool: 'flood' } });
    await until(({ type }) => type === 'job.started');
    slow.pause();
    const before = memoryInUse();
    let most = before;
    let calls = 0;
    for (let jobs = 1; jobs > 0; { jobs } = runtime.counts()) {
      expect(await other.invoke('echo', { n: calls }).result()).toEqual({ n: calls });
      if (calls++ % 10 === 0) most = Math.max(most, memoryInUse());
    }
    // Others are served meanwhile. The messages wait in the store, not in memory.
    expect(calls).toBeGreaterThan(10);
    expect(most - before).toBeLessThan(30 * 2 ** 20);
    slow.resume();
    await until(({ type }) => type === 'job.completed');
    const numbers = heard.flatMap((one) => (one.type === 'job.progress' ? [one.payload.current] : []));
    expect(numbers.length).toBe(messagesOfIt);
    expect(numbers.every((number, at) => number === at)).toBe(true);
  });
});
