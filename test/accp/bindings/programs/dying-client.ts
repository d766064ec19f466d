/** A client to be killed while it sends: `client.mjs websocket|http URL`. It prints a line in the middle of sending. */
import { request } from 'node:http';
import process from 'node:process';
import { WebSocket } from 'ws';
import { connectWebSocket } from '../../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession } from '../../../../src/accp/codec/index.js';
import { tell } from '../../../helpers/tell.js';

const [binding, url] = process.argv.slice(2);
const TEXT = 'x'.repeat(500_000);

process.stdin.on('end', () => process.exit()).resume();
if (binding === 'websocket') await floodWebSocket();
else if (binding === 'half-frame') await sendHalfFrame();
else sendHalfBody();

/** Large messages, one after the other: whenever the process is killed, one of them is incomplete. */
async function floodWebSocket(): Promise<void> {
  const session = createSession({ agent: 'client', sequence: 'sender' });
  const link = await connectWebSocket(url!, { codec: createCodec(), session, WebSocket });
  for (let n = 0; ; n++) {
    const { payload } = await link.request({ intent: 'req', operation: 'measure', payload: { text: TEXT } });
    if (n === 0) tell(`answered ${payload['length']}`);
  }
}

/** The first half of a WebSocket message of 1,000,000 bytes. */
async function sendHalfFrame(): Promise<void> {
  const session = createSession({ agent: 'client', sequence: 'sender' });
  let socket: WebSocket | undefined;
  await connectWebSocket(
    () => {
      socket = new WebSocket(url!, 'accp', { perMessageDeflate: false });
      return socket;
    },
    { codec: createCodec(), session },
  );
  const header = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x0f, 0x42, 0x40, 0, 0, 0, 0]);
  const raw = (socket as unknown as { readonly _socket: NodeJS.WritableStream })._socket;
  raw.write(Buffer.concat([header, Buffer.from(TEXT)]), () => tell('half'));
}

/** The first half of a body of 1,000,000 bytes. */
function sendHalfBody(): void {
  const headers = { 'content-type': 'application/accp', 'content-length': '1000000' };
  const sent = request(url!, { method: 'POST', headers });
  sent.on('error', () => {});
  sent.write(`@a>req:x{d:${TEXT}`, () => tell('half'));
}
