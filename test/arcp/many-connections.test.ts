/** Many clients of one listener at the same time; for QUIC, in quic/network.programs.test.ts. */
import process from 'node:process';
import { expect, test } from 'vitest';
import { type Client, openClient } from '../../src/arcp/client/index.js';
import { dialOver } from '../../src/arcp/queues/listen.js';
import { listenNats } from '../../src/arcp/queues/nats.js';
import { listenRabbitmq } from '../../src/arcp/queues/rabbitmq.js';
import { createRuntime } from '../../src/arcp/runtime/index.js';
import { openNats } from '../../src/channels/node/nats.js';
import { openRabbitmq } from '../../src/channels/node/rabbitmq.js';
import type { OpenBus } from '../../src/channels/queue/dial.js';
import type { Serve } from '../examples/arcp/stage.js';
import { natsHint, natsUrl, rabbitmqHint, rabbitmqUrl } from '../helpers/message-queues.js';
import { sized } from '../helpers/runs.js';
import { TRANSPORTS as ALL_TRANSPORTS } from './transports.js';

const CLIENTS = sized(30, 1000);
/** The number of clients that connect at the same time, each of which has ten seconds. */
const AT_ONCE = sized(30, 50);
const name = `test-many-${process.pid}`;

const TRANSPORTS: Readonly<Record<string, Serve>> = {
  ...Object.fromEntries(
    ['a WebSocket', 'HTTP/2', 'server-sent events and POST'].map((transport) => [
      transport,
      ALL_TRANSPORTS[transport]!,
    ]),
  ),
  [`NATS${natsHint}`]: async (runtime) => {
    const { close } = await listenNats(runtime, { servers: natsUrl, name });
    return overOne(await openNats({ servers: natsUrl }), close);
  },
  [`RabbitMQ${rabbitmqHint}`]: async (runtime) => {
    const { close } = await listenRabbitmq(runtime, { url: rabbitmqUrl, name });
    return overOne(await openRabbitmq({ url: rabbitmqUrl }), close);
  },
};

/** Connects over one connection to the server of a queue, which may have too few sockets. */
function overOne({ bus, close }: OpenBus, closeListener: () => Promise<void>): Awaited<ReturnType<Serve>> {
  const dial = dialOver(async () => ({ bus, close: async () => {} }), { name });
  return { dial, close: async () => void (await Promise.all([close(), closeListener()])) };
}

for (const [transport, serve] of Object.entries(TRANSPORTS))
  test.skipIf(transport.includes('(skipped: '))(`each has the answers to its own calls over ${transport}`, async () => {
    const runtime = createRuntime().tool('echo', {}, (input) => input);
    const { dial, close } = await serve(runtime);
    const options = { reconnect: false, timeoutMs: 60_000 } as const;
    const clients: Client[] = [];
    while (clients.length < CLIENTS)
      clients.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => openClient(dial, options)))));
    expect(runtime.counts().connections).toBe(CLIENTS);
    const answers = await Promise.all(clients.map((client, n) => client.invoke('echo', { n }).result()));
    expect(answers).toEqual(clients.map((_client, n) => ({ n })));
    await Promise.all(clients.map((client) => client.close()));
    await close();
    expect(runtime.counts().connections).toBe(0);
    await runtime.close();
  });
