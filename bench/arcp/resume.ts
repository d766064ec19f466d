/** Measures the memory that a session needs to receive many missed messages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { WebSocket } from 'ws';
import { createRuntime, listenWebSocket, sqliteStore } from '../../src/arcp/runtime/index.js';

export interface Resumed {
  readonly events: number;
  readonly seconds: number;
  /** The maximum growth of the process. */
  readonly megabytes: number;
}

/** @param events the number of messages that the session has missed */
export async function resumed(events: number): Promise<Resumed> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-'));
  const runtime = createRuntime({ store: await sqliteStore(path.join(folder, 'runtime.db')) }).tool(
    'talk',
    { durable: true },
    async (_, { progress }) => {
      for (let n = 0; n < events; n++) {
        const sent = progress({ current: n, message: 'so far' });
        if (n % 1000 === 999) await sent;
      }
    },
  );
  const { url, close } = await listenWebSocket(runtime, { port: 0 });
  const first = await connected(url);
  const opened = await first.ask('session.open', { capabilities: { durable_jobs: true } }, 'session.accepted');
  const { session_id, resume_token } = opened.payload as { readonly session_id: string; readonly resume_token: string };
  await first.ask('tool.invoke', { tool: 'talk' }, 'job.accepted', { session_id });
  first.socket.terminate();
  while (runtime.counts().jobs > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  const second = await connected(url);
  await second.ask('session.open', { capabilities: { durable_jobs: true }, resume_token }, 'session.accepted', {
    session_id,
  });
  const from = performance.now();
  await second.ask('resume', {}, 'ack', { session_id });
  const seconds = (performance.now() - from) / 1000;
  clearInterval(watch);
  const received = second.heard();
  second.socket.terminate();
  await close();
  await runtime.close();
  rmSync(folder, { recursive: true, force: true });
  return { events: received, seconds, megabytes: (Math.max(most, process.memoryUsage().rss) - before) / 2 ** 20 };
}

interface Message {
  readonly type: string;
  readonly correlation_id?: string;
  readonly payload: unknown;
}

async function connected(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve) => socket.once('open', resolve));
  let heard = 0;
  let waiting: { readonly id: string; readonly type: string; readonly resolve: (message: Message) => void } | undefined;
  socket.on('message', (data) => {
    heard++;
    const message = JSON.parse(String(data)) as Message;
    if (waiting !== undefined && message.correlation_id === waiting.id && message.type === waiting.type)
      waiting.resolve(message);
  });
  const ask = (type: string, payload: object, answer: string, more: object = {}): Promise<Message> =>
    new Promise((resolve) => {
      const id = `msg_${Math.random()}`;
      waiting = { id, type: answer, resolve };
      socket.send(JSON.stringify({ arcp: '1.0', id, type, timestamp: new Date().toISOString(), ...more, payload }));
    });
  return { socket, ask, heard: () => heard };
}
