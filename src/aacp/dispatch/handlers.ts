/** Which handler gets which packet. */
import type { Packet } from '../ast.js';
import type { PacketDiagnostic } from '../validate.js';

/** What stands outside the packet; see `Envelope`. */
export interface DispatchContext {
  /** Who sent the packet, as far as the host knows: for the log. */
  readonly actor?: string | undefined;
  readonly envelope?: { readonly nonce: string; readonly time: number } | undefined;
  /** Anything else that the handler needs. It is not logged. */
  readonly data?: unknown;
}

/** A packet that was handed over, with what is known of it. */
export interface Delivery {
  readonly warnings: readonly PacketDiagnostic[];
  /** `packetHash` of the packet. */
  readonly hash: string;
  readonly context: DispatchContext;
}

/** Acts on a valid packet. Its keys are in lower case. */
export type Handler<T> = (packet: Packet, delivery: Delivery) => T | Promise<T>;

/** Handlers by `TASK|DOM`; a `*` on either side stands for any word. The most exact one is taken, the TASK first. */
export type Handlers<T> = Readonly<Record<string, Handler<T>>>;

export interface HandlerOptions<T> {
  readonly handlers?: Handlers<T> | undefined;
  /** One handler for all packets, instead of `handlers`. */
  readonly deliver?: Handler<T> | undefined;
}

/** The handler of a packet; `null` when there is none. */
export type Route<T> = (packet: Packet) => Handler<T> | null;

/** @throws TypeError when there is not exactly one of the options, or it is not what it should be */
export function resolveRoute<T>({ handlers, deliver }: HandlerOptions<T>): Route<T> {
  if ((handlers === undefined) === (deliver === undefined)) throw new TypeError('give either handlers or deliver');
  if (deliver !== undefined) {
    if (typeof deliver !== 'function') throw new TypeError('deliver must be a function');
    return () => deliver;
  }
  if (typeof handlers !== 'object' || handlers === null) {
    throw new TypeError("handlers must be an object: { 'FETCH|HR': (packet) => ... }");
  }
  const known = new Map(Object.entries(handlers));
  for (const [route, handler] of known) {
    if (!/^[^|]+\|[^|]+$/.test(route))
      throw new TypeError(`handlers['${route}'] must be named TASK|DOM, or with a "*"`);
    if (typeof handler !== 'function') throw new TypeError(`handlers['${route}'] must be a function`);
  }
  return ({ task, domain }) =>
    [`${task}|${domain}`, `${task}|*`, `*|${domain}`, '*|*'].map((route) => known.get(route)).find(Boolean) ?? null;
}
