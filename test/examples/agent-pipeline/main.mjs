import { once } from 'node:events';
import { createCodec, createSession } from 'pegwire/accp/session';
import { connectWebSocket, createEndpoint, createWebSocketEndpoint } from 'pegwire/accp/websocket';
import { WebSocket, WebSocketServer } from 'ws';

/** Starts an agent that answers each request with the result of `work`. */
async function startAgent(agent, work) {
  const endpoint = createEndpoint({
    codec: createCodec(),
    agent,
    handle: async ({ intent, operation, payload }) =>
      intent === 'req' ? { intent: 'done', operation, payload: await work(payload) } : null,
  });
  const sockets = createWebSocketEndpoint(endpoint);
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 1_048_576 });
  server.on('connection', (socket) => sockets.accept(socket));
  await once(server, 'listening');
  return `ws://127.0.0.1:${server.address().port}`;
}

/** Connects to an agent. The link reconnects by itself; no message is lost or repeated. */
async function connectTo(url) {
  const session = createSession({ agent: 'planner', sequence: 'sender' });
  return connectWebSocket(url, { codec: createCodec(), session, WebSocket });
}

const research = await connectTo(
  await startAgent('research', ({ topic }) => ({ facts: [`${topic} grew 12 %`, 'churn fell'] })),
);
const writer = await connectTo(await startAgent('writer', ({ facts }) => ({ text: `${facts.join(', and ')}.` })));

const { payload: found } = await research.request({
  intent: 'req',
  operation: 'search',
  payload: { topic: 'Revenue' },
});
const { payload: written } = await writer.request({
  intent: 'req',
  operation: 'write',
  payload: { facts: found.facts },
});
console.log(written.text);

await research.close();
await writer.close();
process.exit(); // the agents would keep listening
