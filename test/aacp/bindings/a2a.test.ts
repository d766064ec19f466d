/** AACP over A2A: the official client and the official server on Express, over JSON-RPC. */
import type { AddressInfo } from 'node:net';
import type { AgentCard } from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import {
  type A2aMessage,
  aacpCard,
  ENVELOPE_META,
  type PacketAnswer,
  type PacketClient,
  type PacketExecutor,
  packetExecutor,
  routesOfCard,
  sendPacket,
  sendPackets,
} from '../../../src/aacp/bindings/a2a/index.js';
import type { Envelope } from '../../../src/aacp/dispatch/index.js';
import { deferred } from '../../../src/async/listeners.js';
import { ACK, freshEnvelope, guarded, PACKET } from './fixture.js';
import { testBinding } from './suite.js';

const FAILED = 4;
const CANCELED = 5;
const REJECTED = 7;

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function cardAt(url: string): AgentCard {
  return {
    name: 'test',
    description: 'An agent of the tests',
    version: '1.0.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    provider: undefined,
    capabilities: { streaming: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
}

async function connect(
  executor: AgentExecutor,
): Promise<{ client: Client; card: AgentCard; close: () => Promise<void> }> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const card = aacpCard(cardAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc`), {
    routes: ['FETCH|HR', 'ACK|*'],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { client: await new ClientFactory().createFromAgentCard(card), card, close };
}

async function opened(executor: AgentExecutor) {
  const connection = await connect(executor);
  cleanups.push(connection.close);
  return connection;
}

interface Part {
  readonly content: { readonly $case: 'text' | 'raw' | 'data'; readonly value: unknown };
  readonly mediaType?: string;
  readonly envelope?: Partial<Envelope> | undefined;
}

/** Sends parts of any form. */
async function sendParts(client: Client, parts: readonly Part[], returnImmediately = false) {
  const message = {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    role: 1,
    parts: parts.map(({ content, mediaType = 'application/aacp', envelope }) => ({
      content,
      mediaType,
      filename: '',
      metadata: envelope === undefined ? undefined : { [ENVELOPE_META]: envelope },
    })),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  } satisfies A2aMessage;
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately };
  const result = await (client as PacketClient).sendMessage({
    tenant: '',
    message,
    configuration,
    metadata: undefined,
  });
  if ('parts' in result) throw new Error('expected a task');
  const answers = (result.status?.message?.parts ?? []).map(({ content }) => content?.value as PacketAnswer);
  return { id: result.id, state: result.status?.state, answers };
}

function textPart(value: string, envelope: Partial<Envelope> | undefined = freshEnvelope()): Part {
  return { content: { $case: 'text', value }, envelope };
}

testBinding({
  name: 'A2A',
  connect: async (dispatcher, onError) => {
    const { client, close } = await connect(packetExecutor(dispatcher, { onError }));
    return {
      send: async (text, envelope) => (await sendParts(client, [{ ...textPart(text), envelope }])).answers[0]!,
      close,
    };
  },
});

describe('a client of A2A', () => {
  test('finds in the card that the agent takes packets', async () => {
    const { card } = await opened(packetExecutor(guarded().dispatcher));
    expect(routesOfCard(card)).toEqual(['FETCH|HR', 'ACK|*']);
    expect(routesOfCard(cardAt('http://127.0.0.1'))).toBeNull();
    expect(card.defaultInputModes).toEqual(['text/plain', 'application/aacp']);
    expect(aacpCard(card).capabilities.extensions).toHaveLength(1);
  });

  test('sends a packet, as the sender that the agent has authenticated', async () => {
    const { dispatcher, audit } = guarded();
    const { client } = await opened(packetExecutor(dispatcher, { authenticate: () => ({ actor: 'planner' }) }));
    expect(await sendPacket(client, PACKET)).toMatchObject({ ok: true, packet: ACK });
    expect(audit.records().map(({ actor }) => actor)).toEqual(['planner', 'planner']);
  });

  test('is refused without authentication', async () => {
    const { dispatcher, audit } = guarded();
    const { client } = await opened(packetExecutor(dispatcher, { authenticate: () => null }));
    expect(await sendPacket(client, PACKET)).toMatchObject({ ok: false, reason: 'unauthenticated' });
    expect(audit.records()).toEqual([]);
  });

  test('sends several packets in one message, which are dispatched in order, each on its own', async () => {
    const { dispatcher, handled } = guarded();
    const { client } = await opened(packetExecutor(dispatcher));
    const answers = await sendPackets(client, [PACKET, 'CALC|FIN|return:F|p:2|aacp:1.1', ACK]);
    expect(answers.map((answer) => (answer.ok ? answer.packet : answer.reason))).toEqual([ACK, 'no-handler', ACK]);
    expect(handled).toEqual([PACKET, ACK]);
  });

  test('gets the state of the task by the answers', async () => {
    const { client } = await opened(packetExecutor(guarded().dispatcher));
    const refused = textPart('hello');
    expect((await sendParts(client, [refused])).state).toBe(REJECTED);
    expect((await sendParts(client, [refused, textPart(PACKET)])).state).toBe(FAILED);
  });

  test('cannot hide a packet in a part of another type, or in a message without one', async () => {
    const { dispatcher, audit } = guarded();
    const { client } = await opened(packetExecutor(dispatcher));
    const { answers } = await sendParts(client, [
      { ...textPart(PACKET), mediaType: 'text/plain' },
      { ...textPart(PACKET), mediaType: '' },
      { content: { $case: 'data', value: { packet: PACKET } }, mediaType: 'application/json' },
    ]);
    expect(answers).toMatchObject([{ ok: false, reason: 'no-packet' }]);
    expect(audit.records()).toEqual([]);
  });

  test.each<[string, Part, object]>([
    ['a file', { content: { $case: 'raw', value: Buffer.from(PACKET) } }, { ok: true, packet: ACK }],
    ['data', { content: { $case: 'data', value: PACKET } }, { ok: true, packet: ACK }],
    ['a file that is not UTF-8', { content: { $case: 'raw', value: Buffer.from([0xff]) } }, { reason: 'not-utf8' }],
    ['an object', { content: { $case: 'data', value: { kind: 'packet' } } }, { reason: 'no-packet' }],
  ])('sends %s', async (_, part, expected) => {
    const { client } = await opened(packetExecutor(guarded().dispatcher));
    const { answers } = await sendParts(client, [{ ...part, envelope: freshEnvelope() }]);
    expect(answers).toMatchObject([expected]);
  });

  test('cancels a task: no further packet is dispatched, and each one is answered', async () => {
    const [started, finish] = [deferred(), deferred()];
    const seen: string[] = [];
    const { dispatcher } = guarded({
      handlers: {
        '*|*': async ({ task }) => {
          seen.push(task);
          started.resolve();
          await finish.promise;
        },
      },
    });
    const { execute, cancelTask } = packetExecutor(dispatcher);
    const { client } = await opened({
      execute,
      cancelTask: (...parameters) => {
        const cancelled = cancelTask(...parameters);
        finish.resolve();
        return cancelled;
      },
    });
    const { id } = await sendParts(client, [textPart(PACKET), textPart(ACK)], true);
    await started.promise;
    const { status } = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(status?.state).toBe(CANCELED);
    const answers = status?.message?.parts.map(({ content }) => content?.value as PacketAnswer);
    expect(answers).toMatchObject([{ ok: true }, { ok: false, reason: 'cancelled' }]);
    expect(seen).toEqual(['FETCH']);
  });

  test('does not take the answer of an agent without AACP for one', async () => {
    const client: PacketClient = {
      sendMessage: async ({ message }) => ({
        ...message!,
        parts: [{ content: { $case: 'text', value: 'ok' }, mediaType: '' }],
      }),
    };
    await expect(sendPacket(client, PACKET)).rejects.toMatchObject({ code: 'not-aacp' });
    await expect(sendPacket(client, 'hello')).rejects.toMatchObject({ code: 'invalid-packet' });
  });

  test('has the types of the binding', () => {
    expectTypeOf<PacketExecutor>().toExtend<AgentExecutor>();
    expectTypeOf<Client>().toExtend<PacketClient>();
  });
});
