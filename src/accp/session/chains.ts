/**
 * Request chains: what belongs to one correlation identifier (draft-benzing-accp-00, sections 3.5, 3.7 items 3 and 4, 10.3).
 * Answers that do not come, cancellation, and what a retry must not change.
 */
import { AccpError } from '../errors.js';
import type { JsonObject } from '../message/json.js';
import type { Message } from '../message/message.js';
import type { Collection, Journal } from '../store/journal.js';

/** A request that has come, and is not answered yet. */
export interface PendingRequest {
  /** What its answer is correlated by. */
  readonly correlationId: string;
  readonly message: Message;
  /** Whether its handler is over, and has said nothing that ends it: the host answers later. */
  readonly isDeferred: boolean;
}

/** What is remembered of a chain. */
interface Chain {
  /** The schema of its latest request. */
  readonly schema?: string | undefined;
  /** The transaction of its first request that has one, which all that follow keep (section 10.3). */
  readonly transactionId?: string | undefined;
  /** When an answer from the other side is overdue, in seconds since 1970; none when it is not waited for. */
  readonly deadline?: number | undefined;
  readonly cancelled?: true | undefined;
  /** The latest request of the other side, until it is answered. */
  readonly asked?: Asked | undefined;
}

interface Asked {
  readonly message: Message;
  readonly isDeferred?: true | undefined;
}

interface ChainsOptions {
  readonly journal: Journal;
  /** Chains that are remembered. */
  readonly maxChains: number;
  /** Seconds until an answer is overdue; 0 for never. */
  readonly timeout: number;
}

/** Chains that are looked at for one to forget. */
const MOST_LOOKS = 32;
/** Signals that are kept for each chain that is: the host has asked for every one of them. */
const SIGNALS_PER_CHAIN = 4;

export class Chains {
  readonly #options: ChainsOptions;
  readonly #chains: Collection<Chain>;
  readonly #controllers = new Map<string, AbortController>();
  /** No deadline is earlier. */
  #earliest = 0;

  constructor(options: ChainsOptions) {
    this.#options = options;
    this.#chains = options.journal.collection('chains');
  }

  get(cid: string): Chain | undefined {
    return this.#chains.get(cid);
  }

  isCancelled(cid: string): boolean {
    return this.#chains.get(cid)?.cancelled === true;
  }

  /** A request went out: an answer is waited for. */
  requested(cid: string, chain: Chain, now: number): void {
    const { timeout } = this.#options;
    const deadline = timeout === 0 ? undefined : now + timeout;
    if (deadline !== undefined) this.#earliest = Math.min(this.#earliest || deadline, deadline);
    this.#set(cid, { ...merged(this.#chains.get(cid), chain), deadline });
  }

  /** A request came in. @param message large values in it are references to state */
  received(cid: string, chain: Chain, message: Message): void {
    this.#set(cid, { ...merged(this.#chains.get(cid), chain), asked: { message } });
  }

  /**
   * Requests that came in and are not answered, the oldest chains first.
   *
   * @param withValues gives a payload with the values of its references
   */
  pending(withValues: (payload: JsonObject) => JsonObject): PendingRequest[] {
    const pending: PendingRequest[] = [];
    for (const [correlationId, { asked }] of this.#chains.entries()) {
      if (asked === undefined) continue;
      const message = { ...asked.message, payload: withValues(asked.message.payload) };
      pending.push({ correlationId, message, isDeferred: asked.isDeferred === true });
    }
    return pending;
  }

  /** Whether that request is not answered. */
  isPending(cid: string, mid: string): boolean {
    return this.#chains.get(cid)?.asked?.message.envelope.msg_id === mid;
  }

  /** Its handler is over, and its answer comes later. */
  deferred(cid: string): void {
    const chain = this.#chains.get(cid);
    if (chain?.asked === undefined) return;
    this.#chains.set(cid, { ...chain, asked: { ...chain.asked, isDeferred: true } });
  }

  /** An answer has come: nothing is overdue any more. */
  answered(cid: string): void {
    const chain = this.#chains.get(cid);
    if (chain?.deadline !== undefined) this.#chains.set(cid, { ...chain, deadline: undefined });
  }

  /** We have answered: nothing of ours runs under the identifier any more. */
  settled(cid: string): void {
    this.#controllers.delete(cid);
    const chain = this.#chains.get(cid);
    if (chain?.asked !== undefined) this.#chains.set(cid, { ...chain, asked: undefined });
  }

  /** Work goes on at the other side: the time starts anew. */
  prolong(cid: string, now: number): void {
    const chain = this.#chains.get(cid);
    if (chain?.deadline !== undefined) this.#chains.set(cid, { ...chain, deadline: now + this.#options.timeout });
  }

  /** All that runs under the identifier is to stop. */
  cancel(cid: string): void {
    this.#set(cid, { ...this.#chains.get(cid), cancelled: true, deadline: undefined, asked: undefined });
    const controller = this.#controllers.get(cid);
    if (controller === undefined) return;
    controller.abort(cancelled(cid));
    this.#controllers.delete(cid);
  }

  /** Aborted when the chain is cancelled. */
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

  /** The chains whose answer is overdue, each told once. */
  overdue(now: number): string[] {
    if (this.#earliest === 0 || now < this.#earliest) return [];
    const late: string[] = [];
    let earliest = 0;
    for (const [cid, chain] of [...this.#chains.entries()]) {
      if (chain.deadline === undefined) continue;
      // Kept by a clock of another hour, in a process before this one: no wait is longer than its length.
      const deadline = Math.min(chain.deadline, now + this.#options.timeout);
      if (deadline < chain.deadline) this.#chains.set(cid, { ...chain, deadline });
      if (deadline <= now) late.push(cid);
      else earliest = Math.min(earliest || deadline, deadline);
    }
    this.#earliest = earliest;
    for (const cid of late) this.answered(cid);
    return late;
  }

  /** After a restart, deadlines have to be looked at again. */
  restore(): void {
    this.#earliest = 1;
  }

  #set(cid: string, chain: Chain): void {
    this.#chains.set(cid, chain);
    if (this.#chains.size > this.#options.maxChains) this.#forgetOne();
  }

  /** The oldest chain that nothing is waited for in; where there is none among the first ones, the oldest. */
  #forgetOne(): void {
    let looked = 0;
    for (const [cid, { deadline, asked }] of this.#chains.entries()) {
      if (++looked > MOST_LOOKS) break;
      if (deadline !== undefined || asked !== undefined || this.#controllers.has(cid)) continue;
      this.#chains.delete(cid);
      return;
    }
    this.#chains.takeOldest();
  }
}

/** A request in between, of whatever schema, must not make room for a second transaction. */
function merged(known: Chain | undefined, chain: Chain): Chain {
  // Identifiers of other schemas are none of transactions.
  const { transactionId: told, ...rest } = chain;
  const transactionId = known?.transactionId ?? (rest.schema === 'TX' ? told : undefined);
  return { ...known, ...rest, ...(transactionId === undefined ? {} : { transactionId }) };
}

/** Intents that go through under a chain that was cancelled: they say that it has ended. */
export const ENDS_A_CHAIN: ReadonlySet<string> = new Set(['cancel', 'ack', 'fail']);

export function cancelled(cid: string): AccpError {
  return new AccpError({ code: 'E5001', message: `The request chain ${cid} was cancelled.` });
}
