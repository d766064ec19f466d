// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
import { createHash, timingSafeEqual } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { asciiLowerCase, withoutBlanks } from '../../text/ascii.js';
import { PegwireError } from '../../text/errors.js';
import { systemReason } from '../../text/system-reason.js';

/**
 * - `no-token`: other machines could reach the server, and no token is required
 * - `in-use`: another server listens there
 * - `cannot-listen`: the host has no address here, or this process may not listen on it
 */
export type ServeErrorCode = 'no-token' | 'in-use' | 'cannot-listen';

export class ServeError extends PegwireError {
  override readonly name: string = 'ServeError';
  declare readonly code: ServeErrorCode;

  constructor(code: ServeErrorCode, message: string, cause?: unknown) {
    super({ code, message }, { cause });
  }
}

interface PortOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** A name or an address; an IPv6 address may stand in brackets. */
  readonly host: string;
  /** Requires this bearer token. */
  readonly token: string | undefined;
  /** Whether other machines may reach the server without a token. */
  readonly insecure: boolean;
  /** Web pages that may speak to the server, besides its own: `https://example.org`. */
  readonly origins: readonly string[];
}

interface BoundPort {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** The host and the port, as they stand in a URL. */
  readonly authority: string;
}

/**
 * Starts a server on a port.
 *
 * @param serverOf makes the server, which asks the admission before it answers
 * @throws ServeError if it cannot listen, or must not: on an address that other machines reach, without a token
 * @throws TypeError if an option is invalid
 */
export async function listenOn(options: PortOptions, serverOf: (admission: Admission) => Server): Promise<BoundPort> {
  const { port, host, token, insecure } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new TypeError(`port is a whole number from 0 to 65535; got ${port}`);
  const bare = typeof host === 'string' ? host.replace(/^\[(.*)\]$/, '$1') : '';
  if (bare === '' || (bare !== host && !isIPv6(bare)))
    throw new TypeError(`host is a name or an address; got "${host}"`);
  const address = await addressOf(bare);
  const isLoopback = isLoopbackAddress(address);
  if (!isLoopback && token === undefined && !insecure)
    throw new ServeError('no-token', `Without a token, others than this machine would speak on ${bare}`);
  const server = serverOf(createAdmission(options, bare, isLoopback));
  await listening(server, port, address);
  const bound = (server.address() as AddressInfo).port;
  return { host: bare, port: bound, authority: `${bracketed(bare)}:${bound}` };
}

async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (thrown) {
    throw new ServeError('cannot-listen', `There is no address for ${host}`, thrown);
  }
}

function listening(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const place = `${bracketed(address)}:${port}`;
      if (error.code === 'EADDRINUSE') reject(new ServeError('in-use', `Somebody listens on ${place} already`, error));
      else reject(new ServeError('cannot-listen', `Cannot listen on ${place}: ${systemReason(error)}`, error));
    });
    server.listen(port, address, resolve);
  });
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

export interface Admission {
  /** Checks that the request names this server, and comes from a page that may speak to it. */
  readonly checkNames: (headers: IncomingHttpHeaders) => Refusal | null;
  /** Checks the token; a WebSocket may send it as a subprotocol, since browsers can set no headers there. */
  readonly checkToken: (headers: IncomingHttpHeaders, isWebSocket: boolean) => Refusal | null;
  /** Returns whether a request has any token, right or wrong. */
  readonly showsToken: (headers: IncomingHttpHeaders, isWebSocket: boolean) => boolean;
  /** Compares a token in constant time. */
  readonly isToken: (token: string) => boolean;
}

/** RFC 6750, section 2.1. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** The prefix of the subprotocol; the percent-encoded token follows. */
const BEARER_PROTOCOL = 'bearer.';

/**
 * @param isLoopback whether only this machine reaches the server: then its browsers are the way by which others could
 * @throws TypeError if an option is invalid
 */
