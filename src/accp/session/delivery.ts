/**
 * In-order, once-only delivery (draft-benzing-accp-00, section 3.7, items 1 and 2).
 *
 * After a gap, no frame of the sender is processed, not even the missing one, until the sender announces a resend by
 * `sync:resync{from:n}`, where `n` is the missing number. Thus both sides know which messages were processed, whatever the channel
 * loses, repeats or reorders.
 */
import { AccpError, accpError } from '../errors.js';
import type { Collection, Journal } from '../store/journal.js';

/** The numbering of frames. `session`: one count for all parties, which send in turn. `sender`: each sender counts its own frames. */
export type SequenceMode = 'session' | 'sender';

interface DeliveryOptions {
  readonly journal: Journal;
  readonly mode: SequenceMode;
  readonly first: number;
  /** The maximum number of identifiers to store. A repeated frame whose identifier was evicted is still rejected by its number. */
  readonly maxSeen: number;
  /** The maximum number of senders in the mode `sender`. */
  readonly maxSenders: number;
}

/** The highest valid number: no session has that many frames. */
const MAX_NUMBER = 2 ** 52;

interface Incoming {
  readonly next: number;
  /** `true` if a number is missing: frames are rejected until a resync. */
  readonly gap: boolean;
}

export interface Arrival {
  readonly agent: string;
  readonly mid: string;
  readonly seq: number;
  /** The kind of frame: reports of gaps and resyncs are accepted in spite of a gap. */
  readonly kind: 'ordinary' | 'gap-report' | 'resync';
  readonly from?: number | undefined;
  /** `false` if an earlier frame of the sender was lost, although no number is missing. @default true */
  readonly isContinuous?: boolean;
}

export type SentAs = readonly [agent: string, seq: number];

export class Delivery {
  readonly #options: DeliveryOptions;
  /** The expected numbers, by sender; in the mode `session`, one for all. */
  readonly #incoming: Collection<Incoming>;
  /** The next numbers to send, by sender or one for all. */
  readonly #outgoing: Collection<number>;
  /** The identifiers of received frames, and of sent frames with agent and number. */
  readonly #seen: Collection<1 | SentAs>;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#incoming = options.journal.collection('incoming');
    this.#outgoing = options.journal.collection('outgoing');
    this.#seen = options.journal.collection('seen');
  }

  nextToSend(agent: string): number {
    return this.#outgoing.get(this.#key(agent)) ?? this.#options.first;
  }

  sent(agent: string, mid: string): number {
    const key = this.#key(agent);
    const seq = this.nextToSend(agent);
    this.#outgoing.set(key, seq + 1);
    this.#remember(mid, [agent, seq]);
    if (this.#isShared && !this.#incomingOf(key).gap) this.#incoming.set(key, { next: seq + 1, gap: false });
    return seq;
  }

  /** Skips numbers that the other side has already received. Invalid numbers are ignored. */
  skipTo(agent: string, seq: number): void {
    if (seq <= MAX_NUMBER && this.nextToSend(agent) < seq) this.#outgoing.set(this.#key(agent), seq);
  }

  expected(agent: string): number {
    return this.#incomingOf(this.#key(agent)).next;
  }

  sentAs(mid: string): SentAs | undefined {
    const seen = this.#seen.get(mid);
    return seen === 1 ? undefined : seen;
  }

  hasSeen(mid: string): boolean {
    return this.#seen.has(mid);
  }

  /** An expired frame uses up its number without an answer (section 3.7, item 5). Returns `false` for a frame out of order. */
  expire({ agent, mid, seq, isContinuous = true }: Arrival): boolean {
    const key = this.#key(agent);
    const { next, gap } = this.#incomingOf(key);
    if (this.#seen.has(mid) || gap || seq !== next || !isContinuous || !this.#hasRoom(key)) return false;
    this.#remember(mid);
    this.#advance(key, seq);
    return true;
  }

  /**
   * Accepts a frame, which uses up its number. Throws AccpError E3002 for a known identifier, E3003 (with `expected`) for a wrong
   * number.
   */
  admit(arrival: Arrival): void {
    const { agent, mid, seq, kind, isContinuous = true } = arrival;
    if (this.#seen.has(mid)) {
      throw accpError('E3002', undefined, `The message ${mid} was received before.`);
    }
    const key = this.#key(agent);
    if (!this.#hasRoom(key)) {
      throw accpError(
        'E5001',
        undefined,
        `The session has reached its maximum of ${this.#options.maxSenders} senders.`,
      );
    }
    const { next, gap } = this.#incomingOf(key);
    if (kind === 'gap-report') this.#admitReport(key, seq);
    else if (kind === 'resync') this.#admitResync(key, arrival);
    else if (gap || seq !== next || !isContinuous) {
      // Only a number above the expected one shows a gap; late and repeated frames do not.
      if (!gap && seq >= next) this.#incoming.set(key, { next, gap: true });
      throw gapError(next, seq);
    } else this.#advance(key, seq);
    this.#remember(mid);
  }

  /**
   * Accepts a report of a gap, which concerns the other direction. A number above the expected one shows a gap in this direction,
   * too.
   */
  #admitReport(key: string, seq: number): void {
    const { next, gap } = this.#incomingOf(key);
    if (this.#isShared) this.skipTo('', seq + 1);
    if (gap || seq < next) return;
    if (seq === next) this.#advance(key, seq);
    else this.#incoming.set(key, { next, gap: true });
  }

  /** Accepts a resync. It must begin where processing ended: otherwise messages would be lost, or processed twice. */
  #admitResync(key: string, { seq, from }: Arrival): void {
    const { next } = this.#incomingOf(key);
    if (seq < next || seq > MAX_NUMBER) throw gapError(next, seq);
    if (from !== next) {
      this.#incoming.set(key, { next, gap: true });
      throw gapError(next, seq);
    }
    this.#advance(key, seq);
  }

  #advance(key: string, seq: number): void {
    this.#incoming.set(key, { next: seq + 1, gap: false });
    if (this.#isShared) this.skipTo('', seq + 1);
  }

  #hasRoom(key: string): boolean {
    return this.#incoming.has(key) || this.#incoming.size < this.#options.maxSenders;
  }

  #remember(mid: string, sent?: SentAs): void {
    this.#seen.set(mid, sent ?? 1);
    if (this.#seen.size > this.#options.maxSeen) this.#seen.takeOldest();
  }

  #incomingOf(key: string): Incoming {
    return this.#incoming.get(key) ?? { next: this.#options.first, gap: false };
  }

  get #isShared(): boolean {
    return this.#options.mode === 'session';
  }

  #key(agent: string): string {
    return this.#isShared ? 'all' : agent;
  }
}

function gapError(expected: number, seq: number): AccpError {
  const isResend = seq === expected;
  return new AccpError({
    code: 'E3003',
    message: isResend
      ? `Send the frames with the number ${expected} or a higher one again, after sync:resync.`
      : `Expected the number ${expected}; got ${seq}.`,
    path: 'metadata.seq',
    details: { expected },
  });
}
