/** Sent frames, kept to be sent again after a gap (draft-benzing-accp-00, section 3.7, item 3). */

import type { Collection, Journal } from '../store/journal.js';
import type { Part } from './envelope.js';

/** A frame without the parts that are new in each copy. */
export interface SentFrame {
  readonly agent: string;
  readonly body: string;
  readonly ts: number;
  readonly cid?: string | undefined;
  readonly aid?: string | undefined;
  /** `null` for none; the codec decides if absent. */
  readonly sid?: string | null | undefined;
  readonly ttl?: number | undefined;
  readonly part?: Part | undefined;
}

/** Most times that one frame is sent, in total. */
const MAX_COPIES = 64;

/** Resends allowed per kept frame, and per processed frame: a peer must not request the whole outbox with each short report. */
const CREDIT = 2;
const REFILL = 4;
/** Characters sent in a resend without credit, and at least one frame, so that a bad connection makes progress. */
const LEAST_LENGTH = 1024;
/** Estimated characters of a metadata block. */
const METADATA_LENGTH = 100;

/** A resync announcement. Numbers from `from` up to `seq` are void to a receiver that has accepted it. */
interface Resync {
  readonly agent: string;
  readonly from: number;
  readonly seq: number;
}

export interface Copy {
  /** The key in the outbox, if it has one. */
  readonly key?: string;
  readonly frame: SentFrame;
  readonly mid: string;
  /** The numbers of its copies, ascending, without those that the other side has reported as refused. */
  readonly seqs: readonly number[];
  readonly times: number;
}

interface Unprocessed {
  /** Those to send now, in their first order. */
  readonly copies: readonly Copy[];
  /** The number of those left until the other side asks again. */
  readonly left: number;
  /** The number of messages forgotten, or sent too often. */
  readonly lost: number;
}

export class Outbox {
  readonly #entries: Collection<Copy>;
  readonly #resyncs: Collection<Resync>;
  readonly #state: Collection<number>;
  readonly max: number;

  constructor(journal: Journal, max: number) {
    this.#entries = journal.collection('outbox');
    this.#resyncs = journal.collection('resyncs');
    this.#state = journal.collection('outbox-state');
    this.max = max;
  }

  add({ key = this.#nextKey(), frame, mid, seqs, times }: Copy, seq: number): void {
    this.#entries.set(key, { frame, mid, seqs: [...seqs, seq], times: times + 1 });
    if (this.#entries.size > this.max) this.#forgetOldest();
  }

  /** The other side had passed the number, so it never processes this copy. (A copy ahead of its turn may still be processed.) */
  refused(agent: string, seq: number): void {
    this.#resyncs.delete(`${agent}:${seq}`);
    const found = this.#find(agent, seq);
    if (found === null) return;
    const [key, copy] = found;
    this.#entries.set(key, { ...copy, seqs: copy.seqs.filter((other) => other !== seq) });
  }

  giveUp(agent: string, seq: number): SentFrame | null {
    const found = this.#find(agent, seq);
    if (found === null) return null;
    this.#entries.delete(found[0]);
    return found[1].frame;
  }

  isLast(agent: string, seq: number): boolean {
    for (const { frame, seqs } of this.#entries.values()) {
      if (frame.agent === agent && seqs.some((other) => other > seq)) return false;
    }
    return true;
  }

  isSuperseded(agent: string, seq: number): boolean {
    return seq < (this.#state.get(`resynced:${agent}`) ?? 0);
  }

  resynced(resync: Resync): void {
    this.#resyncs.set(`${resync.agent}:${resync.seq}`, resync);
    this.#state.set(`resynced:${resync.agent}`, resync.seq);
    // Each report of a gap makes one; only the last ones matter.
    if (this.#resyncs.size > this.max) this.#resyncs.takeOldest();
  }

  /** Returns messages to send again, and forgets processed and unwanted ones. All numbers below `expected` are processed, refused or void. */
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

  #affordable(agent: string, waiting: readonly Copy[], processed: number): readonly Copy[] {
    const most = CREDIT * this.max;
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

  /** Counts messages forgotten before they were processed, each once, where that is certain. */
  #takeLost(agent: string, expected: number): number {
    const forgotten = this.#state.get(`forgotten:${agent}`) ?? 0;
    const unsent = this.#state.get(`unsent:${agent}`) ?? 0;
    if (unsent > 0) this.#state.delete(`unsent:${agent}`);
    return Math.max(0, forgotten - expected + 1) + unsent;
  }

  /** The announcements accepted before `expected`. With a shared count, only the first about each gap is certain. */
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
    // All its copies are void, so it was not processed.
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
