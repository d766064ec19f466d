/** A reverse HTTP proxy that cuts the body of a response. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

/**
 * The way in which a body is cut.
 *
 * - `chunked`: the chunked encoding ends normally, as in proxies whose upstream failed
 * - `closed`: a body without a length ends with the connection (FIN)
 * - `unended`: the connection ends (FIN) before the last chunk
 * - `reset`: the connection is reset (RST)
 */
export type Ending = 'chunked' | 'closed' | 'unended' | 'reset';
export const ENDINGS: readonly Ending[] = ['chunked', 'closed', 'unended', 'reset'];

export interface CuttingHttpProxy {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Starts a proxy. @param cut returns the offset at which to cut the body received so far, or -1 to continue */
export async function cuttingHttpProxy(
  target: number,
  ending: Ending,
  cut: (body: string) => number,
): Promise<CuttingHttpProxy> {
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const upstream = request({ port: target, host: '127.0.0.1', method, path: url, headers }, (given) => {
      const passed = { ...given.headers };
      // These headers apply to one connection only.
      for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'content-length']) delete passed[name];
      response.useChunkedEncodingByDefault = ending !== 'closed';
      response.writeHead(given.statusCode!, passed);
      response.flushHeaders();
      pass(given, response);
    });
    upstream.on('error', () => response.destroy());
    incoming.pipe(upstream);
  });

  function pass(given: IncomingMessage, response: ServerResponse): void {
    let body = '';
    given.setEncoding('latin1').on('data', (text: string) => {
      const before = body.length;
      body += text;
      const at = cut(body);
      if (at < 0) {
        response.write(text, 'latin1');
        return;
      }
      given.removeAllListeners('data').removeAllListeners('end');
      given.destroy();
      const rest = Math.max(0, at - before);
      response.write(text.slice(0, rest), 'latin1', () => end(response));
    });
    given.on('end', () => response.end()).on('error', () => undefined);
  }

  function end(response: ServerResponse): void {
    if (ending === 'reset') response.socket?.resetAndDestroy();
    else if (ending === 'unended') response.socket?.end();
    else response.end();
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
