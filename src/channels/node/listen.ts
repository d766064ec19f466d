// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { createHash, timingSafeEqual } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { type AddressInfo, isIPv6, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { asciiLowerCase, withoutBlanks } from '../../text/ascii.js';
import { PegwireError } from '../../text/errors.js';
import { systemReason } from '../../text/system-reason.js';

/**
 * The code of a {@link ServeError}.
 *
 * - `no-token`: other machines could reach the server, and it does not require a token
 * - `no-tls`: other machines could reach the server, which speaks HTTP/2, and it has no certificate
 * - `in-use`: the port is already in use
 * - `cannot-listen`: the host has no address on this machine, or the process may not listen on the port
 */
export type ServeErrorCode = 'no-token' | 'no-tls' | 'in-use' | 'cannot-listen';

/** The error of a server that cannot start. */
export class ServeError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'ServeError';
  /** A code that stays the same between versions. */
  declare readonly code: ServeErrorCode;

  constructor(code: ServeErrorCode, message: string, cause?: unknown) {
    super({ code, message }, { cause });
  }
}

/** Options of a server on a port. */
export interface PortOptions {
  /** The port; 0 selects a free one. */
  readonly port: number;
  /** A host name or address; an IPv6 address may be enclosed in brackets. */
  readonly host: string;
  /** The bearer token that requests must contain; `undefined` requires none. */
  readonly token: string | undefined;
  /** If true, the server may be reachable from other machines without a token. */
  readonly insecure: boolean;
  /** The origins of other web pages that may use the server: `https://example.org`. */
  readonly origins: readonly string[];
  /** `true` if the server encrypts, `false` if it should where other machines can reach it; a proxy may do it for any other. */
  readonly isEncrypted?: boolean | undefined;
}

interface BoundPort {
  /** The host name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The host and port as in a URL. */
  readonly authority: string;
}

/**
 * Starts a server on a port.
 *
 * @param createServer creates the server, which must check each request with the given {@link Admission}
 * @throws ServeError if the server cannot listen, or other machines could reach it without a token
 * @throws TypeError if an option is invalid
 */
export async function listenOn(
  options: PortOptions,
  createServer: (admission: Admission) => Server,
): Promise<BoundPort> {
  const { host, address, admission } = await placeOf(options);
  const server = createServer(admission);
  await listening(server, options.port, address);
  return boundPort(host, (server.address() as AddressInfo).port);
}

/** A place on which a server may listen. */
interface Place {
  /** The host name or address, without brackets. */
  readonly host: string;
  /** The IP address. */
  readonly address: string;
  /** `true` if only this machine can reach the address. */
  readonly isLoopback: boolean;
  readonly admission: Admission;
}

/**
 * Resolves the address of a server, and checks that it may listen there.
 *
 * @throws ServeError if other machines could reach it without a token, or the host is unknown
 * @throws TypeError if an option is invalid
 */
export async function placeOf(options: PortOptions): Promise<Place> {
  const { port, host, token, insecure } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new TypeError(`port must be an integer from 0 to 65535; got ${port}`);
  const bare = typeof host === 'string' ? host.replace(/^\[(.*)\]$/, '$1') : '';
  if (bare === '' || (bare !== host && !isIPv6(bare)))
    throw new TypeError(`host must be a host name or address; got "${host}"`);
  const address = await addressOf(bare);
  const isLoopback = isLoopbackAddress(address);
  if (!isLoopback && token === undefined && !insecure)
    throw new ServeError('no-token', `Other machines could reach ${bare} without a token`);
  if (!isLoopback && options.isEncrypted === false && !insecure)
    throw new ServeError(
      'no-tls',
      `Other machines could reach ${bare} without encryption; give it a key and certificate`,
    );
  return { host: bare, address, isLoopback, admission: createAdmission(options, bare, isLoopback) };
}

/** Describes the port of a server. */
export function boundPort(host: string, port: number): BoundPort {
  return { host, port, authority: `${bracketed(host)}:${port}` };
}

async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (thrown) {
    throw new ServeError('cannot-listen', `${host} cannot be resolved to an address`, thrown);
  }
}

function listening(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, address, port)));
    server.listen(port, address, resolve);
  });
}

/** Converts the error of a server that cannot listen. */
export function listenError(error: unknown, address: string, port: number): ServeError {
  const place = `${bracketed(address)}:${port}`;
  if ((error as Partial<NodeJS.ErrnoException>).code === 'EADDRINUSE')
    return new ServeError('in-use', `${place} is already in use`, error);
  return new ServeError('cannot-listen', `Cannot listen on ${place}: ${systemReason(error)}`, error);
}

/** The reason for which a request is rejected. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

/** The access control of a server. */
export interface Admission {
  /** Checks that a request addresses this server and comes from an allowed origin. */
  readonly checkNames: (headers: IncomingHttpHeaders) => Refusal | null;
  /** Checks the token. A WebSocket may send it as a subprotocol, since browsers cannot set headers for WebSockets. */
  readonly checkToken: (headers: IncomingHttpHeaders, isWebSocket: boolean) => Refusal | null;
  /** Returns whether a request contains a token, valid or not. */
  readonly showsToken: (headers: IncomingHttpHeaders, isWebSocket: boolean) => boolean;
  /** Compares a token in constant time. */
  readonly isToken: (token: string) => boolean;
}

