/** Timers during jumps of the wall clock by an hour: none fires at once, late or twice. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryRegistry, type Registry, sqliteRegistry } from '../src/aacp/fallback/index.js';
import { EndpointSessions } from '../src/accp/bindings/endpoint-sessions.js';
import { ExchangeTimer } from '../src/accp/bindings/http/client.js';
import { ReconnectBackoff as Reconnecting } from '../src/accp/bindings/link/connection.js';
import { startHeartbeat } from '../src/accp/bindings/link/heartbeat.js';
import { createCodec, createSession, type SessionOptions, startTimers } from '../src/accp/codec/index.js';
import { openClient } from '../src/arcp/client/client.js';
import { ArcpError } from '../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  definePolicy,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
} from '../src/arcp/runtime/index.js';
import { RateLimiter } from '../src/arcp/streams/writer.js';
import { withTimeout } from '../src/async/abort.js';
import { after, afterUnref } from '../src/async/timers.js';
import { memoryChannels } from '../src/channels/memory.js';
import { functionTarget } from '../src/fuzz/differential/target.js';
import { sample } from './aacp/registry/sample.js';
import { connectTo, type Wire } from './arcp/runtime/wire.js';

const HOUR = 3_600_000;
/** The duration of each timer of the table, in milliseconds. */
const LENGTH = 60_000;
const SECONDS = LENGTH / 1000;

const ending: (() => unknown)[] = [];
beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 5, 1) }));
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) {
    const ended = Promise.resolve(end());
    await soon(ended);
  }
  vi.useRealTimers();
});

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);
const jump = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds);
/** Returns the wall clock as a new function, so that each row starts a new monotonic clock. */
const wallClock =
  (unitMs = 1) =>
  () =>
    Date.now() / unitMs;

/** Returns how often the timer has fired. */
type Count = () => number | Promise<number>;

/** Counts calls. */
function counting(begin: (goOff: () => void) => void): Count {
  let times = 0;
  begin(() => times++);
  return () => times;
}

/** Counts rejections. */
const failing = (begin: () => Promise<unknown>): Count => counting((goOff) => void begin().catch(goOff));

function runtimeWith(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime({ now: wallClock(), ...options });
  ending.push(() => runtime.close());
  return runtime;
}

/** Advances time in steps until the promise is settled. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => (isSettled = true));
  settled.catch(() => {});
  for (let ms = 0; ms < 100 && !isSettled; ms++) await pass(1);
  return settled;
}

async function opened(runtime: Runtime): Promise<Wire> {
  const wire = connectTo(runtime);
  await soon(wire.open());
  return wire;
}

/** Counts messages of a type of a job. */
async function jobCount(runtime: Runtime, type: string, payload = {}): Promise<Count> {
  const wire = await opened(runtime);
  await soon(wire.startJob('work', payload));
  return () => wire.types().filter((one) => one === type).length;
}

const never = (): Promise<never> => new Promise(() => {});
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

function sessionWith(options: Partial<SessionOptions> = {}) {
  const codec = createCodec({ now: wallClock() });
  const session = createSession({ agent: 'a', id: 's', sequence: 'sender', ...options });
  codec.encode({ intent: 'sync', operation: 'begin', payload: {} }, session);
  return { codec, session };
}

/** Counts how often another holder takes a reservation that is not renewed. */
function reservation(holder: Registry, other: Registry): Count {
  ending.push(
    () => holder.close(),
    () => other.close(),
  );
  holder.reserve('k', LENGTH);
  let times = 0;
  other.reserve('k', LENGTH);
  return () => (times += other.reserve('k', 100 * HOUR).kind === 'granted' ? 1 : 0);
}

/** A store that several runtimes share and none closes. */
function shared(): ArcpStore {
  return { ...memoryStore({ now: wallClock() }), close: async () => {} };
}

/** A runtime whose tool `work` reports its start, and runs for ten leases. */
function worker(store: ArcpStore, begins: () => void): Runtime {
  return runtimeWith({ store, workers: { leaseMs: LENGTH } }).tool('work', { durable: true }, async () => {
    begins();
    await new Promise((resolve) => setTimeout(resolve, 10 * LENGTH));
  });
}

