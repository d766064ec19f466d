/** The behaviour of links over every binding. */
import { describe, expect, test } from 'vitest';
import {
  type EndpointOptions,
  type Link,
  LinkError,
  type LinkState,
} from '../../../src/accp/bindings/websocket/index.js';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { type BINDINGS, type LinkFixture, openLinkFixture } from './links-fixture.js';

const req = (operation: string, payload: Record<string, string | number> = {}) => ({
  intent: 'req',
  operation,
  payload,
});

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** A server that records its requests and cancellations. */
function worker(): {
  readonly handle: EndpointOptions['handle'];
  readonly requested: string[];
  readonly stopped: string[];
} {
  const requested: string[] = [];
  const stopped: string[] = [];
  const handle: EndpointOptions['handle'] = ({ intent, operation, payload, envelope }: Message, { signal }) => {
    if (intent !== 'req') return null;
    requested.push(operation);
    const cid = envelope.correlation_id ?? envelope.msg_id;
    if (operation === 'infer') return streamMessages(['Hello', ',_', 'world!'], { correlationId: cid, operation });
    if (operation !== 'hang') return { intent: 'done', operation, payload };
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        stopped.push(operation);
        resolve(null);
      }),
    );
  };
  return { handle, requested, stopped };
}

export function testLink(binding: keyof typeof BINDINGS): void {
  describe(`a link over ${binding}`, () => {
    const open = (
      handle: EndpointOptions['handle'],
      options?: Parameters<typeof openLinkFixture>[2],
    ): Promise<LinkFixture> => openLinkFixture(binding, handle, options);

    test("announces its registry once, and each side knows the other's", async () => {
      const { connect, received } = await open(worker().handle);
      const link = await connect();
      for (let n = 0; n < 3; n++) expect((await link.request(req('echo', { n }))).payload['n']).toBe(n);
      expect(received().filter((frame) => frame.includes('>sync:registry{'))).toHaveLength(1);
      expect([...link.session.peers.keys()]).toEqual(['server']);
      expect(link.state).toBe('open');
    });

    test('answers many concurrent requests, in whatever order they finish', async () => {
      const { connect } = await open(async ({ intent, operation, payload }) => {
        if (intent !== 'req') return null;
        await new Promise((resolve) => setTimeout(resolve, (payload['n'] as number) % 3));
        return { intent: 'done', operation, payload };
      });
      const link = await connect();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => link.request(req('echo', { n }))));
      expect(answers.map(({ payload }) => payload['n'])).toEqual(Array.from({ length: 20 }, (_, n) => n));
    });

    test('runs sixty-four handlers concurrently, and no more, in the order of their requests', async () => {
      const requested: unknown[] = [];
      let working = 0;
      let most = 0;
      let release!: () => void;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { connect, received } = await open(async ({ intent, operation, payload }) => {
        if (intent !== 'req') return null;
        requested.push(payload['n']);
        most = Math.max(most, ++working);
        if (working === 64) setTimeout(release, 200);
        await released;
        await new Promise((resolve) => setTimeout(resolve, 1));
        working--;
        return { intent: 'done', operation, payload };
      });
      const link = await connect();
      const numbers = Array.from({ length: 200 }, (_, n) => n);
      const answers = await Promise.all(numbers.map((n) => link.request(req('work', { n }))));
      expect(answers.map(({ payload }) => payload['n'])).toEqual(numbers);
      expect(requested).toEqual(numbers);
      expect(most).toBe(64);
      expect(received().some((frame) => frame.includes('E3003'))).toBe(false);
    });

    test('an abandoned request makes room for one that waits', async () => {
      const { handle, requested, stopped } = worker();
      const { connect } = await open(handle);
      const link = await connect();
      const controllers = Array.from({ length: 64 }, () => new AbortController());
      const hanging = controllers.map(({ signal }) => link.request(req('hang'), { signal }).catch(() => undefined));
      await until(() => requested.length === 64);
      const waiting = link.request(req('echo', { n: 1 }));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(requested).not.toContain('echo');
      controllers[30]!.abort();
      expect((await waiting).payload['n']).toBe(1);
      expect(stopped).toHaveLength(1);
      await link.close();
      await Promise.all(hanging);
    });

    test('a slow request does not delay others', async () => {
      const { handle, requested } = worker();
      const { connect } = await open(handle);
      const link = await connect();
      const hanging = link.request(req('hang')).catch((error) => error);
      await until(() => requested.includes('hang'));
      expect((await link.request(req('echo', { n: 1 }))).payload['n']).toBe(1);
      await link.close();
      await hanging;
    });

    test('a stream yields its chunks in order, and a failing one fails with its code', async () => {
      const { connect } = await open(({ intent, operation, envelope }) => {
        if (intent !== 'req') return null;
        const cid = envelope.correlation_id ?? envelope.msg_id;
        return streamMessages(operation === 'infer' ? ['Hello', ',_', 'world!'] : broken(), {
          correlationId: cid,
          operation,
        });
      });
      const link = await connect();
      const pieces: unknown[] = [];
      for await (const { data } of link.stream(req('infer'))) pieces.push(data);
      expect(pieces).toEqual(['Hello', ',_', 'world!']);
      const reading = async (): Promise<void> => {
        for await (const _ of link.stream(req('break')));
      };
      await expect(reading()).rejects.toMatchObject({ code: 'E9999' });
    });

    test('a stream with a slow reader arrives complete and in order', async () => {
      const { connect } = await open(({ intent, operation, envelope }) => {
        if (intent !== 'req') return null;
        const cid = envelope.correlation_id ?? envelope.msg_id;
        return streamMessages(counted(400), { correlationId: cid, operation });
      });
      const link = await connect();
      const pieces: unknown[] = [];
      for await (const { data } of link.stream(req('count'))) {
        // More chunks arrive meanwhile than are kept for a reader.
        if (pieces.length % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
        pieces.push(data);
      }
      expect(pieces).toEqual(Array.from({ length: 400 }, (_, n) => `n${n}`));
    });

    test('a stream that its reader leaves is cancelled', async () => {
      const { handle, requested, stopped } = worker();
      const { connect, received } = await open(handle);
      const link = await connect();
      const pieces = link.stream(req('hang'))[Symbol.asyncIterator]();
      const next = pieces.next();
      await until(() => requested.length === 1);
      await pieces.return?.();
      expect(await next).toEqual({ done: true, value: undefined });
      await until(() => stopped.length === 1);
      expect(received().some((frame) => frame.includes('>cancel:hang{'))).toBe(true);
    });

    test('messages that were sent before the link was closed arrive', async () => {
      const { connect, received } = await open(worker().handle);
      const link = await connect();
      for (let n = 0; n < 5; n++) await link.send({ intent: 'sync', operation: 'note', payload: { n } });
      await link.close();
      await until(() => received().filter((frame) => frame.includes('>sync:note{')).length === 5);
    });

    test('the rejection of a request without a cid has its mid as cid, and settles the request', async () => {
      const authorize = ({ operation }: { operation: string }): boolean => operation !== 'forbidden';
      const { connect } = await open(worker().handle, { authorize });
      const link = await connect();
      await expect(link.request(req('forbidden'))).rejects.toMatchObject({ code: 'E5001' });
      const { msgId } = await link.send(req('forbidden'));
      for await (const { envelope, payload } of link.messages) {
        expect(envelope.correlation_id).toBe(msgId);
        expect(payload['code']).toBe('E5001');
        break;
      }
    });

    test('a request that is aborted is cancelled on the wire, and the session continues', async () => {
      const { handle, requested, stopped } = worker();
      const { connect, received } = await open(handle);
      const link = await connect();
      const controller = new AbortController();
      const hanging = link.request(req('hang'), { signal: controller.signal });
      await until(() => requested.includes('hang'));
      controller.abort();
      await expect(hanging).rejects.toMatchObject({ name: 'AbortError' });
      await until(() => stopped.length === 1);
      expect(received().some((frame) => frame.includes('>cancel:hang{'))).toBe(true);
      expect((await link.request(req('echo', { n: 1 }))).payload['n']).toBe(1);
      expect(received().some((frame) => frame.includes('E3003'))).toBe(false);
    });

    test('a request whose answer is overdue fails with E3001, and is cancelled on the wire', async () => {
      const { handle, stopped } = worker();
      const { connect, received } = await open(handle);
      const link = await connect({}, { timeoutMs: 1_000 });
      await expect(link.request(req('hang'))).rejects.toMatchObject({ code: 'E3001' });
      await until(() => stopped.length === 1);
      expect(received().some((frame) => frame.includes('>cancel:hang{'))).toBe(true);
    });

    test('an answer that arrives after the timeout of its session is too late, however short that is', async () => {
      const { connect } = await open(async ({ intent, operation }) => {
        if (intent !== 'req') return null;
        await new Promise((resolve) => setTimeout(resolve, 600));
        return { intent: 'done', operation };
      });
      const link = await connect({}, { timeoutMs: 50 });
      await expect(link.request(req('late'))).rejects.toMatchObject({ code: 'E3001' });
    });

    test('an answer that is made after a cut and the reconnection arrives', async () => {
      let finish!: () => void;
      const isFinished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const states: LinkState[] = [];
      let requested = 0;
      const { connect, proxy } = await open(async ({ intent, operation }) => {
        if (intent !== 'req') return null;
        requested++;
        await isFinished;
        return { intent: 'done', operation };
      });
      const link = await connect({ onState: (state) => states.push(state) }, { timeoutMs: 5_000 });
      const answer = link.request(req('pay'));
      await until(() => requested === 1);
      proxy.cut();
      await until(() => states.at(-1) === 'open' && states.includes('reconnecting'));
      // The requests of the reconnection are answered by then.
      await new Promise((resolve) => setTimeout(resolve, 200));
      finish();
      expect((await answer).intent).toBe('done');
      expect(requested).toBe(1);
    });

    test('a stream that is cut continues, or fails with the reconnection', async () => {
      const { connect, proxy } = await open(({ intent, operation, envelope }) => {
        if (intent !== 'req') return null;
        const cid = envelope.correlation_id ?? envelope.msg_id;
        return streamMessages(slowly(100), { correlationId: cid, operation });
      });
      const link = await connect();
      const pieces: unknown[] = [];
      const reading = async (): Promise<void> => {
        for await (const { data } of link.stream(req('count'))) {
          pieces.push(data);
          if (pieces.length === 20) proxy.cut();
        }
      };
      // Over HTTP, the response is the stream: a client that leaves it ends its source.
      if (binding === 'HTTP') await expect(reading()).rejects.toMatchObject({ code: 'E5001' });
      else {
        await reading();
        expect(pieces).toHaveLength(100);
      }
      expect(pieces).toEqual(pieces.map((_, n) => `n${n}`));
    });

    test('closing a link ends a running stream with the code closed', async () => {
      const { connect } = await open(({ intent, operation, envelope }) => {
        if (intent !== 'req') return null;
        const cid = envelope.correlation_id ?? envelope.msg_id;
        return streamMessages(slowly(10_000), { correlationId: cid, operation });
      });
      const link = await connect();
      const reading = async (): Promise<void> => {
        let count = 0;
        for await (const _ of link.stream(req('count'))) if (++count === 5) void link.close();
      };
      await expect(reading()).rejects.toMatchObject({ code: 'closed' });
    });

    test('a request that was abandoned during an outage is never executed, and lost frames are sent again', async () => {
      const { handle, requested } = worker();
      const { connect, proxy } = await open(handle);
      const link = await connect();
      expect((await link.request(req('echo'))).intent).toBe('done');
      proxy.freeze();
      const controller = new AbortController();
      const outcome = link.request(req('pay'), { signal: controller.signal }).catch((error) => error);
      // It has its number, and was sent.
      await new Promise((resolve) => setTimeout(resolve, 50));
      controller.abort();
      expect(await outcome).toMatchObject({ name: 'AbortError' });
      proxy.cut();
      proxy.thaw();
      expect((await link.request(req('echo'))).intent).toBe('done');
      expect(requested).toEqual(['echo', 'echo']);
    });

    test('a cut while requests wait loses none, and repeats none', async () => {
      const { handle, requested } = worker();
      const { connect, proxy } = await open(handle);
      const link = await connect();
      proxy.cutAfter(3000);
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => link.request(req('echo', { n }))));
      expect(answers.map(({ payload }) => payload['n'])).toEqual(Array.from({ length: 10 }, (_, n) => n));
      expect(requested).toHaveLength(10);
    });

    test('a request that is made during the reconnection times out with E3001', async () => {
      const states: LinkState[] = [];
      const { handle, requested } = worker();
      const { connect, proxy } = await open(handle);
      const link = await connect({ onState: (state) => states.push(state) }, { timeoutMs: 500 });
      proxy.freeze();
      proxy.cut();
      // Without an open connection, the loss shows with the next frame.
      const lost = binding === 'WebSocket' ? undefined : link.send(req('echo')).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
      proxy.cut();
      await expect(link.request(req('late'))).rejects.toMatchObject({ code: 'E3001' });
      await lost;
      proxy.thaw();
      proxy.cut();
      expect((await retried(() => link.request(req('echo')))).intent).toBe('done');
      expect(requested).not.toContain('late');
    });

    test('a peer that does not exist is unreachable', async () => {
      const { connect, proxy } = await open(worker().handle);
      await proxy.close();
      const error = await connect().catch((thrown) => thrown);
      expect(error).toBeInstanceOf(LinkError);
      expect(error).toMatchObject({ code: 'unreachable' });
    });

    test('a peer that does not answer the first frame in time is unreachable', async () => {
      const { connect, proxy } = await open(worker().handle);
      proxy.freeze();
      await expect(connect({ handshakeTimeoutMs: 100 })).rejects.toMatchObject({ code: 'unreachable' });
    });

    test('closing rejects pending requests and cancels them at the peer', async () => {
      const { handle, requested, stopped } = worker();
      const { connect } = await open(handle);
      const link = await connect();
      const hanging = link.request(req('hang')).catch((error) => error);
      const stream = drained(link).catch((error) => error);
      await until(() => requested.length === 2);
      await link.close();
      expect(await hanging).toMatchObject({ code: 'closed' });
      expect(await stream).toMatchObject({ code: 'closed' });
      await expect(link.send(req('echo'))).rejects.toMatchObject({ code: 'closed' });
      expect(await link.closed).toBeUndefined();
      await until(() => stopped.length === 2);
    });

    test('the session continues over another link', async () => {
      const { connect, received } = await open(worker().handle);
      const session = createSession({ agent: 'client', sequence: 'sender' });
      const first = await connect({ session });
      expect((await first.request(req('echo'))).intent).toBe('done');
      await first.close();
      const second = await connect({ session });
      expect((await second.request(req('echo'))).intent).toBe('done');
      expect(received().some((frame) => frame.includes('E3003'))).toBe(false);
    });

    test('a session has one link: another one replaces the first', async () => {
      const { handle, requested } = worker();
      const { connect } = await open(handle);
      const session = createSession({ agent: 'client', sequence: 'sender' });
      const first = await connect({ session });
      const hanging = first.request(req('hang')).catch((error) => error);
      await until(() => requested.length === 1);
      const second = await connect({ session });
      expect(await first.closed).toMatchObject({ name: 'LinkError', code: 'replaced' });
      expect(await hanging).toMatchObject({ code: 'replaced' });
      expect((await second.request(req('echo', { n: 2 }))).payload['n']).toBe(2);
      expect(second.state).toBe('open');
    });

    test('a client that restarts the numbers of a session that has continued is rejected, and the first one continues', async () => {
      const { connect, received } = await open(worker().handle);
      const [first, other] = [1, 2].map(() => createSession({ agent: 'client', id: 'shared', sequence: 'sender' }));
      const link = await connect({ session: first! });
      expect((await link.request(req('echo', { n: 1 }))).payload['n']).toBe(1);
      await expect(connect({ session: other! })).rejects.toMatchObject({ name: 'LinkError', code: 'refused' });
      expect((await link.request(req('echo', { n: 2 }))).payload['n']).toBe(2);
      expect(link.state).toBe('open');
      expect(received().some((frame) => frame.includes('E3003'))).toBe(false);
    });

    test('another agent in a session replaces the first, or is rejected if the first cannot be notified', async () => {
      const { connect, received } = await open(worker().handle);
      const [one, two] = ['one', 'two'].map((agent) => createSession({ agent, id: 'shared', sequence: 'sender' }));
      const link = await connect({ session: one! });
      expect((await link.request(req('echo', { n: 1 }))).payload['n']).toBe(1);
      const connecting = connect({ session: two! });
      if (binding === 'WebSocket' || binding === 'a channel') {
        await connecting;
        expect(await link.closed).toMatchObject({ code: 'replaced' });
        return;
      }
      await expect(connecting).rejects.toMatchObject({ name: 'LinkError', code: 'refused' });
      await expect(connecting).rejects.toThrow(/belongs.to.another.agent/);
      expect((await link.request(req('echo', { n: 2 }))).payload['n']).toBe(2);
      expect(received().some((frame) => frame.includes('E3003'))).toBe(false);
    });

    test.each([
      ['one request', 1],
      ['several requests, which overtake each other', 8],
    ])('a server that has lost the session ends the link as lost, with the next %s', async (_, count) => {
      const { handle, requested } = worker();
      const { connect, restart } = await open(handle);
      const link = await connect();
      for (let n = 0; n < 3; n++) await link.request(req('echo', { n }));
      await restart();
      const later = Array.from({ length: count }, () => link.request(req('echo')).catch((error) => error));
      for (const error of await Promise.all(later)) expect(error).toMatchObject({ code: 'session-lost' });
      expect(await link.closed).toMatchObject({ code: 'session-lost' });
      await expect(link.request(req('echo'))).rejects.toMatchObject({ code: 'session-lost' });
      // Nothing is repeated.
      expect(requested).toHaveLength(3);
    });

    test('a server that loses the session during requests and streams ends them as lost', async () => {
      const { handle, requested } = worker();
      const { connect, restart, proxy } = await open(handle);
      const link = await connect();
      const hanging = link.request(req('hang')).catch((error) => error);
      const stream = drained(link).catch((error) => error);
      await until(() => requested.length === 2);
      await restart();
      proxy.cut();
      for (const error of await Promise.all([hanging, stream])) expect(error).toMatchObject({ code: 'session-lost' });
      expect(await link.closed).toMatchObject({ code: 'session-lost' });
      expect(requested).toHaveLength(2);
    });

    test('a peer that stays away ends the link as unreachable, after the maximum number of attempts', async () => {
      const { connect, proxy } = await open(worker().handle);
      const link = await connect({ reconnect: { minDelayMs: 10, maxDelayMs: 20, maxAttempts: 3 } });
      await proxy.close();
      await expect(link.request(req('echo'))).rejects.toMatchObject({ code: 'unreachable' });
      expect(await link.closed).toMatchObject({ code: 'unreachable' });
      expect(link.state).toBe('closed');
    });
  });
}

async function* counted(count: number): AsyncGenerator<string> {
  for (let n = 0; n < count; n++) yield `n${n}`;
}

async function* slowly(count: number): AsyncGenerator<string> {
  for (let n = 0; n < count; n++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    yield `n${n}`;
  }
}

async function drained(link: Link): Promise<void> {
  for await (const _ of link.stream(req('hang')));
}

// biome-ignore lint/correctness/useYield: it fails before its first piece.
async function* broken(): AsyncGenerator<string> {
  throw new Error('the model is gone');
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'E3001') throw thrown;
    }
  }
}
