/** Direct calls over a WebSocket and over HTTP/2, in one interleaved run: `tsx bench/arcp/http2-echo.ts [ROUNDS]`. */
import process from 'node:process';
import { dialOf, openClient } from '../../src/arcp/client/index.js';
import { createRuntime, listenHttp, listenWebSocket } from '../../src/arcp/runtime/index.js';

const CALLS = 1000;
const PARALLEL = 32;

const runtime = createRuntime().tool('echo', {}, (input) => input);
const webSocket = await listenWebSocket(runtime, { port: 0 });
const http = await listenHttp(runtime, { port: 0 });

/** Returns a function that measures the calls per second of a new client. */
async function rateOver(url: string): Promise<{ readonly rate: () => Promise<number>; readonly close: () => unknown }> {
  const client = await openClient(dialOf(url));
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

const overWebSocket = await rateOver(webSocket.url);
const overHttp2 = await rateOver(http.url.replace('http:', 'http2:'));
const ratios: number[] = [];
const rates: { ws: number; http2: number }[] = [];
for (let round = 0; round <= Number(process.argv[2] ?? 9); round++) {
  const [ws, http2] = [await overWebSocket.rate(), await overHttp2.rate()];
  // The first round compiles.
  if (round === 0) continue;
  ratios.push(http2 / ws);
  rates.push({ ws: Math.round(ws), http2: Math.round(http2) });
}
const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
console.log(JSON.stringify({ calls: CALLS, parallel: PARALLEL, rates, median: Number(median.toFixed(2)) }));
await Promise.all([overWebSocket.close(), overHttp2.close()]);
await Promise.all([webSocket.close(), http.close()]);
await runtime.close();
