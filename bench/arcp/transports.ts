/** Direct calls over each transport and over a WebSocket, with both ends in one process. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { type Dial, dialOf, openClient } from '../../src/arcp/client/index.js';
import { listenNats } from '../../src/arcp/queues/nats.js';
import { listenRabbitmq } from '../../src/arcp/queues/rabbitmq.js';
import { listenQuic } from '../../src/arcp/quic/index.js';
import { createRuntime, listenHttp, listenUnix, listenWebSocket, type Runtime } from '../../src/arcp/runtime/index.js';
import type { AsyncRunner } from '../../src/bench/race.js';
import { projectRoot } from '../root.js';

export const WEBSOCKET = 'WebSocket';
export const HTTP2 = 'HTTP/2';
export const NATS = 'NATS';
/** The calls of one pass, and the number of concurrent ones. */
export const CALLS = 500;
const PARALLEL = 32;

const NATS_URL = process.env['PEGWIRE_TEST_NATS'] ?? 'nats://127.0.0.1:4222';
const RABBITMQ_URL = process.env['PEGWIRE_TEST_RABBITMQ'] ?? 'amqp://guest:guest@127.0.0.1:5672';

/** Serves the runtime, and returns how clients reach it. */
type Serve = (runtime: Runtime, name: string) => Promise<Dial>;

const TRANSPORTS: Readonly<Record<string, Serve>> = {
  [WEBSOCKET]: async (runtime) => dialOf((await listenWebSocket(runtime, { port: 0 })).url),
  [HTTP2]: async (runtime) => dialOf((await listenHttp(runtime, { port: 0 })).url.replace('http:', 'http2:')),
  'server-sent events': async (runtime) => dialOf(`sse:${(await listenHttp(runtime, { port: 0 })).url}`),
  'Unix-domain socket': async (runtime) => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'pegwire-bench-')), 'socket');
    await listenUnix(runtime, file);
    return dialOf(`unix:${file}`);
  },
  [NATS]: async (runtime, name) => {
    await listenNats(runtime, { servers: NATS_URL, name });
    return dialOf(`${NATS_URL}/${name}`);
  },
  RabbitMQ: async (runtime, name) => {
    await listenRabbitmq(runtime, { url: RABBITMQ_URL, name });
    return dialOf(`${RABBITMQ_URL}?name=${name}`);
  },
  QUIC: async (runtime) => {
    const certificate = (file: string): string =>
      readFileSync(path.join(projectRoot(), 'test/fixtures/tls', file), 'utf8');
    const tls = { key: certificate('key.pem'), cert: certificate('certificate.pem') };
    const { url } = await listenQuic(runtime, { port: 0, tls });
    return dialOf(url, { ca: tls.cert, serverName: 'localhost' });
  },
};

export interface TransportBench {
  readonly runners: readonly AsyncRunner[];
  /** The transports whose server or package is missing. */
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

/** Opens a client for each transport. They end with the process. @param names the transports besides WebSocket. @default all */
export async function transportBench(names: readonly string[] = Object.keys(TRANSPORTS)): Promise<TransportBench> {
  const runtime = createRuntime().tool('echo', {}, (input) => input);
  const runners: AsyncRunner[] = [];
  const missing: { readonly name: string; readonly why: string }[] = [];
  for (const name of new Set([WEBSOCKET, ...names])) {
    try {
      const client = await openClient(await TRANSPORTS[name]!(runtime, `bench-${process.pid}`));
      const call = async (): Promise<void> => {
        await client.invoke('echo', { text: 'x'.repeat(100) }, { mode: 'direct' }).result();
      };
      runners.push({ name, pass: () => callAll(call) });
    } catch (error) {
      missing.push({ name, why: (error as Error).message });
    }
  }
  return { runners, missing };
}

async function callAll(call: () => Promise<void>): Promise<void> {
  let left = CALLS;
  const work = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}
