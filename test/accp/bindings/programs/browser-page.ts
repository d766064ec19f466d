/** A web page that opens connections: with the browser's own WebSocket, and with the client for it. */
import {
  connectWebSocket,
  type LinkState,
  type WebSocketConstructor,
} from '../../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type MessageInput } from '../../../../src/accp/codec/index.js';
import { runProgram } from '../../../helpers/page-program.js';

export interface Transcript {
  /** Frames that arrived over a plain WebSocket, and the code with which it was closed. */
  readonly plain: { readonly protocol: string; readonly frames: readonly string[]; readonly closeCode: number };
  readonly link: {
    readonly echo: unknown;
    readonly text: string;
    /** Answers to requests around the one during which the server drops the connection. */
    readonly answers: readonly unknown[];
    readonly states: readonly LinkState[];
    /** The messages that the server sends on its own. */
    readonly notes: readonly unknown[];
  };
}

interface PlainWebSocket {
  readonly protocol: string;
  send(data: string): void;
  close(code: number): void;
  onopen: () => void;
  onmessage: (event: { readonly data: unknown }) => void;
  onclose: (event: { readonly code: number }) => void;
  onerror: () => void;
}

const page = globalThis as unknown as { readonly WebSocket: new (url: string, protocol: string) => PlainWebSocket };

/** Handwritten frames of a page: registry, request, and the end. */
function speakPlainly(url: string): Promise<Transcript['plain']> {
  return new Promise((resolve, reject) => {
    const socket = new page.WebSocket(url, 'accp');
    const frames: string[] = [];
    socket.onopen = () => socket.send('@page>sync:registry{v:1|hash:000000}[mid:p1,seq:1,sid:plain-page]');
    socket.onmessage = ({ data }) => {
      frames.push(String(data));
      if (frames.length === 1) socket.send('@page>req:echo{q:1}[mid:p2,seq:2]');
      else socket.close(1000);
    };
    socket.onclose = ({ code }) => resolve({ protocol: socket.protocol, frames, closeCode: code });
    socket.onerror = () => reject(new Error('the plain WebSocket failed'));
  });
}

async function speakByLink(url: string): Promise<Transcript['link']> {
  const session = createSession({ agent: 'page', sequence: 'sender' });
  const states: LinkState[] = [];
  const link = await connectWebSocket(url, {
    ...{ codec: createCodec(), session, WebSocket: page.WebSocket as unknown as WebSocketConstructor },
    reconnect: { minDelayMs: 50, maxDelayMs: 500 },
    onState: (state) => states.push(state),
  });
  const ask = (operation: string, payload: MessageInput['payload'] = {}): MessageInput => ({
    ...{ intent: 'req', operation, payload },
  });
  const { payload: echo } = await link.request(ask('echo', { text: 'Grüße, {|} 42' }));
  let text = '';
  for await (const { data } of link.stream(ask('count', { to: 20 }))) text += data;
  const requests = [1, 2, 3].map((n) => link.request(ask(n === 2 ? 'drop' : 'echo', { n })));
  const answers = (await Promise.all(requests)).map(({ payload }) => payload);
  await link.request(ask('note', { times: 3 }));
  const notes: unknown[] = [];
  for await (const { payload } of link.messages) if (notes.push(payload['n']) === 3) break;
  await link.close();
  session.close();
  return { echo, text, answers, states, notes };
}

await runProgram<{ readonly url: string }>(
  async ({ url }): Promise<Transcript> => ({ plain: await speakPlainly(url), link: await speakByLink(url) }),
);
