/** ARCP over message queues while the connections to their server are cut or frozen. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import type { Dial } from '../../../src/arcp/client/types.js';
import { dialNats, listenNats } from '../../../src/arcp/queues/nats.js';
import { dialRabbitmq, listenRabbitmq } from '../../../src/arcp/queues/rabbitmq.js';
import { createRuntime, memoryStore, type Runtime } from '../../../src/arcp/runtime/index.js';
import { openNats } from '../../../src/channels/node/nats.js';
import { openRabbitmq } from '../../../src/channels/node/rabbitmq.js';
import type { OpenBus, QueueListener } from '../../../src/channels/queue/dial.js';
import { type CuttingProxy, cuttingProxy } from '../../helpers/cutting-proxy.js';
import { natsHint, natsUrl, rabbitmqHint, rabbitmqUrl } from '../../helpers/message-queues.js';

const STEPS = 40;
const FAST = { heartbeatMs: 100, timeoutMs: 1000, retransmitMs: 50, connectTimeoutMs: 1000 };

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

let names = 0;
const newName = (): string => `test-${process.pid}-${++names}`;

/** A message queue, whose server is reached at a port. */
interface QueueKind {
  readonly server: string;
  readonly listen: (runtime: Runtime, url: string, name: string) => Promise<QueueListener>;
  readonly dial: (url: string, name: string) => Dial;
  readonly open: (url: string) => Promise<OpenBus>;
}

const NATS = { connectOptions: { pingInterval: 200, timeout: 300, reconnectTimeWait: 100 } };
const heartbeats = (url: string): string => `${url}?heartbeat=1`;
const RABBITMQ = { socketOptions: { timeout: 300 } };

const KINDS: Readonly<Record<string, QueueKind>> = {
  [`NATS${natsHint}`]: {
    server: natsUrl,
    listen: (runtime, servers, name) => listenNats(runtime, { ...FAST, ...NATS, servers, name }),
    dial: (servers, name) => dialNats({ ...FAST, ...NATS, servers, name }),
    open: (servers) => openNats({ servers }),
  },
  [`RabbitMQ${rabbitmqHint}`]: {
    server: rabbitmqUrl,
    listen: (runtime, url, name) => listenRabbitmq(runtime, { ...FAST, ...RABBITMQ, url: heartbeats(url), name }),
    dial: (url, name) => dialRabbitmq({ ...FAST, ...RABBITMQ, url: heartbeats(url), name }),
    open: (url) => openRabbitmq({ url }),
  },
};

