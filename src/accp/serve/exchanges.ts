// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answer } from '../../channels/node/listen.js';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export class Exchanges {
  readonly #bySocket = new Map<Duplex, Set<Exchange>>();

  /** A connection may be reported more than once. @returns whether it is new */
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

  /** Resolves when all requests of a connection have been answered; `undefined` when they have. */
  answered(socket: Duplex): Promise<void> | undefined {
    const exchanges = this.#bySocket.get(socket);
    if (exchanges === undefined || exchanges.size === 0) return undefined;
    const last = [...exchanges].map(({ response }) => new Promise((resolve) => response.once('close', resolve)));
    return Promise.all(last).then(() => undefined);
  }

  /** Drops the connections on which no complete request is being answered. */
  destroyIncomplete(): void {
    for (const [socket, exchanges] of this.#bySocket)
      if ([...exchanges].every(({ request }) => !request.complete)) socket.destroy();
  }
}

/** A response that was never given to its connection does not get its `close`. */
function abandon(response: ServerResponse): void {
  if (response.closed || response.destroyed) return;
  response.destroy();
  response.emit('close');
}

/** Seconds. */
const MAX_AGE = '600';

/** A preflight request carries no token. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

export function preflight(response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', 'content-type, authorization');
  response.setHeader('access-control-max-age', MAX_AGE);
  answer(response, 204);
}
