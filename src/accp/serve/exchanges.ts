// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answer } from '../../channels/node/listen.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of each connection that are not answered yet. */
export class Exchanges {
  readonly #bySocket = new Map<Duplex, Set<Exchange>>();

  /** Adds a connection, which may be reported more than once. @returns `true` if it is new */
  opened(socket: Duplex): boolean {
    if (this.#bySocket.has(socket)) return false;
    const exchanges = new Set<Exchange>();
    this.#bySocket.set(socket, exchanges);
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      // Node closes only the response that is being written.
      setImmediate(() => {
        for (const { response } of exchanges) abandon(response);
      });
    });
    return true;
  }

  started(request: IncomingMessage, response: ServerResponse): void {
    const exchanges = this.#bySocket.get(request.socket);
    if (exchanges === undefined) return;
    const exchange = { request, response };
    exchanges.add(exchange);
    response.once('close', () => exchanges.delete(exchange));
  }

  /** Resolves when all requests of a connection have been answered; `undefined` if they already have. */
  answered(socket: Duplex): Promise<void> | undefined {
    const exchanges = this.#bySocket.get(socket);
    if (exchanges === undefined || exchanges.size === 0) return undefined;
    const last = [...exchanges].map(({ response }) => new Promise((resolve) => response.once('close', resolve)));
    return Promise.all(last).then(() => undefined);
  }

  /** Destroys the connections that have no complete request. */
  destroyIncomplete(): void {
    for (const [socket, exchanges] of this.#bySocket)
      if ([...exchanges].every(({ request }) => !request.complete)) socket.destroy();
  }
}

/** Closes a response that was not assigned to its connection, which would never emit `close`. */
function abandon(response: ServerResponse): void {
  if (response.closed || response.destroyed) return;
  response.destroy();
  response.emit('close');
}

/** Seconds for which a browser caches the answer to a preflight request. */
const MAX_AGE = '600';

/** Tests for the preflight requests of browsers, which carry no token. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

/** @param isFrame `false` for another route, whose headers are not known here */
export function preflight({ headers }: IncomingMessage, response: ServerResponse, isFrame: boolean): void {
  const requested = isFrame ? undefined : headers['access-control-request-headers'];
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', requested ?? 'content-type, authorization');
  response.setHeader('access-control-max-age', MAX_AGE);
  answer(response, 204);
}