/** A relay to the server, and the address through it. */
async function relay({ server }: QueueKind): Promise<{ readonly proxy: CuttingProxy; readonly url: string }> {
  const url = new URL(server);
  const proxy = await cuttingProxy({ target: Number(url.port || 5672) });
  ending.push(proxy.close);
  return { proxy, url: server.replace(url.host, `127.0.0.1:${proxy.port}`) };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

/** A runtime and a client that reach the server through a relay each, and a job that reports steps. */
async function world(kind: QueueKind) {
  const name = newName();
  const [ofRuntime, ofClient] = [await relay(kind), await relay(kind)];
  const store = memoryStore();
  const runtime = createRuntime({ store });
  ending.push(() => runtime.close());
  let steps = 0;
  runtime.tool('work', { durable: true }, async (_, { progress }) => {
    for (let n = 0; n < STEPS; n++) {
      await progress({ message: `step ${n}` });
      steps++;
      await sleep(20);
    }
    return 'done';
  });
  const listener = await kind.listen(runtime, ofRuntime.url, name);
  ending.push(listener.close);
  runtime.start();
  const heard: string[] = [];
  const client = await openClient(kind.dial(ofClient.url, name), {
    onMessage: ({ id }) => heard.push(id),
    reconnect: { minDelayMs: 20, maxDelayMs: 200 },
  });
  ending.push(() => client.disconnect());
  /** Compares what the client has heard with the log. */
  const expectAllHeard = async (): Promise<void> => {
    const sessionId = client.session.session_id;
    const stored = (await store.readEvents({ sessionId, limit: Number.POSITIVE_INFINITY })).map(({ id }) => id);
    const known = new Set(stored);
    expect(stored.length).toBeGreaterThan(STEPS);
    expect(heard.filter((id) => known.has(id))).toEqual(stored);
  };
  return { ofRuntime: ofRuntime.proxy, ofClient: ofClient.proxy, client, steps: () => steps, expectAllHeard };
}

const FAULTS = [
  ['cut', 'cut'],
  ['frozen', 'freeze'],
] as const;

for (const [name, kind] of Object.entries(KINDS))
  describe.skipIf(name.includes('(skipped: '))(`a runtime on ${name}`, () => {
    test.each(FAULTS)('listens again after its connection was %s: no message is lost or repeated', async (_, fault) => {
      const { ofRuntime, client, steps, expectAllHeard } = await world(kind);
      const result = client.invoke('work').result();
      await until(() => steps() > 5);
      const before = ofRuntime.connections();
      ofRuntime[fault]();
      ofRuntime.thaw();
      await until(() => ofRuntime.connections() > before);
      expect(await result).toBe('done');
      await expectAllHeard();
      expect(await client.invoke('work').result()).toBe('done');
      await expectAllHeard();
    });

    test.each(FAULTS)(
      'keeps the job of a client whose connection was %s, and sends it what it missed',
      async (_, fault) => {
        const { ofRuntime, ofClient, client, steps, expectAllHeard } = await world(kind);
        const [before, clientBefore] = [ofRuntime.connections(), ofClient.connections()];
        const result = client.invoke('work').result();
        await until(() => steps() > 5);
        ofClient[fault]();
        ofClient.thaw();
        expect(await result).toBe('done');
        await expectAllHeard();
        expect(ofClient.connections()).toBeGreaterThan(clientBefore);
        expect(ofRuntime.connections()).toBe(before);
      },
    );

    test('ignores what others publish on its subjects', async () => {
      const runtime = createRuntime().tool('echo', {}, (input) => input);
      ending.push(() => runtime.close());
      const name = newName();
      ending.push((await kind.listen(runtime, kind.server, name)).close);
      const { bus, close } = await kind.open(kind.server);
      ending.push(close);
      const client = await openClient(kind.dial(kind.server, name));
      ending.push(() => client.disconnect());
      const nonsense = [
        '',
        '\n',
        'open 1 x',
        `open 1 ${'0'.repeat(32)}`,
        'text 2 77 0 9 9\n"forged"',
        '\0'.repeat(100_000),
      ];
      for (let n = 0; n < 10; n++) {
        for (const text of nonsense) bus.publish(`arcp.${name}.connect`, new TextEncoder().encode(text));
        bus.publish(`arcp.${name}.connect`, Uint8Array.from([0xff, 0, 0x0a, 0xfe]));
        expect(await client.invoke('echo', { n }).result()).toEqual({ n });
      }
      const next = await openClient(kind.dial(kind.server, name));
      expect(await next.invoke('echo', { n: 1 }).result()).toEqual({ n: 1 });
      await next.close();
    });

    test('can be closed while its connection is frozen', async () => {
      const runtime = createRuntime();
      const { proxy, url } = await relay(kind);
      const name = newName();
      const listener = await kind.listen(runtime, url, name);
      const client = await openClient(kind.dial(url, name));
      proxy.freeze();
      await client.disconnect();
      await runtime.close();
      await listener.close();
    });

    test('cannot be reached through a frozen server', async () => {
      const { proxy, url } = await relay(kind);
      proxy.freeze();
      const runtime = createRuntime();
      ending.push(() => runtime.close());
      const refused = { code: 'closed', message: expect.stringMatching(/^Cannot connect to (NATS|RabbitMQ) at /) };
      await expect(kind.listen(runtime, url, newName())).rejects.toMatchObject(refused);
      await expect((async () => kind.dial(url, newName())())()).rejects.toMatchObject(refused);
    });
  });