const TIMERS: readonly [name: string, begin: () => Count | Promise<Count>][] = [
  ['a delayed call', () => counting((goOff) => after(LENGTH, goOff))],
  ['a delayed call that does not keep the process alive', () => counting((goOff) => afterUnref(LENGTH, goOff))],
  [
    'the limit of a call of a model',
    () => failing(() => withTimeout(new AbortController().signal, LENGTH, untilAborted)),
  ],
  [
    'entries of a registry',
    () => {
      const registry = memoryRegistry({ ttlMs: LENGTH, now: wallClock() });
      registry.put(sample(5));
      return () => (registry.get(sample(5).key) === undefined ? 1 : 0);
    },
  ],
  [
    'a reservation in memory',
    () => {
      const registry = memoryRegistry({ now: wallClock() });
      return reservation(registry, registry);
    },
  ],
  [
    'a reservation of another process',
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'jumps-'));
      ending.push(() => rmSync(folder, { recursive: true, force: true }));
      const open = () => sqliteRegistry(path.join(folder, 'registry.db'), { now: wallClock() });
      return reservation(await open(), await open());
    },
  ],
  [
    'an answer over HTTP',
    () =>
      failing(() => {
        const patience = new ExchangeTimer(undefined, LENGTH);
        return patience.wait(never);
      }),
  ],
  [
    'the heartbeat of a WebSocket',
    () =>
      counting((goOff) => {
        const socket = { isReadingStopped: false, terminate: goOff };
        startHeartbeat({ heartbeatMs: LENGTH / 3, maxMissed: 2 }, socket, () => undefined);
      }),
  ],
  [
    'the time after which a connection resets the count of attempts',
    () => {
      const pacer = new Reconnecting({ minDelayMs: 1000, maxDelayMs: LENGTH });
      const waits = pacer.delays();
      for (let tries = 0; tries < 6; tries++) waits.next();
      pacer.opened();
      return () => (pacer.delays().next().value! <= 1000 ? 1 : 0);
    },
  ],
  [
    'an idle session',
    () => {
      const sessions = new EndpointSessions({ agent: 'a', idleTimeoutMs: LENGTH, session: { now: wallClock() } });
      const idle = sessions.open('idle');
      let others = 0;
      return () => {
        sessions.open(`other${++others}`);
        try {
          idle.tick();
          return 0;
        } catch {
          return 1;
        }
      };
    },
  ],
  [
    'an answer of the other side of a session',
    () => {
      const { codec, session } = sessionWith({ timeoutMs: LENGTH });
      codec.encode({ intent: 'req', operation: 'go', payload: {} }, session);
      return counting((goOff) => ending.push(startTimers(session, { onOverdue: goOff })));
    },
  ],
  [
    'chunks of a stream',
    () => {
      const { session } = sessionWith({ streamTimeoutMs: LENGTH });
      ending.push(startTimers(session));
      return failing(() => session.stream('c')[Symbol.asyncIterator]().next());
    },
  ],
  [
    'parts of a message',
    () => {
      const events: string[] = [];
      const codec = createCodec({ now: wallClock(), log: ({ type }) => events.push(type) });
      const session = createSession({ agent: 'b', id: 's', sequence: 'sender', timeoutMs: LENGTH });
      codec.decode('@a>req:go{k:1}[mid:m1,seq:1,ts:1,cid:c,idx:0,tot:2]', session);
      ending.push(startTimers(session));
      return () => events.filter((type) => type === 'timeout').length;
    },
  ],
  ...(['hot', 'warm', 'cold'] as const).map((tier): [string, () => Count] => [
    `a value of the ${tier} tier`,
    () => {
      const { session } = sessionWith();
      session.state.set(tier, 'k', 1, { ttlMs: LENGTH });
      return () => (session.state.get(tier, 'k') === undefined ? 1 : 0);
    },
  ]),
  [
    'a frame of a peer whose clock does not jump',
    () => {
      const { codec, session } = sessionWith();
      const sent = Math.floor(Date.now() / 1000);
      let seq = 0;
      return () => {
        const frame = `@b>sync:go{k:1}[mid:m${++seq},seq:${seq},ts:${sent},ttl:${SECONDS}]`;
        return codec.decode(frame, session).outcome === 'dropped' ? 1 : 0;
      };
    },
  ],
  [
    'the timeout of a job',
    () =>
      jobCount(
        runtimeWith().tool('work', { durable: true, timeoutMs: LENGTH }, (_, { signal }) => untilAborted(signal)),
        'job.cancelled',
      ),
  ],
  [
    'the timeout of a queued job',
    () => {
      const runtime = runtimeWith({ workers: { queues: ['other'] } });
      return jobCount(runtime.tool('work', { durable: true, timeoutMs: LENGTH }, never), 'job.cancelled');
    },
  ],
  [
    'the delay before a retry',
    () => {
      let attempts = 0;
      const retry = { maxAttempts: 2, backoffMs: LENGTH };
      return jobCount(
        runtimeWith().tool('work', { durable: true, retry }, () => {
          if (++attempts === 1) throw new ArcpError('UNAVAILABLE', 'not yet');
        }),
        'job.completed',
      );
    },
  ],
  [
    'an answer to a permission request',
    () => {
      const policy = definePolicy({ decide: () => 'challenge', answerTimeoutMs: LENGTH });
      const work = { durable: true, permissions: ['shell.execute'] };
      return jobCount(
        runtimeWith({ policy }).tool('work', work, (_, { permission }) => permission({ permission: 'shell.execute' })),
        'job.failed',
      );
    },
  ],
  [
    'a lease',
    () => {
      const policy = definePolicy({ decide: () => 'auto' });
      const work = { durable: true, permissions: ['shell.execute'] };
      return jobCount(
        runtimeWith({ policy }).tool('work', work, async (_, { permission }) => {
          const lease = await permission({ permission: 'shell.execute', leaseMs: LENGTH });
          for (;;) {
            await lease.use();
            await new Promise((resolve) => setTimeout(resolve, 1000));
          }
        }),
        'job.failed',
      );
    },
  ],
  [
    'the end after the grace period',
    async () => {
      const runtime = runtimeWith().tool('work', { durable: true }, never);
      const wire = await opened(runtime);
      const { jobId } = await soon(wire.startJob('work'));
      await soon(runtime.cancel(jobId, { deadlineMs: LENGTH }));
      return () => wire.types().filter((type) => type === 'job.cancelled').length;
    },
  ],
  [
    'draining',
    async () => {
      const runtime = runtimeWith().tool('work', { durable: true }, (_, { signal }) => untilAborted(signal));
      await soon((await opened(runtime)).startJob('work'));
      return counting((goOff) => void runtime.drain(LENGTH).then(goOff));
    },
  ],
  [
    'the heartbeat of a connection',
    async () => {
      const wire = await opened(runtimeWith({ heartbeatMs: LENGTH / 4 }));
      wire.answersPings = false;
      return () => (wire.hasEnded ? 1 : 0);
    },
  ],
  [
    'opening a session',
    () => failing(() => openClient(() => memoryChannels()[0], { timeoutMs: LENGTH, reconnect: { minDelayMs: 1000 } })),
  ],
  [
    'the answer to a command of a client',
    async () => {
      const [here, there] = memoryChannels();
      void runtimeWith({ heartbeatMs: HOUR }).accept(there);
      let isCut = false;
      const channel = { ...here, send: (text: string) => (isCut ? undefined : here.send(text)) };
      const client = await soon(openClient(() => channel, { timeoutMs: LENGTH }));
      ending.push(() => client.disconnect());
      isCut = true;
      return failing(() => client.ping());
    },
  ],
  [
    'the answer of a tested implementation',
    () =>
      counting(
        (goOff) =>
          void functionTarget('t', never, { timeoutMs: LENGTH })
            .read({} as never)
            .then(goOff),
      ),
  ],
  [
    'the window of a session',
    async () => {
      const runtime = runtimeWith({ resumeWindowMs: LENGTH });
      const left: { readonly session_id: string; readonly resume_token: string }[] = [];
      for (let n = 0; n < 3; n++) {
        const wire = connectTo(runtime);
        left.push((await soon(wire.open())).payload as never);
        wire.channel.destroy();
      }
      await pass(0);
      return async () => {
        const { session_id, resume_token } = left.shift()!;
        const wire = connectTo(runtime);
        wire.send('session.open', { capabilities: {}, resume_token }, { session_id });
        await pass(10);
        return wire.types().includes('nack') ? 1 : 0;
      };
    },
  ],
  [
    'the retention of jobs',
    async () => {
      const runtime = runtimeWith({ retentionMs: LENGTH }).tool('work', { durable: true }, () => 1);
      const wire = await opened(runtime);
      await soon(wire.untilEnded((await soon(wire.startJob('work'))).jobId));
      let jobs = 0;
      return async () => (jobs += (await soon(runtime.trim())).jobs);
    },
  ],
  [
    'the rate of a stream',
    async () => {
      const pacer = new RateLimiter(() => performance.now());
      pacer.set('reader', { rate: 1 / SECONDS, maxBytes: Number.POSITIVE_INFINITY });
      await pacer.acquire(new AbortController().signal);
      return counting((goOff) => void pacer.acquire(new AbortController().signal).then(goOff));
    },
  ],
  [
    'the lease of a crashed runtime',
    async () => {
      const store = shared();
      const holder = worker(store, () => {});
      await soon((await opened(holder)).startJob('work'));
      await soon(holder.close());
      return counting((goOff) => worker(store, goOff).start());
    },
  ],
];

