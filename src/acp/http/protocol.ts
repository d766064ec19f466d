/**
 * Headers of ACP over HTTP, and the parts of messages that choose their stream.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", "Identity Model" and "Content Negotiation and Validation".
 */
import { classify, type Id } from '../message.js';

/** The header with the identifier of the connection, which the server chooses at `initialize`. */
export const CONNECTION_HEADER = 'acp-connection-id';
/** The header with the identifier of the session that a message or stream belongs to. */
export const SESSION_HEADER = 'acp-session-id';
/**
 * The header with which both sides agree at `initialize` that streams can be continued: a client sends it with `1`, and a server that supports
 * it returns it. The transport defers this to its version 2, so a side that does not know the header ignores it.
 */
export const RESUMABLE_HEADER = 'acp-resumable';
/**
 * The header with which a server announces the milliseconds between two signs of life on a stream, comments included. A client then knows when
 * silence means that the connection is lost. The transport does not define it, so others ignore it.
 */
export const KEEP_ALIVE_HEADER = 'acp-keep-alive';
/** The header with the identifier of the last event that a client has read (WHATWG HTML, section 9.2.4). */
export const LAST_EVENT_HEADER = 'last-event-id';

/** The header with the version of ACP that clients may send ("Content Negotiation and Validation"). This server does not read it. */
export const VERSION_HEADER = 'acp-protocol-version';

/** The maximum length of the identifier of a session in a header. */
export const MAX_SESSION_ID = 1024;

/**
 * Returns whether a header can have the identifier of a session: printable ASCII characters, of which the first and the last are not spaces,
 * since those around a value are no part of it (RFC 9110, section 5.5).
 */
export function isSessionId(id: string): boolean {
  return id.length <= MAX_SESSION_ID && /^[!-~](?:[ -~]*[!-~])?$/.test(id);
}

/** The media type of messages. */
export const JSON_TYPE = 'application/json';
/** The default path. */
export const ACP_PATH = '/acp';
/** The default maximum size of a message in bytes. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** The parts of a message that determine its stream. */
export interface Outline {
  readonly kind: 'request' | 'notification' | 'response' | 'batch' | 'invalid';
  /** The identifier of a request or response. */
  readonly id?: Id | undefined;
  readonly method?: string;
  /** The `sessionId` in the params of a call. */
  readonly session?: string | undefined;
  /** The `sessionId` in the result of a response. */
  readonly created?: string | undefined;
  /** `true` for a response with a result. */
  readonly isResult?: boolean;
  /** The entries of a batch. */
  readonly entries?: readonly Outline[];
}

/** Reads the outline of a text. @returns `null` if it is not JSON */
export function outlineOf(text: string): Outline | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? { kind: 'batch', entries: value.map(outlineOfValue) } : outlineOfValue(value);
  } catch {
    return null;
  }
}

/** Returns the entries of a batch, or the message itself. */
export function entriesOf(outline: Outline | null): readonly Outline[] {
  return outline?.entries ?? (outline === null ? [] : [outline]);
}

/** The methods after whose result a session has no more messages, but those that answer its other requests. */
export const CLOSES: ReadonlySet<string | undefined> = new Set(['session/close', 'session/delete']);

/** A request that is not answered. */
export interface PendingRequest {
  readonly method: string | undefined;
  readonly session: string | undefined;
}

function outlineOfValue(value: unknown): Outline {
  const item = classify(value);
  switch (item.kind) {
    case 'request': {
      const { id, method, params } = item.message;
      return { kind: 'request', id, method, session: sessionIdOf(params) };
    }
    case 'notification':
      return { kind: 'notification', method: item.message.method, session: sessionIdOf(item.message.params) };
    case 'response': {
      const { id } = item.message;
      const isResult = 'result' in item.message;
      return { kind: 'response', id, isResult, created: isResult ? sessionIdOf(item.message.result) : undefined };
    }
    case 'malformed-response':
      return { kind: 'response', id: item.id };
    default:
      return { kind: 'invalid', id: item.id };
  }
}

function sessionIdOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'sessionId')) return undefined;
  const { sessionId } = value as { readonly sessionId: unknown };
  return typeof sessionId === 'string' ? sessionId : undefined;
}

/** Streams by the request that a message on them answers. Identifiers may be used more than once at a time. */
export class PendingRequests<Route> {
  readonly #routes = new Map<Id, Route[]>();
  #size = 0;

  /** The number of requests. */
  get size(): number {
    return this.#size;
  }

  /** Records the route of a response. */
  add(id: Id, route: Route): void {
    this.#size++;
    const routes = this.#routes.get(id);
    if (routes === undefined) this.#routes.set(id, [route]);
    else routes.push(route);
  }

  /** Returns the route of the oldest request with this identifier. @returns `undefined` if there is none */
  get(id: Id): Route | undefined {
    return this.#routes.get(id)?.[0];
  }

  /** Returns the requests whose routes match, with their identifiers. */
  filter(isMatch: (route: Route) => boolean): { readonly id: Id; readonly route: Route }[] {
    return [...this.#routes].flatMap(([id, routes]) => routes.filter(isMatch).map((route) => ({ id, route })));
  }

  /** Removes the oldest request with this identifier. */
  delete(id: Id): void {
    const routes = this.#routes.get(id);
    if (routes === undefined) return;
    routes.shift();
    this.#size--;
    if (routes.length === 0) this.#routes.delete(id);
  }
}
