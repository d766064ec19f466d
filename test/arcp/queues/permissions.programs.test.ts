/** Users of NATS that may only connect, or only serve: the permissions of the guide on a server of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { dialNats, listenNats } from '../../../src/arcp/queues/nats.js';
import { createRuntime } from '../../../src/arcp/runtime/index.js';
import { openNats } from '../../../src/channels/node/nats.js';

function hasServer(): boolean {
  try {
    execFileSync('nats-server', ['--version']);
    return true;
  } catch {
    return false;
  }
}

const hint = hasServer() ? '' : ' (skipped: nats-server is not installed)';
const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server with the users of the guide. @returns its address */
async function startServer(): Promise<{ port: number; restart: () => Promise<void> }> {
  const guide = readFileSync(new URL('../../../src/arcp/queues/README.md', import.meta.url), 'utf8');
  const users = /^```text nats\n([\s\S]*?)^```$/m.exec(guide)![1]!;
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-nats-'));
  const config = path.join(folder, 'nats.conf');
  writeFileSync(config, users);
  const port = await freePort();
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn('nats-server', ['-c', config, '-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    for (;;) {
      const open = await openNats({ servers: `runtime:secret@127.0.0.1:${port}` }).catch(() => undefined);
      if (open !== undefined) return open.close();
      await sleep(50);
    }
  };
  await start();
  ending.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => server.kill('SIGKILL'),
  );
  const restart = async (): Promise<void> => {
    const ended = new Promise((resolve) => server.once('close', resolve));
    server.kill('SIGKILL');
    await ended;
    await start();
  };
  return { port, restart };
}

describe.skipIf(hint !== '')(`a NATS server of its own${hint}`, () => {
  test('lets a client connect and not serve or listen, with the permissions of the guide', async () => {
    const { port } = await startServer();
    const servers = (user: string): string => `nats://${user}:secret@127.0.0.1:${port}`;
    const runtime = createRuntime().tool('add', {}, ({ a, b }) => Number(a) + Number(b));
    ending.push(() => runtime.close());
    const listener = await listenNats(runtime, { servers: servers('runtime'), name: 'build' });
    const client = await openClient(dialNats({ servers: servers('client'), name: 'build' }));
    expect(await client.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
    await expect(listenNats(runtime, { servers: servers('client'), name: 'build' })).rejects.toMatchObject({
      code: 'closed',
    });
    const { bus, close } = await openNats({ servers: servers('client') });
    await expect(bus.subscribe('arcp.build.c.*.up', () => undefined)).rejects.toMatchObject({ code: 'closed' });
    await close();
    await expect(openNats({ servers: `nats://client:wrong@127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'closed',
    });
    await client.close();
    await listener.close();
  });

  test('may restart while a client works', async () => {
    const { port, restart } = await startServer();
    const servers = `nats://runtime:secret@127.0.0.1:${port}`;
    const runtime = createRuntime().tool('echo', {}, (args) => args);
    ending.push(() => runtime.close());
    const listener = await listenNats(runtime, { servers, name: 'build' });
    const errors: unknown[] = [];
    const client = await openClient(dialNats({ servers, name: 'build' }), { onError: (one) => errors.push(one) });
    let isOver = false;
    let calls = 0;
    const work = async (): Promise<void> => {
      for (; !isOver; calls++) expect(await client.invoke('echo', { calls }).result()).toEqual({ calls });
    };
    const working = work();
    while (calls < 20) await sleep(5);
    await restart();
    const before = calls;
    while (calls < before + 20) await sleep(5);
    isOver = true;
    await working;
    expect(errors).toEqual([]);
    await client.close();
    await listener.close();
  });
});