function createAdmission({ token, origins }: PortOptions, host: string, isLoopback: boolean): Admission {
  if (token !== undefined && !(typeof token === 'string' && TOKEN.test(token)))
    throw new TypeError('token is 1 or more letters, digits and "-._~+/", with "=" at the end or not');
  const allowed = new Set(origins.map(checkOrigin));
  const expected = token === undefined ? undefined : digest(token);
  const own = hostName(bracketed(host));

  const isToken = (token: string): boolean => expected !== undefined && timingSafeEqual(digest(token), expected);
  const shown = (headers: IncomingHttpHeaders, isWebSocket: boolean): string | undefined =>
    bearerOf(headers) ?? (isWebSocket ? protocolToken(headers) : undefined);
  const isOwnName = (name: string): boolean => name === own || isLoopbackName(name);

  return {
    checkNames: ({ host: given, origin }) => {
      const name = given === undefined ? undefined : hostName(given);
      // A page of another site can have its name point to this machine; its requests have that name.
      if (isLoopback && (name === undefined || !isOwnName(name))) return { status: 403, reason: 'host' };
      if (origin === undefined || allowed.has(origin.toLowerCase())) return null;
      const isOwnPage =
        name !== undefined && isOwnName(name) && origin.toLowerCase() === `http://${given?.toLowerCase()}`;
      return isOwnPage ? null : { status: 403, reason: 'origin' };
    },
    checkToken: (headers, isWebSocket) => {
      if (expected === undefined) return null;
      const token = shown(headers, isWebSocket);
      return token !== undefined && isToken(token) ? null : { status: 401, reason: 'token' };
    },
    showsToken: (headers, isWebSocket) =>
      headers.authorization !== undefined || shown(headers, isWebSocket) !== undefined,
    isToken,
  };
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.[0-9]{1,3}){3}$/i.test(address);
}

/** Returns the name without the port, in lower case: of `example.org:4711`, `[::1]`. */
function hostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:[0-9]*$/, '')
    .replace(/\.$/, '');
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'));
}

/** `null` is the origin of pages without one. */
function checkOrigin(origin: string): string {
  const lower = typeof origin === 'string' ? origin.toLowerCase() : '';
  if (lower === 'null' || (URL.canParse(lower) && new URL(lower).origin === lower)) return lower;
  throw new TypeError(`An origin is a scheme and a host, without a path: https://example.org; got "${origin}"`);
}

function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : /^bearer +([!-~]+)$/i.exec(withoutBlanks(authorization))?.[1];
}

function protocolToken(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map(withoutBlanks);
  const told = offered?.find((one) => one.startsWith(BEARER_PROTOCOL))?.slice(BEARER_PROTOCOL.length);
  if (told === undefined) return undefined;
  try {
    return decodeURIComponent(told);
  } catch {
    return undefined;
  }
}

/** Of one length for all tokens, so that the time of a comparison shows nothing. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A request may name a whole address, as for proxies; then its host counts, and not `Host` (RFC 9112, section 3.2.2). */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/') || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.url = `${pathname}${search}`;
  request.headers.host = host;
}

/** Required with 401 (RFC 9110, section 15.5.2). */
const CHALLENGE = 'Bearer';

export function answer(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  if (status === 401) response.setHeader('www-authenticate', CHALLENGE);
  response.end();
}

/** Answers with a JSON document, which no cache keeps. */
export function answerJson(response: ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store');
  response.end(`${JSON.stringify(value)}\n`);
}

/** The path of the health check. */
export const HEALTH_PATH = '/healthz';

/** Answers a WebSocket request, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const challenge = status === 401 ? `WWW-Authenticate: ${CHALLENGE}\r\n` : '';
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${challenge}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** Headers of an upgrade. */
const OFFER: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return asciiLowerCase(withoutBlanks(headers.upgrade ?? '')) === 'websocket';
}

/**
 * Puts a request back in front of the following bytes, without its upgrade: the next reader of the socket reads a plain request.
 *
 * @param head the bytes that were read after its headers
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
