/**
 * In order and once (draft-benzing-accp-00, section 3.7, items 1 and 2): numbers, seen identifiers, gaps.
 *
 * After a gap nothing of that sender is processed, not even the missing frame when it comes late, until the sender has said
 * by `sync:resync{from:n}` what it sends again, with `n` the number that was missing. So both sides know exactly which
 * messages have been processed, whatever the channel lost, repeated or reordered.
 */
import { AccpError } from '../errors.js';
import type { Collection, Journal } from '../store/journal.js';

/** `session`: one count for all parties, who speak in turn. `sender`: each sender counts its own frames. */
export type SequenceMode = 'session' | 'sender';

interface DeliveryOptions {
  readonly journal: Journal;
  readonly mode: SequenceMode;
  /** The number of the first frame. */
  readonly first: number;
  /** Identifiers of messages that are remembered. A repeated one that was forgotten is still caught by its number. */
  readonly maxSeen: number;
  /** Senders that are told apart in the mode `sender`. */
  readonly maxSenders: number;
}

/** Beyond, a peer has made numbers up: so many frames do not exist, and as many more can be numbered after it. */
const MAX_NUMBER = 2 ** 52;

/** What has come from one sender. */
interface Incoming {
  /** The number that the next frame has to have. */
  readonly next: number;
  /** Whether a number is missing, so that nothing is taken until the sender says what it sends again. */
  readonly gap: boolean;
}

/** What a frame is to delivery. */
export interface Arrival {
  readonly agent: string;
  readonly mid: string;
  readonly seq: number;
  /** Frames about a broken sequence have to get through in spite of it. */
  readonly kind: 'ordinary' | 'gap-report' | 'resync';
  /** Of a `resync`: the number of the first frame that is sent again. */
  readonly from?: number | undefined;
}

/** Who sent a frame from here, and its number. */
export type SentAs = readonly [agent: string, seq: number];

/** The counts of one endpoint. */
export class Delivery {
  readonly #options: DeliveryOptions;
  /** By sender; in the mode `session`, one for all. */
  readonly #incoming: Collection<Incoming>;
  /** The number of the next frame sent from here, by sender or one for all. */
  readonly #outgoing: Collection<number>;
  /** Identifiers; those of frames sent from here with what they were sent as. */
  readonly #seen: Collection<1 | SentAs>;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#incoming = options.journal.collection('incoming');
    this.#outgoing = options.journal.collection('outgoing');
    this.#seen = options.journal.collection('seen');
  }

  /** The number of the next frame that `agent` sends from here. */
  nextToSend(agent: string): number {
    return this.#outgoing.get(this.#key(agent)) ?? this.#options.first;
  }

  /** Takes the next number for a frame that is sent from here. */
  sent(agent: string, mid: string): number {
    const key = this.#key(agent);
    const seq = this.nextToSend(agent);
    this.#outgoing.set(key, seq + 1);
    this.#remember(mid, [agent, seq]);
    if (this.#isShared && !this.#of(key).gap) this.#incoming.set(key, { next: seq + 1, gap: false });
    return seq;
  }

  /** Numbers below are taken: the other side has told that it has seen them. What nobody can have reached is not believed. */
  raise(agent: string, seq: number): void {
    if (seq <= MAX_NUMBER && this.nextToSend(agent) < seq) this.#outgoing.set(this.#key(agent), seq);
  }

  /** The number that the next frame of `agent` has to have. */
  expected(agent: string): number {
    return this.#of(this.#key(agent)).next;
  }

  /** What a frame was sent as from here; `undefined` when it is not remembered. */
  sentAs(mid: string): SentAs | undefined {
    const seen = this.#seen.get(mid);
    return seen === 1 ? undefined : seen;
  }

  hasSeen(mid: string): boolean {
    return this.#seen.has(mid);
  }

  /** A frame that has expired uses up its number like any other, but nobody is told of it (section 3.7, item 5). */
  expire({ agent, mid, seq }: Arrival): void {
    const key = this.#key(agent);
    const { next, gap } = this.#of(key);
    if (this.#seen.has(mid) || gap || seq !== next || !this.#hasRoom(key)) return;
    this.#remember(mid);
    this.#advance(key, seq);
  }

  /**
   * Admits a frame, which uses up its number.
   *
   * @throws AccpError E3002 for an identifier that was seen before, E3003 (with `expected`) for a number that is not the next
   */
  admit(arrival: Arrival): void {
    const { agent, mid, seq, kind } = arrival;
    if (this.#seen.has(mid)) {
      throw new AccpError({ code: 'E3002', message: `The message ${mid} has come before.` });
    }
    const key = this.#key(agent);
    this.#checkSenders(key);
    const { next, gap } = this.#of(key);
    if (kind === 'gap-report') this.#admitReport(key, seq);
    else if (kind === 'resync') this.#admitResync(key, arrival);
    else if (gap || seq !== next) {
      // Late and repeated frames break nothing; only what is ahead of its turn shows that something is missing.
      if (seq > next && !gap) this.#incoming.set(key, { next, gap: true });
      throw gapError(next, seq);
    } else this.#advance(key, seq);
    this.#remember(mid);
  }

  /** A report tells of the other direction; where its own number is ahead, frames before it were lost in this one, too. */
  #admitReport(key: string, seq: number): void {
    const { next, gap } = this.#of(key);
    if (this.#isShared) this.raise('', seq + 1);
    if (gap || seq < next) return;
    if (seq === next) this.#advance(key, seq);
    else this.#incoming.set(key, { next, gap: true });
  }

  /** What is sent again has to begin where processing ended: else messages would be lost, or processed twice. */
  #admitResync(key: string, { seq, from }: Arrival): void {
    const { next } = this.#of(key);
    if (seq < next || seq > MAX_NUMBER) throw gapError(next, seq);
    if (from !== next) {
      this.#incoming.set(key, { next, gap: true });
      throw gapError(next, seq);
    }
    this.#advance(key, seq);
  }

  #advance(key: string, seq: number): void {
    this.#incoming.set(key, { next: seq + 1, gap: false });
    if (this.#isShared) this.raise('', seq + 1);
  }

  #checkSenders(key: string): void {
    if (this.#hasRoom(key)) return;
    throw new AccpError({
      code: 'E5001',
      message: `The session has ${this.#options.maxSenders} senders; no more are taken.`,
    });
  }

  #hasRoom(key: string): boolean {
    return this.#incoming.has(key) || this.#incoming.size < this.#options.maxSenders;
  }

  #remember(mid: string, sent?: SentAs): void {
    this.#seen.set(mid, sent ?? 1);
    if (this.#seen.size > this.#options.maxSeen) this.#seen.takeOldest();
  }

  #of(key: string): Incoming {
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
  const isThere = seq === expected;
  return new AccpError({
    code: 'E3003',
    message: isThere
      ? `Frames from number ${expected} on have to be sent again, behind sync:resync.`
      : `The frame has number ${seq}; ${expected} is expected.`,
    path: 'metadata.seq',
    details: { expected },
  });
}
