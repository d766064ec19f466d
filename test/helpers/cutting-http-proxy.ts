/** A reverse proxy for HTTP that cuts the body of an answer. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

/**
 * - `chunked`: the body is cut, and its encoding is ended properly: so do proxies whose upstream died
 * - `closed`: a body without a length, ended by the end of the connection (FIN)
 * - `unended`: chunks without the last one, and the end of the connection (FIN)
 * - `reset`: the connection is reset (RST)
 */
export type Ending = 'chunked' | 'closed' | 'unended' | 'reset';
export const ENDINGS: readonly Ending[] = ['chunked', 'closed', 'unended', 'reset'];

export interface CuttingHttpProxy {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** @param cut given what the body holds so far; gives the offset to cut at, or -1 to let it pass */
export async function cuttingHttpProxy(
  target: number,
  ending: Ending,
  cut: (body: string) => number,
): Promise<CuttingHttpProxy> {
  const server = createServer((asked, answer) => {
    const { method, url, headers } = asked;
    const upstream = request({ port: target, host: '127.0.0.1', method, path: url, headers }, (given) => {
      const passed = { ...given.headers };
      // They are this connection's own.
      for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'content-length']) delete passed[name];
      answer.useChunkedEncodingByDefault = ending !== 'closed';
      answer.writeHead(given.statusCode!, passed);
      answer.flushHeaders();
      pass(given, answer);
    });
    upstream.on('error', () => answer.destroy());
    asked.pipe(upstream);
  });

  function pass(given: IncomingMessage, answer: ServerResponse): void {
    let body = '';
    given.setEncoding('latin1').on('data', (text: string) => {
      const before = body.length;
      body += text;
      const at = cut(body);
      if (at < 0) {
        answer.write(text, 'latin1');
        return;
      }
      given.removeAllListeners('data').removeAllListeners('end');
      given.destroy();
      const rest = Math.max(0, at - before);
      answer.write(text.slice(0, rest), 'latin1', () => end(answer));
    });
    given.on('end', () => answer.end()).on('error', () => undefined);
  }

  function end(answer: ServerResponse): void {
    if (ending === 'reset') answer.socket?.resetAndDestroy();
    else if (ending === 'unended') answer.socket?.end();
    else answer.end();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