describe.each([
  ['forward', HOUR],
  ['back', -HOUR],
])('while the clock jumps an hour %s', (_, by) => {
  test.each(TIMERS)('%s: ends in time, and once', async (_name, begin) => {
    const count = await begin();
    await pass(LENGTH / 2);
    jump(by);
    await pass(0.4 * LENGTH);
    expect(await count(), 'at once').toBe(0);
    await pass(1.1 * LENGTH);
    expect(await count(), 'in its time').toBe(1);
    await pass(LENGTH);
    expect(await count(), 'once').toBe(1);
  });

  test.each(['before', 'after'])(
    'the lease of a live runtime is not taken by one that starts %s the jump',
    async (when) => {
      let begun = 0;
      const store = shared();
      const holder = worker(store, () => begun++);
      const wire = await opened(holder);
      const { jobId } = await soon(wire.startJob('work'));
      const other = worker(store, () => begun++);
      if (when === 'before') other.start();
      await pass(LENGTH / 2);
      jump(by);
      // A new process would start with the new time.
      if (when === 'after') worker({ ...store, now: wallClock() }, () => begun++).start();
      await pass(10 * LENGTH);
      expect(begun).toBe(1);
      expect((await soon(wire.untilEnded(jobId))).type).toBe('job.completed');
    },
  );
});
