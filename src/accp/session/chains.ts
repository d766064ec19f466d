/** Request chains by correlation identifier (draft-benzing-accp-00, sections 3.5, 3.7 and 10.3). */
import { type AccpError, accpError } from '../errors.js';
import type { JsonObject } from '../message/json.js';
import type { Message } from '../message/message.js';
import type { KnownRequest } from '../profiles/profile.js';
import type { Collection, Journal } from '../store/journal.js';

/** A received request that is not answered yet. */
export interface PendingRequest {
  /** The correlation identifier for the answer. */
  readonly correlationId: string;
  /** The request as it was received. */
  readonly message: Message;
  /** `true` if the handler has returned without an answer; the host answers later. */
  readonly isDeferred: boolean;
}

interface Chain extends KnownRequest {
  /** The time at which the answer of the other side is overdue, in milliseconds since 1970. */
  readonly deadlineAt?: number | undefined;
  readonly cancelled?: true | undefined;
  /** The identifier of the first request of this side. */
  readonly mid?: string | undefined;
  readonly request?: UnansweredRequest | undefined;
}

interface UnansweredRequest {
  readonly message: Message;
  readonly isDeferred?: true | undefined;
}

interface ChainsOptions {
  readonly journal: Journal;
  readonly maxChains: number;
  readonly timeoutMs: number;
}

/** The number of chains searched for an idle one. */
const MAX_SEARCHED = 32;
/** The number of signals per chain: a host may request signals of any identifier. */
const SIGNALS_PER_CHAIN = 4;

export class Chains {
  readonly #options: ChainsOptions;
  readonly #chains: Collection<Chain>;
  readonly #controllers = new Map<string, AbortController>();
  /** A lower bound of all deadlines. */
  #firstDeadlineAt = 0;

