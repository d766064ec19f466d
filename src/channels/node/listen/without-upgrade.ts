// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** Requests that offer another protocol than WebSocket, such as HTTP/2: a server may go on as if they had not (RFC 9110, section 7.8). */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';

/** Headers of the offer. */
const OFFER: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return asciiLowerCase(withoutBlanks(headers.upgrade ?? '')) === 'websocket';
}

/**
 * Puts a request back in front of what has come behind it, without what it offers: who reads the socket anew, reads a plain request.
 *
 * @param head what was read behind its headers
 */
export function withoutUpgrade(
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    const value = rawHeaders[at + 1]!;
    const lower = asciiLowerCase(name);
    if (OFFER.has(lower)) continue;
    const kept = lower === 'connection' ? withoutOffer(value) : value;
    if (kept !== '') lines.push(`${name}: ${kept}`);
  }
  // Headers were read as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
}

function withoutOffer(connection: string): string {
  const options = connection.split(',').map(withoutBlanks);
  return options.filter((option) => !OFFER.has(asciiLowerCase(option))).join(', ');
}
