// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** Responses that say no more than their status. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** What 401 has to say (RFC 9110, section 15.5.2). */
const CHALLENGE = 'Bearer';

export function answer(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  if (status === 401) response.setHeader('www-authenticate', CHALLENGE);
  response.end();
}

/** Answers a request for a WebSocket, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const challenge = status === 401 ? `WWW-Authenticate: ${CHALLENGE}\r\n` : '';
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${challenge}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}
