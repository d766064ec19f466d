/** Echoes over QUIC and over a WebSocket in turns, both ends in this process: `npx tsx bench/arcp/quic.ts`. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { dialOf } from '../../src/arcp/client/index.js';
import type { Envelope } from '../../src/arcp/index.js';
import { dialQuic, listenQuic } from '../../src/arcp/quic/index.js';
import { createRuntime, listenWebSocket } from '../../src/arcp/runtime/index.js';
import { type AsyncRunner, raceAsync } from '../../src/bench/race.js';
import type { Channel } from '../../src/channels/channel.js';

const FOLDER = new URL('../../test/fixtures/tls/', import.meta.url);
const tls = {
  key: readFileSync(new URL('key.pem', FOLDER), 'utf8'),
  cert: readFileSync(new URL('certificate.pem', FOLDER), 'utf8'),
};
const WEB_SOCKET = 'WebSocket';
/** The echoes of one pass. */
const ECHOES = 64;

interface Caller {
  /** Calls the tool, and resolves with its answer. */
  readonly echo: (text: string) => Promise<void>;
}

async function callerOf(channel: Channel): Promise<Caller> {
  const waiting = new Map<string, () => void>();
  let session: { readonly session_id?: string } = {};
  const fail = (reason: unknown): never => {
    throw new Error(String(reason));
  };
  channel.start({
    text: (text) => {
      const message = JSON.parse(text) as Envelope;
      if (message.type === 'session.accepted') session = { session_id: message.payload.session_id };
      else if (message.type !== 'tool.result') return void (message.type === 'nack' && fail(text));
      waiting.get(message.correlation_id!)?.();
    },
    invalid: fail,
    tooLong: fail,
    ended: () => {},
  });
  const prefix = randomUUID();
  let number = 0;
  const ask = (type: string, payload: object): Promise<void> =>
    new Promise((resolve) => {
      const id = `${prefix}_${++number}`;
      waiting.set(id, () => {
        waiting.delete(id);
        resolve();
      });
      const head = { arcp: '1.0', id, type, timestamp: new Date().toISOString(), ...session };
      channel.send(JSON.stringify({ ...head, payload }));
    });
  await ask('session.open', { capabilities: {} });
  return { echo: (text) => ask('tool.invoke', { tool: 'echo', arguments: { text } }) };
}

/** Runs the echoes of one pass on each caller in turn, with this number of concurrent ones. */
function runner(name: string, callers: readonly Caller[], parallel: number, text: string): AsyncRunner {
  const pass = async (): Promise<void> => {
    let left = ECHOES;
    const worker = async (_: unknown, at: number): Promise<void> => {
      while (left-- > 0) await callers[at % callers.length]!.echo(text);
    };
    await Promise.all(Array.from({ length: parallel }, worker));
  };
  return { name, pass };
}

const runtime = createRuntime().tool('echo', {}, (input) => input);
const webSocket = await listenWebSocket(runtime, { port: 0 });
const quic = await listenQuic(runtime, { tls, port: 0 });
const dial = dialQuic(quic.url, { ca: tls.cert, serverName: 'localhost' });
const overWebSocket = [await callerOf(await dialOf(webSocket.url)())];
const overStreams = await Promise.all(Array.from({ length: 8 }, async () => callerOf(await dial())));
for (const [title, parallel, text] of [
  ['one at a time', 1, 'hello'],
  ['32 at a time', 32, 'hello'],
  ['8 KiB, four at a time', 4, 'x'.repeat(8 * 1024)],
] as const) {
  const runners = [
    runner(WEB_SOCKET, overWebSocket, parallel, text),
    runner('QUIC, one stream', overStreams.slice(0, 1), parallel, text),
    runner('QUIC, eight streams', overStreams, parallel, text),
  ];
  const results = await raceAsync(runners, { anchor: WEB_SOCKET, rounds: 7, warmUpPasses: 1 });
  for (const { name, nanoseconds, ratio } of results) {
    const perSecond = Math.round((ECHOES * 1e9) / nanoseconds.median);
    console.log(`${title}: ${name}: ${perSecond} echoes a second, ${ratio.median.toFixed(3)} of the WebSocket`);
  }
}
process.exit();
