/** Echo calls over a WebSocket and over NATS, in one interleaved run: `tsx bench/arcp/queue-echo.ts [ROUNDS]`. */
import process from 'node:process';
import { dialOf, openClient } from '../../src/arcp/client/index.js';
import type { Dial } from '../../src/arcp/client/types.js';
import { dialNats, listenNats } from '../../src/arcp/queues/nats.js';
import { createRuntime, listenWebSocket } from '../../src/arcp/runtime/index.js';

const CALLS = 1000;
const PARALLEL = 32;

const servers = process.env['PEGWIRE_TEST_NATS'] ?? 'nats://127.0.0.1:4222';
const name = `bench-${process.pid}`;
const runtime = createRuntime().tool('echo', {}, (input) => input);
const webSocket = await listenWebSocket(runtime, { port: 0 });
const nats = await listenNats(runtime, { servers, name });

/** Returns a function that measures the calls per second of a new client. */
async function rateOver(dial: Dial): Promise<{ readonly rate: () => Promise<number>; readonly close: () => unknown }> {
  const client = await openClient(dial);
  const rate = async (): Promise<number> => {
    let left = CALLS;
    const work = async (): Promise<void> => {
      while (left-- > 0) await client.invoke('echo', { text: 'x'.repeat(100) }, { mode: 'direct' }).result();
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: PARALLEL }, work));
    return (CALLS * 1000) / (performance.now() - start);
  };
  return { rate, close: client.close };
}

const [overWebSocket, overNats] = [await rateOver(dialOf(webSocket.url)), await rateOver(dialNats({ servers, name }))];
const ratios: number[] = [];
const rates: { ws: number; nats: number }[] = [];
for (let round = 0; round <= Number(process.argv[2] ?? 9); round++) {
  const [ws, queue] = [await overWebSocket.rate(), await overNats.rate()];
  // The first round compiles.
  if (round === 0) continue;
  ratios.push(queue / ws);
  rates.push({ ws: Math.round(ws), nats: Math.round(queue) });
}
const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
console.log(JSON.stringify({ calls: CALLS, parallel: PARALLEL, rates, median: Number(median.toFixed(2)) }));
await Promise.all([overWebSocket.close(), overNats.close()]);
await Promise.all([webSocket.close(), nats.close()]);
await runtime.close();
