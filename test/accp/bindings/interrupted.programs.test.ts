/** Requests that were in a handler when its process was killed, of sessions in a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connectHttp, createEndpoint, FRAMES_PATH, type Link } from '../../../src/accp/bindings/http/index.js';
import { connectWebSocket } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, memoryStore } from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { type CompiledProgram, compileProgram } from '../../helpers/bundled-program.js';
import { type RunningProgram, runProgram } from './programs/run-program.js';

const codec = createCodec({ state: false });
const req = (operation: string) => ({ intent: 'req', operation, payload: { amount: 5 } });

let program: CompiledProgram;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  program = await compileProgram(new URL('programs/kept-server.ts', import.meta.url));
});
afterAll(() => program.remove());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function start(file: string, port: string, policy: string): RunningProgram {
  const server = runProgram(program.file, [file, port, policy]);
  cleanups.push(() => server.kill());
  return server;
}

const CONNECT: Record<string, (port: string, options: Parameters<typeof connectHttp>[1]) => Promise<Link>> = {
  WebSocket: (port, options) => connectWebSocket(`ws://127.0.0.1:${port}${FRAMES_PATH}`, { ...options, WebSocket }),
  HTTP: (port, options) => connectHttp(`http://127.0.0.1:${port}${FRAMES_PATH}`, options),
};

describe.each(Object.keys(CONNECT))(
  'over %s, a request that was in a handler when the server was killed',
  (binding) => {
    async function open(policy: 'refuse' | 'again') {
      const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-interrupted-'));
      cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
      const file = path.join(folder, 'sessions.db');
      const first = start(file, '0', policy);
      const port = await first.line();
      const session = createSession({ agent: 'client', sequence: 'sender' });
      const link = await CONNECT[binding]!(port, {
        codec,
        session,
        reconnect: { minDelayMs: 50, maxDelayMs: 200, maxAttempts: 100 },
      });
      cleanups.push(() => link.close());
      expect((await link.request(req('echo'))).intent).toBe('done');
      expect(await first.line()).toBe('echo');
      return { first, file, session, link, restart: () => start(file, port, policy) };
    }

    async function interrupt(policy: 'refuse' | 'again') {
      const { first, file, session, link, restart } = await open(policy);
      const answer = link.request(req('pay')).then(
        (message) => message,
        (error) => error,
      );
      expect(await first.line()).toBe('pay');
      await first.kill();
      const store = await sqliteStore(file);
      const reopened = createSession({ agent: 'server', id: session.id, sequence: 'sender', store });
      const pending = reopened.pendingRequests.map(({ message }) => message);
      reopened.close();
      return { answer, link, pending, restart };
    }

    test('is listed, and rejected with E5001 when the session is resumed: it may have run', async () => {
      const { answer, link, pending, restart } = await interrupt('refuse');
      expect(pending).toMatchObject([{ intent: 'req', operation: 'pay', payload: { amount: 5 } }]);
      const second = restart();
      expect(await answer).toMatchObject({ code: 'E5001', retryable: false });
      expect((await link.request(req('echo'))).intent).toBe('done');
      expect(await second.line()).toMatch(/^[0-9]+$/);
      expect(await second.line()).toBe('echo');
    });

    test('is run again if the host returns true', async () => {
      const { answer, link, restart } = await interrupt('again');
      const second = restart();
      expect(await answer).toMatchObject({ intent: 'done', operation: 'pay', payload: { amount: 5 } });
      expect((await link.request(req('echo'))).intent).toBe('done');
      expect([await second.line(), await second.line(), await second.line()].slice(1)).toEqual(['pay', 'echo']);
    });

    test('is rejected with E5001 if part of a stream was sent, even if the host returns true', async () => {
      const { first, link, restart } = await open('again');
      const pieces: unknown[] = [];
      let second: RunningProgram | undefined;
      const reading = async (): Promise<void> => {
        for await (const { data } of link.stream(req('count'))) {
          pieces.push(data);
          if (pieces.length < 2) continue;
          await first.kill();
          second = restart();
        }
      };
      await expect(reading()).rejects.toMatchObject({ code: 'E5001', retryable: false });
      expect(pieces).toEqual(['n0', 'n1']);
      expect((await link.request(req('echo'))).intent).toBe('done');
      expect([await second!.line(), await second!.line()].slice(1)).toEqual(['echo']);
    });
  },
);

describe('pending requests of a session', () => {
  const ask = (operation: string) => req(operation);

  /** Passes requests to an endpoint. @returns the pending ones afterwards, by operation */
  async function pendingAfter(operations: readonly string[]): Promise<readonly string[]> {
    const store = memoryStore();
    const endpoint = createEndpoint({
      codec,
      agent: 'server',
      session: { store },
      handle: ({ operation, intent }) => {
        if (intent !== 'req' || operation === 'mute') return null;
        if (operation === 'later') return { intent: 'ack', operation };
        if (operation === 'stream')
          return (async function* () {
            yield { intent: 'ack', operation };
            yield { intent: 'done', operation };
          })();
        if (operation === 'fail') throw new Error('it failed');
        return operation === 'hang' ? new Promise<null>(() => undefined) : { intent: 'done', operation };
      },
    });
    cleanups.push(() => endpoint.close());
    const session = createSession({ agent: 'client', sequence: 'sender' });
    const served = endpoint.open(session.id);
    for (const operation of operations) {
      const answering = endpoint.receive(
        codec.encode(ask(operation), session).frames[0]!,
        served,
        new AbortController().signal,
      );
      const all = (async () => {
        for await (const _ of answering);
      })();
      if (operation === 'hang') await new Promise((resolve) => setTimeout(resolve, 0));
      else await all;
    }
    return served.pendingRequests.map(
      ({ message, isDeferred }) => `${message.operation}${isDeferred ? ' (deferred)' : ''}`,
    );
  }

  test('are those in a handler, and those that the host answers later', async () => {
    expect(await pendingAfter(['done', 'hang', 'later', 'fail'])).toEqual(['hang', 'later (deferred)']);
  });

  test('do not include answered, failed and unanswerable ones', async () => {
    expect(await pendingAfter(['done', 'mute', 'stream', 'fail'])).toEqual([]);
  });

  test('do not include cancelled ones', async () => {
    const client = createSession({ agent: 'client', sequence: 'sender' });
    const server = createSession({ agent: 'server', id: client.id, sequence: 'sender' });
    const { frames, correlationId } = codec.encode(ask('x'), client);
    codec.decode(frames[0]!, server);
    expect(server.pendingRequests.map((request) => request.correlationId)).toEqual([correlationId]);
    const envelope = { correlation_id: correlationId };
    codec.decode(codec.encode({ intent: 'cancel', operation: 'x', envelope }, client).frames[0]!, server);
    expect(server.pendingRequests).toEqual([]);
  });
});
