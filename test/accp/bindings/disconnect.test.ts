/** A session that is disconnected on any binding is disconnected on all of them. */
import { afterEach, describe, expect, test } from 'vitest';
import { callTool, tcTool } from '../../../src/accp/bindings/mcp/index.js';
import {
  createEndpoint,
  createWebSocketEndpoint,
  type LinkOptions,
} from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type MessageInput, type Session } from '../../../src/accp/codec/index.js';
import { BINDINGS } from './links-fixture.js';

const codec = createCodec({ state: false });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** One endpoint behind every binding. It answers requests, except for `hang`, and for `drip`, whose stream does not end. */
async function openServer() {
  let aborted = 0;
  let started = (): void => undefined;
  const isBegun = new Promise<void>((resolve) => {
    started = resolve;
  });
  const endpoint = createEndpoint({
    codec,
    agent: 'server',
    handle: ({ intent, operation, payload }, { signal }) => {
      if (intent !== 'req') return null;
      if (operation === 'echo') return { intent: 'done', operation, payload };
      signal.addEventListener('abort', () => aborted++);
      started();
      if (operation === 'hang') return new Promise(() => undefined);
      async function* drops(): AsyncGenerator<MessageInput> {
        yield { intent: 'stream', operation, schema: 'ST', payload: { chunk_index: 0, data: 'one' } };
        await new Promise(() => undefined);
      }
      return drops();
    },
  });
  cleanups.push(() => endpoint.close());
  const served = { endpoint, replaced: async () => undefined };
  const connectTo = async (binding: string, options: Partial<LinkOptions> & { readonly session: Session }) => {
    const connect = await BINDINGS[binding]!(served, () => undefined);
    const link = await connect({ codec: createCodec({ state: false }), reconnect: false, ...options });
    cleanups.push(() => link.close());
    return link;
  };
  return { endpoint, connectTo, isBegun, aborted: () => aborted };
}

const fresh = (id?: string): Session => {
  const session = createSession({ agent: 'client', id, sequence: 'sender' });
  cleanups.push(() => session.close());
  return session;
};
const req = (operation: string) => ({ intent: 'req', operation, payload: { n: 1 } });
const NAMES = Object.keys(BINDINGS);

describe.each(NAMES)('a session over %s that is disconnected', (binding) => {
  test('has its requests cancelled and its later ones rejected', async () => {
    const { endpoint, connectTo, isBegun, aborted } = await openServer();
    const session = fresh();
    const link = await connectTo(binding, { session });
    expect((await link.request(req('echo'))).payload).toEqual({ n: 1 });
    const hanging = link.request(req('hang')).catch((error: { code: string }) => error.code);
    await isBegun;
    expect(endpoint.disconnect(session.id, 'out')).toBe(true);
    expect(endpoint.disconnect(session.id)).toBe(false);
    expect(aborted()).toBe(1);
    expect(['E5001', 'refused']).toContain(await hanging);
    const next = link.request(req('echo')).catch((error: { code: string }) => error.code);
    expect(['E5001', 'refused']).toContain(await next);
  });

  test('has its streams ended', async () => {
    const { endpoint, connectTo } = await openServer();
    const session = fresh();
    const link = await connectTo(binding, { session });
    const read = async (): Promise<string> => {
      for await (const _ of link.stream(req('drip'))) endpoint.disconnect(session.id);
      return 'ended';
    };
    expect(['E5001', 'refused']).toContain(await read().catch((error: { code: string }) => error.code));
  });

  test.each(NAMES)('is rejected over %s', async (other) => {
    const { endpoint, connectTo } = await openServer();
    const session = fresh();
    const link = await connectTo(binding, { session });
    await link.request(req('echo'));
    // The server over WebSockets may be another one than that which disconnects.
    expect(createWebSocketEndpoint(endpoint).disconnect(session.id)).toBe(true);
    await expect(connectTo(other, { session: fresh(session.id) })).rejects.toMatchObject({ code: 'refused' });
    const otherLink = await connectTo(other, { session: fresh() });
    expect((await otherLink.request(req('echo'))).payload).toEqual({ n: 1 });
  });

  test('calls no tool of MCP', async () => {
    const { endpoint, connectTo } = await openServer();
    const session = fresh();
    await connectTo(binding, { session });
    endpoint.disconnect(session.id);
    let runs = 0;
    const tool = tcTool(() => ++runs, { name: 'x', endpoint });
    const client = { callTool: ({ _meta }: { _meta?: object }) => tool({ _meta }) };
    const { message } = await callTool(client, { tool: 'x' }, { codec, session: fresh(session.id) });
    expect(message).toMatchObject({ intent: 'fail', payload: { code: 'E5001' } });
    expect(runs).toBe(0);
  });
});
