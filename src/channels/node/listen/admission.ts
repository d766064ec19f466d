// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** Who may speak to a server: by token, and from which web pages. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { withoutBlanks } from '../../../text/ascii.js';

export interface AdmissionOptions {
  /** What `Authorization: Bearer` has to say; without it, everybody may speak. */
  readonly token: string | undefined;
  /** Web pages that may speak besides those of the server itself: `https://example.org`. */
  readonly origins: readonly string[];
  /** The name or address under which it listens. */
  readonly host: string;
  /** Whether only this machine reaches it: then its browsers are what others could reach it through. */
  readonly isLoopback: boolean;
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

export interface Admission {
  /** Whether the names in the request are those of this server, and of pages that may speak to it. */
  readonly checkNames: (headers: IncomingHttpHeaders) => Refusal | null;
  /** Whether the token is right; of a WebSocket, it may be a subprotocol, since browsers can set no headers there. */
  readonly checkToken: (headers: IncomingHttpHeaders, isWebSocket: boolean) => Refusal | null;
  /** Returns whether a request shows any token, right or wrong. */
  readonly showsToken: (headers: IncomingHttpHeaders, isWebSocket: boolean) => boolean;
  /** Compares a token in constant time. */
  readonly isToken: (token: string) => boolean;
}

/** What tokens are made of (RFC 6750, section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** The subprotocol that stands for a token: the rest is the token, percent-encoded. */
const BEARER_PROTOCOL = 'bearer.';

/** @throws TypeError on options that are none */
export function createAdmission({ token, origins, host, isLoopback }: AdmissionOptions): Admission {
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
      // A page of somebody else's can have its own name point to this machine; what it asks for has that name.
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

/** Whether no other machine reaches an address. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.[0-9]{1,3}){3}$/i.test(address);
}

/** `example.org:4711`, `[::1]`: without the port, in lower case. */
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

/** As browsers send it: `null` is what pages without an origin say. */
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

/** Of one length whatever it is made of, so that comparing tells nothing about how much was right. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
