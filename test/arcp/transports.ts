/** The transports of ARCP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';
import { dialOf } from '../../src/arcp/client/index.js';
import { listenNats } from '../../src/arcp/queues/nats.js';
import { listenRabbitmq } from '../../src/arcp/queues/rabbitmq.js';
import { listenQuic } from '../../src/arcp/quic/index.js';
import { fifoPair, listenFifo, listenHttp, listenUnix, listenWebSocket } from '../../src/arcp/runtime/index.js';
import type { Channel, Receiver } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { dialQueue, listenQueue } from '../../src/channels/queue/dial.js';
import { FakeBus } from '../channels/queue/fake-bus.js';
import type { Serve } from '../examples/arcp/stage.js';
import { natsHint, natsUrl, rabbitmqHint, rabbitmqUrl } from '../helpers/message-queues.js';
import { quicDriver, quicHint, tls } from '../helpers/quic.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-arcp-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
/** Returns the path of a new file. */
export const file = (): string => path.join(folder, String(++files));

let names = 0;
const newName = (): string => `test-${process.pid}-${++names}`;

const TOGETHER_MS = 10;

/**
 * Delivers the messages together that arrive within a moment, as other transports do. Otherwise, a client answers the first before it has the
 * second, and the order of the messages of both sides varies.
 */
function together(dial: () => Channel | Promise<Channel>): () => Promise<Channel> {
  return async () => {
    const channel = await dial();
    const start = (receiver: Receiver): void => {
      const texts: string[] = [];
      const deliver = (): void => {
        for (const text of texts.splice(0)) receiver.text(text);
      };
      channel.start({
        ...receiver,
        text: (text) => {
          if (texts.push(text) === 1) setTimeout(deliver, TOGETHER_MS);
        },
        ended: (error) => {
          deliver();
          receiver.ended(error);
        },
      });
    };
    return { ...channel, start };
  };
}

/** A program that connects its standard streams to a socket. */
const BRIDGE =
  "const s=require('net').connect(process.argv[1]).on('error',()=>{}).on('close',()=>process.exit());process.stdin.pipe(s).pipe(process.stdout)";

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
  'HTTP/2': async (runtime) => {
    const { url, close } = await listenHttp(runtime, { port: 0 });
    return { dial: dialOf(url.replace('http:', 'http2:')), close };
  },
  'server-sent events and POST': async (runtime) => {
    const { url, close } = await listenHttp(runtime, { port: 0 });
    return { dial: dialOf(`sse:${url}`), close };
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
  [`QUIC${quicHint}`]: async (runtime) => {
    const { url, close } = await listenQuic(runtime, { driver: quicDriver(), tls, port: 0 });
    return { dial: dialOf(url, { ca: tls.cert, serverName: 'localhost' }), close };
  },
  'standard streams': async (runtime) => {
    const place = file();
    const { close } = await listenUnix(runtime, place);
    return { dial: dialOf({ command: process.execPath, args: ['-e', BRIDGE, place] }), close };
  },
  // A bus that delays messages, too, would change their order.
  'a message bus that repeats': async (runtime) => {
    const bus = new FakeBus(1, { repeat: 0.3 });
    const { close } = await listenQueue(bus, 'arcp.test', (channel) => void runtime.accept(channel));
    return { dial: together(() => dialQueue(bus, 'arcp.test')), close };
  },
  [`NATS${natsHint}`]: async (runtime) => {
    const options = { servers: natsUrl, name: newName() };
    const { close } = await listenNats(runtime, options);
    return { dial: together(dialOf(`${natsUrl}/${options.name}`)), close };
  },
  [`RabbitMQ${rabbitmqHint}`]: async (runtime) => {
    const options = { url: rabbitmqUrl, name: newName() };
    const { close } = await listenRabbitmq(runtime, options);
    return { dial: together(dialOf(`${rabbitmqUrl}?name=${options.name}`)), close };
  },
};
