// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** What browsers ask before a request of a page (Fetch, section 3.2.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer } from '../../channels/node/listen.js';

/** Seconds that a page may remember what it may ask for. */
const MAX_AGE = '600';

/** It carries no token. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

export function preflight(response: ServerResponse): void {
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', 'content-type, authorization');
  response.setHeader('access-control-max-age', MAX_AGE);
  answer(response, 204);
}
