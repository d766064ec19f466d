/**
 * Direct calls over each transport against a WebSocket, in one interleaved run, with both ends in this process:
 *
 *     npx tsx bench/arcp/transports.ts [ROUNDS]
 *
 * Transports whose server or package is missing are left out, and named.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { type Client, type Dial, dialOf, openClient } from '../../src/arcp/client/index.js';
import { listenNats } from '../../src/arcp/queues/nats.js';
import { listenRabbitmq } from '../../src/arcp/queues/rabbitmq.js';
import { listenQuic } from '../../src/arcp/quic/index.js';
import { createRuntime, listenHttp, listenUnix, listenWebSocket, type Runtime } from '../../src/arcp/runtime/index.js';

/** The calls of one pass, and how many of them wait for their answer at the same time. */
const CALLS = 500;
const PARALLEL = 32;
const ROUNDS = Number(process.argv[2] ?? 7);
const BASE = 'WebSocket';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-'));
const certificate = (file: string): string =>
  readFileSync(new URL(`../../test/fixtures/tls/${file}`, import.meta.url), 'utf8');
const tls = { key: certificate('key.pem'), cert: certificate('certificate.pem') };
const NATS = process.env['PEGWIRE_TEST_NATS'] ?? 'nats://127.0.0.1:4222';
const RABBITMQ = process.env['PEGWIRE_TEST_RABBITMQ'] ?? 'amqp://guest:guest@127.0.0.1:5672';

/** Serves the runtime, and returns how clients reach it. */
type Serve = (runtime: Runtime, name: string) => Promise<Dial>;

const TRANSPORTS: Readonly<Record<string, Serve>> = {
  [BASE]: async (runtime) => dialOf((await listenWebSocket(runtime, { port: 0 })).url),
  'HTTP/2': async (runtime) => dialOf((await listenHttp(runtime, { port: 0 })).url.replace('http:', 'http2:')),
  'server-sent events': async (runtime) => dialOf(`sse:${(await listenHttp(runtime, { port: 0 })).url}`),
  'Unix-domain socket': async (runtime) => {
    const file = path.join(folder, 'socket');
    await listenUnix(runtime, file);
    return dialOf(`unix:${file}`);
  },
  NATS: async (runtime, name) => {
    await listenNats(runtime, { servers: NATS, name });
    return dialOf(`${NATS}/${name}`);
  },
  RabbitMQ: async (runtime, name) => {
    await listenRabbitmq(runtime, { url: RABBITMQ, name });
    return dialOf(`${RABBITMQ}?name=${name}`);
  },
  QUIC: async (runtime) => {
    const { url } = await listenQuic(runtime, { port: 0, tls });
    return dialOf(url, { ca: tls.cert, serverName: 'localhost' });
  },
};

async function callsPerSecond(client: Client): Promise<number> {
  let left = CALLS;
  const work = async (): Promise<void> => {
    while (left-- > 0) await client.invoke('echo', { text: 'x'.repeat(100) }, { mode: 'direct' }).result();
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return (CALLS * 1000) / (performance.now() - start);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const runtime = createRuntime().tool('echo', {}, (input) => input);
const clients = new Map<string, Client>();
for (const [name, serve] of Object.entries(TRANSPORTS)) {
  try {
    clients.set(name, await openClient(await serve(runtime, `bench-${process.pid}`)));
  } catch (error) {
    console.log(`${name} is left out: ${(error as Error).message}`);
  }
}
const rates = new Map([...clients.keys()].map((name) => [name, [] as number[]]));
// The first round compiles.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, client] of clients) {
    const rate = await callsPerSecond(client);
    if (round > 0) rates.get(name)!.push(rate);
  }
for (const [name, own] of rates) {
  const ratio = median(own.map((rate, round) => rate / rates.get(BASE)![round]!));
  console.log(`${name.padEnd(20)} ${String(Math.round(median(own))).padStart(6)} calls/s  ${ratio.toFixed(2)}x`);
}
for (const client of clients.values()) await client.close();
await runtime.close();
rmSync(folder, { recursive: true });
process.exit();
