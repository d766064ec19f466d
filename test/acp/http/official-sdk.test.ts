/** Interoperability with the transports of the official SDK. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agent, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type AcpListener, connectAcp, listenAcp } from '../../../src/acp/http/index.js';
import { officialTurn, ourTurn, servePrompts, TURN } from './turn.js';

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

/** An agent of the official SDK, as `official/prompt-agent.ts`. */
function officialAgent() {
  let sessions = 0;
  return agent({ name: 'prompt' })
    .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: `s${++sessions}` }))
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const { sessionId } = params;
      const say = (text: string): Promise<void> =>
        client.notify(methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
        });
      await say('May I');
      await say(' write?');
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId: 't1', title: 'write a file' },
        options: [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ],
      });
      await say(outcome.outcome === 'selected' ? ` ${outcome.optionId}.` : ' cancelled.');
      return { stopReason: 'end_turn' };
    });
}

describe('our client has a whole turn with the official server', () => {
  test.each(['http', 'ws'])('over %s', async (scheme) => {
    const acp = new AcpServer({ createAgent: officialAgent });
    const server = createServer(createNodeHttpHandler(acp));
    server.on('upgrade', createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await ourTurn(connectAcp(`${scheme}://127.0.0.1:${port}/acp`))).toEqual(TURN);
    await acp.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('our client has a whole turn with our server', () => {
  test('over WebSocket', async () => {
    expect(await ourTurn(connectAcp((await served()).ws))).toEqual(TURN);
  });

  test('over HTTP/2', async () => {
    const server = await served();
    const channel = connectAcp(server.http);
    expect(await ourTurn(channel)).toEqual(TURN);
  });

  test('over HTTP/1.1', async () => {
    expect(await ourTurn(connectAcp((await served()).http, { fetch }))).toEqual(TURN);
  });
});
