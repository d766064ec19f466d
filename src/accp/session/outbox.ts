/**
 * What was sent and may have to be sent again (draft-benzing-accp-00, section 3.7, item 3): after a gap, the other side names
 * the number that it misses, and all messages that it has not processed go out once more, under new numbers and identifiers.
 */
import type { Part } from './envelope.js';
import type { Collection, Journal } from './journal.js';

/** A frame without what is new in each copy of it. */
export interface SentFrame {
  readonly agent: string;
  /** `@agent>intent:operation{...}` */
  readonly body: string;
  readonly ts: number;
  readonly cid?: string | undefined;
  readonly aid?: string | undefined;
  /** `null` for none; as the codec does it when it is left out. */
  readonly sid?: string | null | undefined;
  readonly ttl?: number | undefined;
  readonly part?: Part | undefined;
}

/** Times that one frame is sent. Beyond, it counts as lost: a peer may ask again and again. */
const MAX_COPIES = 64;

/** An announcement of what is sent again. Numbers from `from` up to `seq` are void to a receiver that has accepted it. */
interface Resync {
  readonly agent: string;
  readonly from: number;
  readonly seq: number;
}

/** A frame with what its copies were sent under. */
export interface Copy {
  readonly frame: SentFrame;
  /** The identifier of the first copy. */
  readonly mid: string;
  /** The numbers of all copies, ascending, without those of which the other side has told that it refused them. */
  readonly seqs: readonly number[];
  /** How often it was sent. */
  readonly times: number;
}

export interface Unprocessed {
  /** In the order in which they were first sent. */
  readonly copies: readonly Copy[];
  /** Numbers from `expected` on that are no longer known, because the outbox is bounded, and frames sent too often. */
  readonly lost: number;
}

export class Outbox {
  readonly #entries: Collection<Copy>;
  readonly #resyncs: Collection<Resync>;
  readonly #state: Collection<number>;
  readonly #max: number;

  /** @param max frames that are kept at most */
  constructor(journal: Journal, max: number) {
    this.#entries = journal.collection('outbox');
    this.#resyncs = journal.collection('resyncs');
    this.#state = journal.collection('outbox-state');
    this.#max = max;
  }

  /** Frames that are kept: who sends more than that before the other side has processed the first, may lose it. */
  get max(): number {
    return this.#max;
  }

  add({ frame, mid, seqs, times }: Copy, seq: number): void {
    const key = this.#nextKey();
    this.#entries.set(key, { frame, mid, seqs: [...seqs, seq], times: times + 1 });
    if (this.#entries.size > this.#max) this.#forgetOldest();
  }

  /**
   * The other side has refused a frame whose number it had passed: it will never process that copy. (One that was ahead of its
   * turn may yet be processed, when the channel repeats it.)
   */
  refused(agent: string, seq: number): void {
    this.#resyncs.delete(`${agent}:${seq}`);
    const found = this.#find(agent, seq);
    if (found === null) return;
    const [key, copy] = found;
    this.#entries.set(key, { ...copy, seqs: copy.seqs.filter((other) => other !== seq) });
  }

  /** Forgets the message of which a copy was sent under a number, and gives it; `null` where it was not kept. */
  giveUp(agent: string, seq: number): SentFrame | null {
    const found = this.#find(agent, seq);
    if (found === null) return null;
    this.#entries.delete(found[0]);
    return found[1].frame;
  }

  /** Whether the agent has sent no message after that number. */
  isLast(agent: string, seq: number): boolean {
    for (const { frame, seqs } of this.#entries.values()) {
      if (frame.agent === agent && seqs.some((other) => other > seq)) return false;
    }
    return true;
  }

  /** Whether what was sent under a number has been sent again since then, or was taken for processed. */
  isSuperseded(agent: string, seq: number): boolean {
    return seq < (this.#state.get(`resynced:${agent}`) ?? 0);
  }

  /** Notes that `seq` was a `sync:resync{from}`. */
  resynced(resync: Resync): void {
    this.#resyncs.set(`${resync.agent}:${resync.seq}`, resync);
    this.#state.set(`resynced:${resync.agent}`, resync.seq);
    // Each report of a gap makes one; those that matter are the last ones.
    if (this.#resyncs.size > this.#max) this.#resyncs.takeOldest();
  }

  /**
   * Takes out what the other side has not processed, to be sent and added again. What it has processed is forgotten.
   *
   * Below the number that it expects, it has processed every number but those that it has refused and those that were void by
   * then.
   */
  takeUnprocessed(agent: string, expected: number, shared: boolean): Unprocessed {
    const skipped = this.#accepted(agent, expected, shared);
    const isProcessed = (seq: number): boolean =>
      seq < expected && !skipped.some(({ from, seq: end }) => from <= seq && seq < end);
    const copies: Copy[] = [];
    let givenUp = 0;
    for (const [key, copy] of [...this.#entries.entries()]) {
      if (copy.frame.agent !== agent) continue;
      this.#entries.delete(key);
      if (copy.seqs.some(isProcessed)) continue;
      if (copy.times < MAX_COPIES) copies.push(copy);
      else givenUp++;
    }
    const forgotten = this.#state.get(`forgotten:${agent}`) ?? 0;
    return { copies, lost: Math.max(0, forgotten - expected + 1) + givenUp };
  }

  /**
   * The announcements that the other side has accepted before it came to expect a number.
   *
   * Where it counts its own frames with ours, it may have come there without one of several about the same gap. Surely void is
   * then only what the first of them makes so: rather a message is not sent again than processed twice.
   */
  #accepted(agent: string, expected: number, shared: boolean): readonly Resync[] {
    const before = [...this.#resyncs.values()].filter((resync) => resync.agent === agent && resync.seq < expected);
    if (!shared) return before;
    const firsts = new Map<number, Resync>();
    for (const resync of before) if (!firsts.has(resync.from)) firsts.set(resync.from, resync);
    return [...firsts.values()];
  }

  #find(agent: string, seq: number): [string, Copy] | null {
    for (const entry of this.#entries.entries()) {
      const [, { frame, seqs }] = entry;
      if (frame.agent === agent && seqs.includes(seq)) return entry;
    }
    return null;
  }

  #forgetOldest(): void {
    const [, { frame, seqs }] = this.#entries.takeOldest()!;
    const last = seqs.at(-1);
    if (last !== undefined) this.#state.set(`forgotten:${frame.agent}`, last);
  }

  #nextKey(): string {
    const next = (this.#state.get('key') ?? 0) + 1;
    this.#state.set('key', next);
    return String(next);
  }
}