  constructor(options: ChainsOptions) {
    this.#options = options;
    this.#chains = options.journal.collection('chains');
    // Makes the first call of `overdue` search the chains of an earlier process.
    if (this.#chains.size > 0) this.#firstDeadlineAt = 1;
  }

  get(cid: string): Chain | undefined {
    return this.#chains.get(cid);
  }

  isCancelled(cid: string): boolean {
    return this.#chains.get(cid)?.cancelled === true;
  }

  requested(cid: string, mid: string, chain: KnownRequest, now: number): void {
    const deadlineAt = this.#deadlineFrom(now);
    if (deadlineAt !== undefined) this.#firstDeadlineAt = Math.min(this.#firstDeadlineAt || deadlineAt, deadlineAt);
    const known = this.#chains.get(cid);
    this.#set(cid, { ...merged(known, chain, deadlineAt, known?.request), mid: known?.mid ?? mid });
  }

  /** Records a received request. @param message with references in place of large values */
  received(cid: string, chain: KnownRequest, message: Message): void {
    const known = this.#chains.get(cid);
    this.#set(cid, merged(known, chain, known?.deadlineAt, { message }));
  }

  /** Returns the unanswered requests, the oldest chains first. `resolveReferences` replaces the references of a payload. */
  pending(resolveReferences: (payload: JsonObject) => JsonObject): PendingRequest[] {
    const pending: PendingRequest[] = [];
    for (const [correlationId, { request }] of this.#chains.entries()) {
      if (request === undefined) continue;
      const message = { ...request.message, payload: resolveReferences(request.message.payload) };
      pending.push({ correlationId, message, isDeferred: request.isDeferred === true });
    }
    return pending;
  }

  isPending(cid: string, mid: string): boolean {
    return this.#chains.get(cid)?.request?.message.envelope.msg_id === mid;
  }

  deferred(cid: string): void {
    const chain = this.#chains.get(cid);
    if (chain?.request === undefined) return;
    this.#chains.set(cid, { ...chain, request: { ...chain.request, isDeferred: true } });
  }

  answered(cid: string): void {
    const chain = this.#chains.get(cid);
    if (chain?.deadlineAt !== undefined) this.#chains.set(cid, { ...chain, deadlineAt: undefined });
  }

  settled(cid: string): void {
    this.#controllers.delete(cid);
    const chain = this.#chains.get(cid);
    if (chain?.request !== undefined) this.#chains.set(cid, { ...chain, request: undefined });
  }

  prolong(cid: string, now: number): void {
    const chain = this.#chains.get(cid);
    if (chain?.deadlineAt !== undefined) this.#chains.set(cid, { ...chain, deadlineAt: this.#deadlineFrom(now) });
  }

  cancel(cid: string): void {
    this.#set(cid, { ...this.#chains.get(cid), cancelled: true, deadlineAt: undefined, request: undefined });
    const controller = this.#controllers.get(cid);
    if (controller === undefined) return;
    controller.abort(cancelled(cid));
    this.#controllers.delete(cid);
  }

  signal(cid: string): AbortSignal {
    const known = this.#controllers.get(cid);
    if (known !== undefined) return known.signal;
    const controller = new AbortController();
    if (this.isCancelled(cid)) controller.abort(cancelled(cid));
    else this.#controllers.set(cid, controller);
    if (this.#controllers.size > this.#options.maxChains * SIGNALS_PER_CHAIN) {
      this.#controllers.delete(this.#controllers.keys().next().value!);
    }
    return controller.signal;
  }

  overdue(now: number): string[] {
    if (this.#firstDeadlineAt === 0 || now < this.#firstDeadlineAt) return [];
    const expired: string[] = [];
    let firstDeadlineAt = 0;
    for (const [cid, chain] of [...this.#chains.entries()]) {
      if (chain.deadlineAt === undefined) continue;
      // A deadline of an earlier process may lie far ahead if the clock was set back: no wait exceeds the timeout.
      const deadlineAt = Math.min(chain.deadlineAt, now + this.#options.timeoutMs);
      if (deadlineAt < chain.deadlineAt) this.#chains.set(cid, { ...chain, deadlineAt });
      if (deadlineAt <= now) expired.push(cid);
      else firstDeadlineAt = Math.min(firstDeadlineAt || deadlineAt, deadlineAt);
    }
    this.#firstDeadlineAt = firstDeadlineAt;
    for (const cid of expired) this.answered(cid);
    return expired;
  }

  #deadlineFrom(now: number): number | undefined {
    const { timeoutMs } = this.#options;
    return timeoutMs === Number.POSITIVE_INFINITY ? undefined : now + timeoutMs;
  }

  #set(cid: string, chain: Chain): void {
    this.#chains.set(cid, chain);
    if (this.#chains.size > this.#options.maxChains) this.#evictOne();
  }

  /** Evicts the oldest idle chain, of those that were not passed over before; after many that are not idle, any. */
  #evictOne(): void {
    let left = MAX_SEARCHED;
    const isTaken = ({ deadlineAt, request }: Chain, cid: string): boolean =>
      left-- === 0 || (deadlineAt === undefined && request === undefined && !this.#controllers.has(cid));
    if (this.#chains.takeOldest(isTaken) === undefined) this.#chains.takeOldest();
  }
}

/** Returns the updated chain. A request of another schema must not allow a second transaction. */
function merged(
  known: Chain | undefined,
  { schema, transactionId: own }: KnownRequest,
  deadlineAt: number | undefined,
  request: UnansweredRequest | undefined,
): Chain {
  return {
    schema: schema ?? known?.schema,
    // Identifiers of other schemas are not transactions.
    transactionId: known?.transactionId ?? (schema === 'TX' ? own : undefined),
    deadlineAt,
    cancelled: known?.cancelled,
    mid: known?.mid,
    request,
  };
}

/** The intents that are allowed in a cancelled chain. */
export const ALLOWED_AFTER_CANCEL: ReadonlySet<string> = new Set(['cancel', 'ack', 'fail']);

export function cancelled(cid: string): AccpError {
  return accpError('E5001', undefined, `The request chain ${cid} was cancelled.`);
}
