/** The official client and the official server of A2A on Express, over JSON-RPC. */
import type { AddressInfo } from 'node:net';
import { AGENT_CARD_PATH, type AgentCard } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { afterEach } from 'vitest';
import { accpCard, accpExecutor, createEndpoint, type FrameHandler } from '../../../src/accp/bindings/a2a/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export const codec = createCodec();

function cardAt(url: string, protocolVersion: string): AgentCard {
  const card: AgentCard = {
    name: 'test',
    description: 'An agent of the tests',
    version: '1.0.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion, tenant: '' }],
    provider: undefined,
    capabilities: { streaming: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  };
  return accpCard(card, { registry: codec.registry });
}

export interface ConnectOptions {
  readonly protocolVersion?: string;
  readonly streaming?: boolean;
  /** Returns the port of a proxy in front of the server. */
  readonly through?: (port: number) => Promise<number>;
}

/** Serves an executor and connects a client. */
export async function connect(
  executor: AgentExecutor,
  { protocolVersion = '1.0', streaming = true, through = async (port) => port }: ConnectOptions = {},
): Promise<{ client: Client; card: AgentCard }> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const base = `http://127.0.0.1:${await through((server.address() as AddressInfo).port)}`;
  const card = cardAt(`${base}/rpc`, protocolVersion);
  if (!streaming) card.capabilities!.streaming = false;
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const legacyCompat = { enabled: protocolVersion !== '1.0' };
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ legacyCompat })],
    }),
  );
  return { client: await factory.createFromAgentCard(card), card };
}

/** Connects a client to a handler, with a session. */
export async function startConversation(handler: FrameHandler, options?: Parameters<typeof connect>[1]) {
  const { client } = await connect(accpExecutor(handler), options);
  const session = createSession({ agent: 'planner', sequence: 'sender' });
  return { client, session };
}

export function endpointOf(handle: Parameters<typeof createEndpoint>[0]['handle']): FrameHandler {
  const endpoint = createEndpoint({ codec, agent: 'worker', handle });
  cleanups.push(() => endpoint.close());
  return endpoint.handler;
}

export const REQUEST = { intent: 'req', operation: 'analyze', payload: { data: 'q3_sales' } } as const;
