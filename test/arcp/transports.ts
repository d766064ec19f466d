/** The transports of ARCP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';
import { dialOf } from '../../src/arcp/client/index.js';
import { dialNats, listenNats } from '../../src/arcp/queues/nats.js';
import { dialRabbitmq, listenRabbitmq } from '../../src/arcp/queues/rabbitmq.js';
import { fifoPair, listenFifo, listenUnix, listenWebSocket, type Runtime } from '../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { dialQueue, listenQueue } from '../../src/channels/queue/dial.js';
import { FakeBus } from '../channels/queue/fake-bus.js';
import type { Serve } from '../examples/arcp/stage.js';
import { natsHint, natsUrl, rabbitmqHint, rabbitmqUrl } from '../helpers/message-queues.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-arcp-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
/** Returns the path of a new file. */
export const file = (): string => path.join(folder, String(++files));

/** Timings of a queue on which messages are lost often. */
const FAST = { retransmitMs: 30 };
let names = 0;
const newName = (): string => `test-${process.pid}-${++names}`;

/** A program that connects its standard streams to a socket. */
const BRIDGE = "const s=require('net').connect(process.argv[1]);process.stdin.pipe(s).pipe(process.stdout)";

/** Serves a runtime over each transport. The name of one that is missing on this machine ends with ` (skipped: REASON)`. */
export const TRANSPORTS: Readonly<Record<string, Serve>> = {
  memory: async (runtime) => {
    const dial = (): ReturnType<typeof memoryChannels>[0] => {
      const [here, there] = memoryChannels();
      void runtime.accept(there);
      return here;
    };
    return { dial, close: async () => {} };
  },
  'a WebSocket': async (runtime) => {
    const { url, close } = await listenWebSocket(runtime, { port: 0 });
    return { dial: dialOf(url), close };
  },
  'a Unix-domain socket': async (runtime) => {
    const place = file();
    const { close } = await listenUnix(runtime, place);
    return { dial: dialOf(`unix:${place}`), close };
  },
  TCP: async (runtime) => {
    const { address, close } = await listenUnix(runtime, { port: 0 });
    return { dial: dialOf(`tcp://127.0.0.1:${(address as { readonly port: number }).port}`), close };
  },
  'two named pipes': async (runtime) => {
    const place = file();
    const { close } = await listenFifo(runtime, fifoPair(place));
    return { dial: dialOf(`pipe:${place}`), close };
  },
  // Programs start slowly.
  'standard streams': Object.assign(
    async (runtime: Runtime) => {
      const place = file();
      const { close } = await listenUnix(runtime, place);
      return { dial: dialOf({ command: process.execPath, args: ['-e', BRIDGE, place] }), close };
    },
    { leaseMs: 2000 },
  ),
  'a bus that loses, repeats and reorders': async (runtime) => {
    const bus = new FakeBus(1, { lose: 0.02, repeat: 0.02, reorder: 0.05 });
    const { close } = await listenQueue(bus, 'arcp.test', (channel) => void runtime.accept(channel), FAST);
    return { dial: () => dialQueue(bus, 'arcp.test', FAST), close };
  },
  [`NATS${natsHint}`]: async (runtime) => {
    const options = { servers: natsUrl, name: newName() };
    const { close } = await listenNats(runtime, options);
    return { dial: dialNats(options), close };
  },
  // Connections to RabbitMQ open slowly.
  [`RabbitMQ${rabbitmqHint}`]: Object.assign(
    async (runtime: Runtime) => {
      const options = { url: rabbitmqUrl, name: newName() };
      const { close } = await listenRabbitmq(runtime, options);
      return { dial: dialRabbitmq(options), close };
    },
    { leaseMs: 2000 },
  ),
};
