/** Runtimes on NATS and one PostgreSQL database that are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { dialNats, openNatsOutbox } from '../../../src/arcp/queues/nats.js';
import { postgresStore } from '../../../src/arcp/store/postgres/index.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { natsHint, natsUrl } from '../../helpers/message-queues.js';
import { hasPostgres, newSchema, postgresHint, postgresUrl } from '../../helpers/postgres.js';
import { natsWorld } from './nats.js';
import type { RuntimeConfig } from './runtime.js';
import { type EffectCall, Sink } from './sink.js';

const program = bundledProgram(new URL('./runtime.ts', import.meta.url));

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

/** A database, a name on NATS, and a service that has the effects of jobs. */
async function world() {
  const { schema, drop } = newSchema();
  const nats = await natsWorld();
  const sink = new Sink();
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      sink.call(JSON.parse(text) as EffectCall);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ending.push(drop, nats.remove, () => server.close());
  const common = {
    ...{ database: postgresUrl, schema, servers: natsUrl, name: nats.name },
    sink: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  };
  const start = async (config: Partial<RuntimeConfig> = {}): Promise<ChildProcess> => {
    const all = { ...common, steps: 20, pauseMs: 50, leaseMs: 1000, ...config };
    const child = spawn(process.execPath, [program(), JSON.stringify(all)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    ending.push(() => child.kill('SIGKILL'));
    await Promise.race([once(child, 'message'), once(child, 'close')]);
    return child;
  };
  return { ...nats, schema, sink, start };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

const hint = natsHint || postgresHint;

describe.skipIf(natsHint !== '' || !hasPostgres)(`runtimes on NATS and one database${hint}`, () => {
  test('killed in turn under load, lose and repeat no effect and no message', async () => {
    const { name, schema, sink, start } = await world();
    const east = await start();
    const west = await start();
    const heard: string[] = [];
    const client = await openClient(dialNats({ servers: natsUrl, name, heartbeatMs: 200, timeoutMs: 1000 }), {
      onMessage: ({ id }) => heard.push(id),
      heartbeatMs: 500,
      reconnect: { minDelayMs: 20, maxDelayMs: 200 },
    });
    ending.push(() => client.disconnect());
    const results = Array.from({ length: 6 }, () => client.invoke('work').result());
    await until(() => sink.effects.size > 20);
    east.kill('SIGKILL');
    await start();
    await until(() => sink.effects.size > 70);
    west.kill('SIGKILL');
    await start();
    expect(await Promise.all(results)).toEqual(Array.from({ length: 6 }, () => 'done'));
    expect(sink.effects.size).toBe(120);
    expect(sink.problems).toEqual([]);
    // At each kill, one step of each job may have been called whose result was not stored; the service recognizes its key.
    expect(sink.repeated).toBeLessThanOrEqual(12);
    console.log(`120 of 120 effects; ${sink.repeated} calls repeated one that was in flight at a kill`);
    const store = await postgresStore(postgresUrl, { schema });
    const sessionId = client.session.session_id;
    const stored = await store.readEvents({ sessionId, limit: Number.POSITIVE_INFINITY });
    await store.close();
    const known = new Set(stored.map(({ id }) => id));
    expect(heard.filter((id) => known.has(id))).toEqual(stored.map(({ id }) => id));
  });

  test('execute a waiting command once, although one is killed between the commit and the acknowledgement', async () => {
    const { name, sink, start, waiting, deadLetters } = await world();
    const outbox = await openNatsOutbox({ servers: natsUrl, name });
    ending.push(outbox.close);
    for (let n = 0; n < 3; n++) await outbox.enqueue({ type: 'tool.invoke', payload: { tool: 'work' } });
    expect(await waiting()).toBe(3);
    const first = await start({ steps: 2, diesAfterCommit: true });
    if (first.exitCode === null && first.signalCode === null) await once(first, 'close');
    expect(first.signalCode).toBe('SIGKILL');
    expect(await waiting()).toBe(3);
    await start({ steps: 2 });
    await until(async () => (await waiting()) === 0 && sink.effects.size >= 6);
    await sleep(500);
    expect([sink.effects.size, sink.repeated, sink.problems]).toEqual([6, 0, []]);
    expect(await deadLetters()).toEqual([]);
  });
});
