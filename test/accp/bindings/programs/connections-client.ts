/**
 * Many connections in one process, each with about one request per second: `client.mjs URL CONNECTIONS SECONDS`. Its last line is the
 * summary.
 */
import process from 'node:process';
import { WebSocket } from 'ws';
import { connectWebSocket, type Link } from '../../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type Session } from '../../../../src/accp/codec/index.js';
import { tell } from '../../../helpers/tell.js';

export interface ClientFigures {
  readonly connections: number;
  readonly requests: number;
  readonly errors: number;
  /** The first error. */
  readonly messages: readonly string[];
  readonly rss: { readonly start: number; readonly peak: number; readonly end: number };
}

/** Connections that are opened concurrently. */
const AT_A_TIME = 50;

const [url, count, seconds] = process.argv.slice(2);
const start = process.memoryUsage.rss();
const codec = createCodec();
const links: Link[] = [];
const sessions: Session[] = [];
const messages: string[] = [];
let requests = 0;
let errors = 0;
let isOver = false;

const failed = (error: unknown): void => {
  errors++;
  if (messages.length < 10) messages.push(String(error));
};

async function open(n: number): Promise<void> {
  const session = createSession({ agent: 'client', id: `connection-${n}`, sequence: 'sender' });
  sessions.push(session);
  try {
    const link = await connectWebSocket(url!, {
      ...{ codec, session, WebSocket, handshakeTimeoutMs: 60_000 },
      onError: failed,
      onState: (state, cause) => {
        if (state !== 'open' && !isOver) failed(cause ?? new Error(`connection ${n} is ${state}`));
      },
    });
    links.push(link);
  } catch (thrown) {
    failed(thrown);
  }
}

/** Sends about one request per second, and checks the answers. */
async function talk(link: Link, name: string, until: number): Promise<void> {
  for (let n = 0; n === 0 || Date.now() < until; n++) {
    // The first requests are spread over the first second.
    await new Promise((resolve) => setTimeout(resolve, n === 0 ? Math.random() * 1000 : 500 + Math.random() * 1000));
    try {
      const { payload } = await link.request({ intent: 'req', operation: 'echo', payload: { name, n } });
      if (payload['name'] !== name || payload['n'] !== n) failed(new Error(`${name} got another answer to ${n}`));
      requests++;
    } catch (thrown) {
      failed(thrown);
      return;
    }
  }
}

process.stdin.on('end', () => process.exit()).resume();
let next = 0;
await Promise.all(
  Array.from({ length: AT_A_TIME }, async () => {
    while (next < Number(count)) await open(next++);
  }),
);
const connections = links.length;
tell(String(connections));
const until = Date.now() + Number(seconds) * 1000;
await Promise.all(links.map((link) => talk(link, link.session.id, until)));
const figures: ClientFigures = {
  ...{ connections, requests, errors, messages },
  rss: { start, peak: process.resourceUsage().maxRSS * 1024, end: process.memoryUsage.rss() },
};
tell(JSON.stringify(figures));
isOver = true;
await Promise.all(links.map((link) => link.close()));
for (const session of sessions) session.close();
process.exit();
