/**
 * What was sent and may have to be sent again (draft-benzing-accp-00, section 3.7, item 3): after a gap, the other side names
 * the number that it misses, and all messages that it has not processed go out once more, under new numbers and identifiers.
 */

import type { Collection, Journal } from '../store/journal.js';
import type { Part } from './envelope.js';

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

/**
 * What one sender may send again altogether: this many times as many frames as are kept, and so many more for each frame that the other side
 * has processed. A peer that asks and processes nothing would have the whole outbox for each short report otherwise.
 */
const CREDIT = 2;
const REFILL = 4;
/** Characters that are sent again when the credit is used up, and one frame in any case: a bad line goes on, and earns credit. */
const LEAST_LENGTH = 1024;
/** About the characters of a metadata block. */
const METADATA_LENGTH = 100;

/** An announcement of what is sent again. Numbers from `from` up to `seq` are void to a receiver that has accepted it. */
interface Resync {
  readonly agent: string;
  readonly from: number;
  readonly seq: number;
}

/** A frame with what its copies were sent under. */
export interface Copy {
  /** Its place in the outbox, where it has one. */
  readonly key?: string;
  readonly frame: SentFrame;
  /** The identifier of the first copy. */
  readonly mid: string;
  /** The numbers of all copies, ascending, without those of which the other side has told that it refused them. */
  readonly seqs: readonly number[];
  /** How often it was sent. */
  readonly times: number;
}

interface Unprocessed {
  /** Those that may be sent again now, in the order in which they were first sent. */
  readonly copies: readonly Copy[];
  /** How many come after them, and stay until the other side asks again. */
  readonly left: number;
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

  /** Notes a copy that was sent. A frame that is sent again keeps its place: those after it may not have been. */
  add({ key = this.#nextKey(), frame, mid, seqs, times }: Copy, seq: number): void {
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
   * What the other side has not processed, as far as it may be sent again now. What it has processed is forgotten, as is what
   * nobody wants any more.
   *
   * Below the number that it expects, it has processed every number but those that it has refused and those that were void by
   * then. So nothing has to be known of those numbers any more.
   */
  takeUnprocessed(
    agent: string,
    expected: number,
    shared: boolean,
    isWanted: (frame: SentFrame) => boolean,
  ): Unprocessed {
    const skipped = this.#accepted(agent, expected, shared);
    const isProcessed = (seq: number): boolean =>
      seq < expected && !skipped.some(({ from, seq: end }) => from <= seq && seq < end);
    const waiting: Copy[] = [];
    let processed = 0;
    let lost = this.#takeLost(agent, expected);
    for (const [key, copy] of [...this.#entries.entries()]) {
      if (copy.frame.agent !== agent) continue;
      const isDone = copy.seqs.some(isProcessed);
      if (!isDone && copy.times < MAX_COPIES && isWanted(copy.frame)) {
        const seqs = copy.seqs.filter((seq) => seq >= expected);
        waiting.push({ ...copy, key, seqs });
        if (seqs.length < copy.seqs.length) this.#entries.set(key, { ...copy, seqs });
        continue;
      }
      this.#entries.delete(key);
      if (isDone) processed++;
      else if (isWanted(copy.frame)) lost++;
    }
    for (const [key, resync] of [...this.#resyncs.entries()])
      if (resync.agent === agent && resync.seq < expected) this.#resyncs.delete(key);
    const copies = this.#affordable(agent, waiting, processed);
    return { copies, left: waiting.length - copies.length, lost };
  }

  /** The first ones, as many as the sender has credit for. */
  #affordable(agent: string, waiting: readonly Copy[], processed: number): readonly Copy[] {
    const most = CREDIT * this.#max;
    const credit = Math.min(most, (this.#state.get(`credit:${agent}`) ?? most) + REFILL * processed);
    let count = 0;
    let length = 0;
    for (const { frame } of waiting) {
      length += frame.body.length + METADATA_LENGTH;
      if (count > 0 && count >= credit && length > LEAST_LENGTH) break;
      count++;
    }
    this.#state.set(`credit:${agent}`, Math.max(0, credit - count));
    return waiting.slice(0, count);
  }

  /** What was forgotten before the other side had processed it, each told once where it is certain. */
  #takeLost(agent: string, expected: number): number {
    const forgotten = this.#state.get(`forgotten:${agent}`) ?? 0;
    const unsent = this.#state.get(`unsent:${agent}`) ?? 0;
    if (unsent > 0) this.#state.delete(`unsent:${agent}`);
    return Math.max(0, forgotten - expected + 1) + unsent;
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
    const { agent } = frame;
    const last = seqs.at(-1);
    // All that was sent under its numbers is void, and it was to be sent again.
    if (last === undefined || this.isSuperseded(agent, last)) {
      this.#state.set(`unsent:${agent}`, (this.#state.get(`unsent:${agent}`) ?? 0) + 1);
    } else this.#state.set(`forgotten:${agent}`, last);
  }

  #nextKey(): string {
    const next = (this.#state.get('key') ?? 0) + 1;
    this.#state.set('key', next);
    return String(next);
  }
}
