/** Frames over HTTP on the loopback, with and without a codec behind the handler. */
import { createServer, Agent as KeepAlive, request, type Server } from 'node:http';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { createEndpoint, createHandler, FRAME_TYPE, FRAMES_PATH } from '../../src/accp/bindings/http/index.js';
import { createCodec, createSession } from '../../src/accp/codec/index.js';
import { type BindingBench, CONNECTIONS, MESSAGE, RESULT, SESSIONS, TEXT_ONLY } from './work.js';

/** @param frames the number of frames of one pass */
export async function openHttp(frames: number): Promise<BindingBench> {
  const codec = createCodec({ state: false });
  const endpoint = createEndpoint({
    codec,
    agent: 'tools',
    handle: () => ({ intent: 'done', operation: 'tool', schema: 'TC', payload: RESULT }),
  });
  // One session per connection: within a session, requests are sequential.
  const sessions = Array.from({ length: CONNECTIONS }, () => createSession({ agent: 'bench', sequence: 'sender' }));
  const frame = codec.encode(MESSAGE, createSession({ agent: 'bench' })).frames[0]!;
  const echo = await serve(createRequestListener(createHandler((text) => text)));
  const answering = await serve(createRequestListener(createHandler(endpoint)));
  const keepAlive = new KeepAlive({ keepAlive: true, maxSockets: CONNECTIONS });

  const pass = (port: number, exchange: (send: (frame: string) => Promise<string>, at: number) => Promise<void>) => {
    const send = (text: string): Promise<string> => post(port, text, keepAlive);
    const each = Math.ceil(frames / CONNECTIONS);
    return Promise.all(
      sessions.map(async (_, at) => {
        for (let done = 0; done < each; done++) await exchange(send, at);
      }),
    ).then(() => undefined);
  };
  return {
    frames,
    runners: [
      { name: TEXT_ONLY, pass: () => pass(portOf(echo), async (send) => void (await send(frame))) },
      {
        name: SESSIONS,
        pass: () =>
          pass(portOf(answering), async (send, at) => {
            const session = sessions[at]!;
            const answer = await send(codec.encode(MESSAGE, session).frames[0]!);
            const { outcome } = codec.decode(answer, session);
            if (outcome !== 'message') throw new Error(`the answer was ${outcome}: ${answer}`);
          }),
      },
    ],
    close: async () => {
      keepAlive.destroy();
      endpoint.close();
      for (const server of [echo, answering]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Node's own client uses less processor time than `fetch`, so that more of the figure is the server's. */
function post(port: number, body: string, agent: KeepAlive): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': FRAME_TYPE, 'content-length': Buffer.byteLength(body) };
    const sent = request({ port, host: '127.0.0.1', path: FRAMES_PATH, method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function serve(listener: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(listener!);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}
