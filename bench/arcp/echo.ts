/** Durable echo jobs over a WebSocket and a SQLite file: our runtime, and a loop that only stores and sends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { createRuntime, listenWebSocket, sqliteStore } from '../../src/arcp/runtime/index.js';
import type { AsyncRunner } from '../../src/bench/race.js';
import { platformDriver } from '../../src/storage/platform.js';

export const BARE_ECHO = 'bare WebSocket and group commit';
export const RUNTIME = 'pegwire runtime';
/** The jobs of one pass, and the number of concurrent ones. */
export const JOBS = 512;
const PARALLEL = 32;

export interface EchoBench {
  readonly runners: readonly AsyncRunner[];
  readonly close: () => Promise<void>;
}

/** @param ownThread `true` if SQLite has a thread of its own in the runtime; never in the bare loop */
export async function echoBench(ownThread = false): Promise<EchoBench> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-'));
  const bare = await bareServer(path.join(folder, 'bare.db'));
  const store = await sqliteStore(path.join(folder, 'runtime.db'), { ownThread });
  const runtime = createRuntime({ store }).tool('echo', { durable: true }, (input) => input);
  const listener = await listenWebSocket(runtime, { port: 0 });
  const callers = [await callerOf(bare.url), await callerOf(listener.url)];
  return {
    runners: [
      { name: BARE_ECHO, pass: callers[0]!.pass },
      { name: RUNTIME, pass: callers[1]!.pass },
    ],
    close: async () => {
      for (const { close } of callers) close();
      bare.close();
      await listener.close();
      await runtime.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends the messages of a runtime for a job after storing them. Checks nothing, and resumes nothing. */
async function bareServer(file: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const database = (await platformDriver())(file);
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
     CREATE TABLE command (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
     CREATE TABLE event (sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, job TEXT NOT NULL, body TEXT NOT NULL) STRICT;
     CREATE INDEX event_of_job ON event (job);`,
  );
  const [command, event] = [
    database.prepare('INSERT INTO command VALUES (?)'),
    database.prepare('INSERT INTO event (id, job, body) VALUES (?, ?, ?)'),
  ];
  const waiting: { readonly write: () => void; readonly sent: () => void }[] = [];
  /** All writes of one turn of the event loop form one transaction. */
  const commit = (write: () => void): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ write, sent: resolve });
      if (waiting.length > 1) return;
      setImmediate(() => {
        const batch = waiting.splice(0);
        database.transaction(() => {
          for (const one of batch) one.write();
        });
        for (const { sent } of batch) sent();
      });
    });
  let number = 0;
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/arcp' });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => {
    const say = (type: string, job: string, correlation_id: string, payload: object) => {
      const id = `msg_${++number}`;
      const body = JSON.stringify({
        arcp: '1.0',
        id,
        type,
        timestamp: new Date().toISOString(),
        session_id: 's',
        job_id: job,
        correlation_id,
        payload,
      });
      return { keep: () => event.run(id, job, body), send: () => socket.send(body) };
    };
    socket.on('message', async (data) => {
      const message = JSON.parse(String(data)) as {
        readonly id: string;
        readonly type: string;
        readonly payload: { readonly arguments: object };
      };
      if (message.type === 'session.open') {
        socket.send(
          JSON.stringify({
            arcp: '1.0',
            id: 'a',
            type: 'session.accepted',
            correlation_id: message.id,
            payload: { session_id: 's' },
          }),
        );
        return;
      }
      const job = `job_${++number}`;
      const batch = [
        say('job.accepted', job, message.id, { job_id: job }),
        say('job.started', job, message.id, { job_id: job, attempt: 1 }),
      ];
      await commit(() => {
        command.run(message.id);
        for (const { keep } of batch) keep();
      });
      for (const { send } of batch) send();
      const result = await Promise.resolve(message.payload.arguments);
      const completed = say('job.completed', job, message.id, { result, attempt: 1 });
      await commit(completed.keep);
      completed.send();
    });
  });
  const { port } = server.address() as { readonly port: number };
  return {
    url: `ws://127.0.0.1:${port}/arcp`,
    close: () => {
      server.close();
      database.close();
    },
  };
}

/** A client that checks nothing, the same for both. */
async function callerOf(url: string): Promise<{ readonly pass: () => Promise<void>; readonly close: () => void }> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve) => socket.once('open', resolve));
  const done = new Map<string, () => void>();
  let sessionId = '';
  socket.on('message', (data) => {
    const {
      type,
      correlation_id: id,
      payload,
    } = JSON.parse(String(data)) as {
      readonly type: string;
      readonly correlation_id: string;
      readonly payload: { readonly session_id?: string };
    };
    if (type === 'session.accepted') sessionId = payload.session_id!;
    if (type === 'job.completed' || type === 'session.accepted') done.get(id)?.();
    if (type === 'nack') throw new Error(String(data));
  });
  let number = 0;
  const ask = (type: string, payload: object): Promise<void> =>
    new Promise((resolve) => {
      const id = `msg_${++number}_${Math.random()}`;
      done.set(id, () => {
        done.delete(id);
        resolve();
      });
      const session = sessionId === '' ? {} : { session_id: sessionId };
      socket.send(JSON.stringify({ arcp: '1.0', id, type, timestamp: new Date().toISOString(), ...session, payload }));
    });
  await ask('session.open', { capabilities: { durable_jobs: true } });
  return {
    pass: async () => {
      let left = JOBS;
      const worker = async (): Promise<void> => {
        while (left-- > 0) await ask('tool.invoke', { tool: 'echo', arguments: { text: 'hello', n: left } });
      };
      await Promise.all(Array.from({ length: PARALLEL }, worker));
    },
    close: () => socket.terminate(),
  };
}
