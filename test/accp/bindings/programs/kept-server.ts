/**
 * A server of frames whose sessions are in a file, to be killed while it works: `server.mjs FILE PORT again|refuse`. It prints its port,
 * and each request of its handler.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { WebSocketServer } from 'ws';
import { createEndpoint, createHandler, FRAMES_PATH } from '../../../../src/accp/bindings/http/index.js';
import { createWebSocketEndpoint } from '../../../../src/accp/bindings/websocket/index.js';
import { createCodec, streamMessages } from '../../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../../src/accp/store/sqlite.js';
import { tell } from '../../../helpers/tell.js';

const [file, port, policy] = process.argv.slice(2);
const isFirst = port === '0';

/** The last message is sent at the end, which the first process does not reach. */
async function* counted(): AsyncGenerator<string> {
  for (let n = 0; n < 3; n++) yield `n${n}`;
  if (isFirst) await new Promise(() => undefined);
}

const endpoint = createEndpoint({
  codec: createCodec({ state: false }),
  agent: 'server',
  session: { store: await sqliteStore(file!) },
  retryInterrupted: () => policy === 'again',
  handle: async ({ intent, operation, payload, envelope: { correlation_id: cid } }) => {
    if (intent !== 'req') return null;
    tell(operation);
    if (operation === 'mute') return null;
    if (operation === 'count') return streamMessages(counted(), { correlationId: cid!, operation });
    // The first process does not reach its end.
    if (operation === 'pay' && isFirst) await new Promise(() => undefined);
    return { intent: 'done', operation, payload };
  },
});
const sockets = createWebSocketEndpoint(endpoint);
const server = createServer(createRequestListener(createHandler(endpoint)));
new WebSocketServer({ server, path: FRAMES_PATH }).on('connection', (socket) => sockets.accept(socket));
process.stdin.on('end', () => process.exit()).resume();
server.listen(Number(port), '127.0.0.1', () => tell(String((server.address() as AddressInfo).port)));
