/** Interoperability with the transports of the official SDK. */
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type AcpListener, listenAcp } from '../../../src/acp/http/index.js';
import { officialTurn, servePrompts, TURN } from './turn.js';

const servers: AcpListener[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function served(): Promise<AcpListener> {
  const server = await listenAcp((channel) => servePrompts(channel));
  servers.push(server);
  return server;
}

describe('the official client', () => {
  test('has a whole turn with our server over HTTP', async () => {
    const server = await served();
    expect(await officialTurn(createHttpStream(server.http))).toEqual(TURN);
  });

  test('has a whole turn with our server over WebSocket', async () => {
    const server = await served();
    const stream = createWebSocketStream(server.ws, { WebSocket } as never);
    expect(await officialTurn(stream)).toEqual(TURN);
  });
});