/** The syntax of a bearer token (RFC 6750, section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** The prefix of the subprotocol with the percent-encoded token. */
const BEARER_PROTOCOL = 'bearer.';

/**
 * Creates the access control of a server.
 *
 * @param isLoopback `true` if only this machine can reach the server, so its browsers are the way in for others
 * @throws TypeError if an option is invalid
 */
function createAdmission({ token, origins, isEncrypted }: PortOptions, host: string, isLoopback: boolean): Admission {
  if (token !== undefined && !(typeof token === 'string' && TOKEN.test(token)))
    throw new TypeError('token must consist of letters, digits and "-._~+/", optionally followed by "="');
  const allowed = new Set(origins.map(checkOrigin));
  const own = hostName(bracketed(host));
  const scheme = isEncrypted === true ? 'https' : 'http';

  const isToken = token === undefined ? () => false : tokenCheck(token);
  const shown = (headers: IncomingHttpHeaders, isWebSocket: boolean): string | undefined =>
    bearerOf(headers) ?? (isWebSocket ? protocolToken(headers) : undefined);
  const isOwnName = (name: string): boolean => name === own || isLoopbackName(name);

  return {
    checkNames: ({ host: given, origin }) => {
      const name = given === undefined ? undefined : hostName(given);
      // DNS rebinding: the name of another site can resolve to this machine; its requests contain that name.
      if (isLoopback && (name === undefined || !isOwnName(name))) return { status: 403, reason: 'host' };
      if (origin === undefined || allowed.has(origin.toLowerCase())) return null;
      const isOwnPage =
        name !== undefined && isOwnName(name) && origin.toLowerCase() === `${scheme}://${given?.toLowerCase()}`;
      return isOwnPage ? null : { status: 403, reason: 'origin' };
    },
    checkToken: (headers, isWebSocket) => {
      if (token === undefined) return null;
      const given = shown(headers, isWebSocket);
      return given !== undefined && isToken(given) ? null : { status: 401, reason: 'token' };
    },
    showsToken: (headers, isWebSocket) =>
      headers.authorization !== undefined || shown(headers, isWebSocket) !== undefined,
    isToken,
  };
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.[0-9]{1,3}){3}$/i.test(address);
}

/** Returns the host name of `example.org:4711` or `[::1]`: without the port, in lower case. */
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

/** Validates an origin; `null` is the origin of pages without one. */
function checkOrigin(origin: string): string {
  const lower = typeof origin === 'string' ? origin.toLowerCase() : '';
  if (lower === 'null' || (URL.canParse(lower) && new URL(lower).origin === lower)) return lower;
  throw new TypeError(
    `An origin must be a scheme and a host without a path, such as https://example.org; got "${origin}"`,
  );
}

function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : /^bearer +([!-~]+)$/i.exec(withoutBlanks(authorization))?.[1];
}

function protocolToken(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map(withoutBlanks);
  const encoded = offered?.find((one) => one.startsWith(BEARER_PROTOCOL))?.slice(BEARER_PROTOCOL.length);
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Returns a function that compares tokens with one, in constant time. */
export function tokenCheck(token: string): (given: string) => boolean {
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}

/** Hashes a token, so that all have the same length and can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Converts a request target in absolute form, as sent to proxies, to origin form; its host overrides `Host` (RFC 9112, section 3.2.2). */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/') || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.url = `${pathname}${search}`;
  request.headers.host = host;
}

/** The challenge that a 401 response must contain (RFC 9110, section 15.5.2). */
const CHALLENGE = 'Bearer';

/** Sends a response without a body. */
export function answer(response: ServerResponse | Http2ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  if (status === 401) response.setHeader('www-authenticate', CHALLENGE);
  response.end();
}

/** Sends a JSON document that caches must not store. */
export function answerJson(response: ServerResponse | Http2ServerResponse, value: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.setHeader('cache-control', 'no-store');
  response.end(`${JSON.stringify(value)}\n`);
}

/** The path of the health check. */
export const HEALTH_PATH = '/healthz';

/** Rejects an upgrade to WebSocket and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const challenge = status === 401 ? `WWW-Authenticate: ${CHALLENGE}\r\n` : '';
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${challenge}Connection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** Headers and connection options of an upgrade. */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** Returns whether a request asks for an upgrade to WebSocket. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return asciiLowerCase(withoutBlanks(headers.upgrade ?? '')) === 'websocket';
}

/**
 * Puts a request back into its socket without the upgrade headers, so that the next reader of the socket reads a plain request.
 *
 * @param head the bytes that were read after the headers
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
    if (UPGRADE_HEADERS.has(lower)) continue;
    const rest = lower === 'connection' ? withoutUpgradeOptions(value) : value;
    if (rest !== '') lines.push(`${name}: ${rest}`);
  }
  // Node decodes headers as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
}

function withoutUpgradeOptions(connection: string): string {
  const options = connection.split(',').map(withoutBlanks);
  return options.filter((option) => !UPGRADE_HEADERS.has(asciiLowerCase(option))).join(', ');
}
