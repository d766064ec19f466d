/** Request chains by correlation identifier (draft-benzing-accp-00, sections 3.5, 3.7 and 10.3). */
import { type AccpError, accpError } from '../errors.js';
import type { JsonObject } from '../message/json.js';
import type { Message } from '../message/message.js';
import type { RememberedRequest } from '../profiles/profile.js';
import type { Collection, Journal } from '../store/journal.js';

/** A received request without an answer so far. */
export interface PendingRequest {
  /** The correlation identifier for its answer. */
  readonly correlationId: string;
  readonly message: Message;
  /** Its handler has returned without an answer; the host answers later. */
  readonly isDeferred: boolean;
}

interface Chain extends RememberedRequest {
  /** When an answer of the other side is overdue, in milliseconds since 1970. */
  readonly deadlineAt?: number | undefined;
  readonly cancelled?: true | undefined;
  readonly asked?: Asked | undefined;
}

interface Asked {
  readonly message: Message;
  readonly isDeferred?: true | undefined;
}

interface ChainsOptions {
  readonly journal: Journal;
  readonly maxChains: number;
  readonly timeoutMs: number;
}

/** Chains searched for one to forget. */
const MOST_LOOKS = 32;
/** Signals per chain: a host may ask for signals of any identifier. */
const SIGNALS_PER_CHAIN = 4;

export class Chains {
  readonly #options: ChainsOptions;
  readonly #chains: Collection<Chain>;
  readonly #controllers = new Map<string, AbortController>();
  /** A lower bound of all deadlines. */
  #earliest = 0;

  constructor(options: ChainsOptions) {
    this.#options = options;
    this.#chains = options.journal.collection('chains');
    // Those of an earlier process are looked at once.
    if (this.#chains.size > 0) this.#earliest = 1;
  }

  get(cid: string): Chain | undefined {
    return this.#chains.get(cid);
  }

  isCancelled(cid: string): boolean {
    return this.#chains.get(cid)?.cancelled === true;
  }

  requested(cid: string, chain: Chain, now: number): void {
    const deadlineAt = this.#deadlineFrom(now);
    if (deadlineAt !== undefined) this.#earliest = Math.min(this.#earliest || deadlineAt, deadlineAt);
    this.#set(cid, { ...merged(this.#chains.get(cid), chain), deadlineAt });
  }

  /** @param message with references in place of large values */
  received(cid: string, chain: Chain, message: Message): void {
    this.#set(cid, { ...merged(this.#chains.get(cid), chain), asked: { message } });
  }

  /** Lists unanswered requests, the oldest chains first. `withValues` replaces the references of a payload. */
  pending(withValues: (payload: JsonObject) => JsonObject): PendingRequest[] {
    const pending: PendingRequest[] = [];
    for (const [correlationId, { asked }] of this.#chains.entries()) {
      if (asked === undefined) continue;
      const message = { ...asked.message, payload: withValues(asked.message.payload) };
      pending.push({ correlationId, message, isDeferred: asked.isDeferred === true });
    }
    return pending;
  }

  isPending(cid: string, mid: string): boolean {
    return this.#chains.get(cid)?.asked?.message.envelope.msg_id === mid;
  }

  deferred(cid: string): void {
    const chain = this.#chains.get(cid);
    if (chain?.asked === undefined) return;
    this.#chains.set(cid, { ...chain, asked: { ...chain.asked, isDeferred: true } });
  }

  answered(cid: string): void {
    const chain = this.#chains.get(cid);
    if (chain?.deadlineAt !== undefined) this.#chains.set(cid, { ...chain, deadlineAt: undefined });
  }

  settled(cid: string): void {
    this.#controllers.delete(cid);
    const chain = this.#chains.get(cid);
    if (chain?.asked !== undefined) this.#chains.set(cid, { ...chain, asked: undefined });
  }

  prolong(cid: string, now: number): void {
    const chain = this.#chains.get(cid);
    if (chain?.deadlineAt !== undefined) this.#chains.set(cid, { ...chain, deadlineAt: this.#deadlineFrom(now) });
  }

  cancel(cid: string): void {
    this.#set(cid, { ...this.#chains.get(cid), cancelled: true, deadlineAt: undefined, asked: undefined });
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
    if (this.#earliest === 0 || now < this.#earliest) return [];
    const late: string[] = [];
    let earliest = 0;
    for (const [cid, chain] of [...this.#chains.entries()]) {
      if (chain.deadlineAt === undefined) continue;
      // A deadline of an earlier process may lie far ahead if the clock was set back: no wait exceeds the timeout.
      const deadlineAt = Math.min(chain.deadlineAt, now + this.#options.timeoutMs);
      if (deadlineAt < chain.deadlineAt) this.#chains.set(cid, { ...chain, deadlineAt });
      if (deadlineAt <= now) late.push(cid);
      else earliest = Math.min(earliest || deadlineAt, deadlineAt);
    }
    this.#earliest = earliest;
    for (const cid of late) this.answered(cid);
    return late;
  }

  #deadlineFrom(now: number): number | undefined {
    const { timeoutMs } = this.#options;
    return timeoutMs === Number.POSITIVE_INFINITY ? undefined : now + timeoutMs;
  }

  #set(cid: string, chain: Chain): void {
    this.#chains.set(cid, chain);
    if (this.#chains.size > this.#options.maxChains) this.#forgetOne();
  }

  /** Forgets the oldest idle chain among the first ones, or else the oldest. */
  #forgetOne(): void {
    let looked = 0;
    for (const [cid, { deadlineAt, asked }] of this.#chains.entries()) {
      if (++looked > MOST_LOOKS) break;
      if (deadlineAt !== undefined || asked !== undefined || this.#controllers.has(cid)) continue;
      this.#chains.delete(cid);
      return;
    }
    this.#chains.takeOldest();
  }
}

/** A request of another schema must not allow a second transaction. */
function merged(known: Chain | undefined, chain: Chain): Chain {
  // Identifiers of other schemas are not transactions.
  const { transactionId: told, ...rest } = chain;
  const transactionId = known?.transactionId ?? (rest.schema === 'TX' ? told : undefined);
  return { ...known, ...rest, ...(transactionId === undefined ? {} : { transactionId }) };
}

/** Intents allowed under a cancelled chain. */
export const ENDS_A_CHAIN: ReadonlySet<string> = new Set(['cancel', 'ack', 'fail']);

export function cancelled(cid: string): AccpError {
  return accpError('E5001', undefined, `The request chain ${cid} was cancelled.`);
}
