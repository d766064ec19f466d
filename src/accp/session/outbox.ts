/** The outbox: sent frames, stored to be sent again after a gap (draft-benzing-accp-00, section 3.7, item 3). */

import type { Collection, Journal } from '../store/journal.js';
import type { Part } from './envelope.js';

/** A frame without the fields that are new in each copy. */
export interface SentFrame {
  readonly agent: string;
  readonly body: string;
  readonly ts: number;
  readonly cid?: string | undefined;
  readonly aid?: string | undefined;
  /** The session identifier; `null` for none. @default as the codec decides */
  readonly sid?: string | null | undefined;
  readonly ttl?: number | undefined;
  readonly part?: Part | undefined;
  readonly isTransliterated?: boolean;
}

/** The maximum number of times that one frame is sent. */
const MAX_COPIES = 64;

/** The number of resends per stored frame, and per processed frame: a peer must not request the whole outbox with each short report. */
const CREDIT = 2;
const REFILL = 4;
/** The number of characters, and at least one frame, that are sent without credit, so that a bad connection makes progress. */
const MIN_LENGTH = 1024;
/** The estimated number of characters of a metadata block. */
const METADATA_LENGTH = 100;

/** An announced resync. A receiver that has accepted it never processes the numbers from `from` up to `seq`. */
interface Resync {
  readonly agent: string;
  readonly from: number;
  readonly seq: number;
}

export interface OutboxEntry {
  /** The key in the outbox; absent for a new entry. */
  readonly key?: string;
  readonly frame: SentFrame;
  readonly mid: string;
  /** The numbers of the copies, ascending, without those that the other side has reported as rejected. */
  readonly seqs: readonly number[];
  readonly times: number;
}

interface Unprocessed {
  /** The messages to send, in their original order. */
  readonly waiting: readonly OutboxEntry[];
  /** The first ones of them, to send now; the others when the other side asks again. */
  readonly copies: readonly OutboxEntry[];
  /** The number of messages that were evicted, or sent too often. */
  readonly lost: number;
}

export function isAnnouncement({ agent, body }: SentFrame): boolean {
  return body.startsWith('>sync:registry{', agent.length + 1);
}

function isMessage({ frame }: OutboxEntry): boolean {
  return !isAnnouncement(frame);
}

export class Outbox {
  readonly #entries: Collection<OutboxEntry>;
  readonly #resyncs: Collection<Resync>;
  readonly #state: Collection<number>;
  readonly max: number;
  readonly #isShared: boolean;
  #forgotten = { agent: '', key: 'forgotten:' };
  #lastKey = 0;
  #hasResynced = false;

  /** @param isShared `true` if all agents have one count, so that a gap concerns the frames of each of them */
  constructor(journal: Journal, max: number, isShared = false) {
    this.#isShared = isShared;
    this.#entries = journal.collection('outbox');
    this.#resyncs = journal.collection('resyncs');
    this.#state = journal.collection('outbox-state');
    for (const key of this.#entries.keys()) this.#lastKey = Math.max(this.#lastKey, Number(key));
    for (const key of this.#state.keys()) if (key.startsWith('resynced:')) this.#hasResynced = true;
    this.max = max;
  }

  add({ key = this.#nextKey(), frame, mid, seqs, times }: OutboxEntry, seq: number): void {
    this.#entries.set(key, { frame, mid, seqs: seqs.length === 0 ? [seq] : [...seqs, seq], times: times + 1 });
    if (this.#entries.size > this.max) this.#evictOldest();
  }

  /**
   * Records that the other side never processes a copy, since it had passed the number. (A copy with a higher number may still be
   * processed.)
   */
  rejected(agent: string, seq: number): void {
    this.#resyncs.delete(`${this.#countOf(agent)}:${seq}`);
    const found = this.#find(agent, seq);
    if (found === null) return;
    const [key, copy] = found;
    this.#entries.set(key, { ...copy, seqs: copy.seqs.filter((other) => other !== seq) });
  }

  /** Returns a frame that the other side has not processed, as far as is known. */
  frameOf(agent: string, seq: number): SentFrame | undefined {
    return this.#find(agent, seq)?.[1].frame;
  }

  giveUp(agent: string, seq: number): SentFrame | null {
    const found = this.#find(agent, seq);
    if (found === null) return null;
    this.#entries.delete(found[0]);
    return found[1].frame;
  }

  isLast(agent: string, seq: number): boolean {
    for (const { frame, seqs } of this.#entries.values()) {
      if (this.#isOf(agent, frame) && seqs.some((other) => other > seq)) return false;
    }
    return true;
  }

  isSuperseded(agent: string, seq: number): boolean {
    // Without a resync, which is rare, there is no announced number either.
    return this.#hasResynced && seq < (this.#state.get(`resynced:${this.#countOf(agent)}`) ?? 0);
  }

  resynced({ agent: sender, from, seq }: Resync): void {
    const agent = this.#countOf(sender);
    this.#resyncs.set(`${agent}:${seq}`, { agent, from, seq });
    this.#state.set(`resynced:${agent}`, seq);
    this.#hasResynced = true;
    // Each report of a gap causes a resync; only the last ones matter.
    if (this.#resyncs.size > this.max) this.#resyncs.takeOldest();
  }

  /**
   * Returns messages to send again, and removes processed and unwanted ones. All numbers below `expected` are processed, rejected or
   * void.
   */
  takeUnprocessed(sender: string, expected: number, isWanted: (frame: SentFrame) => boolean): Unprocessed {
    const agent = this.#countOf(sender);
    const skipped = this.#accepted(agent, expected);
    const isProcessed = (seq: number): boolean =>
      seq < expected && !skipped.some(({ from, seq: end }) => from <= seq && seq < end);
    const waiting: OutboxEntry[] = [];
    let processed = 0;
    let lost = this.#takeLost(agent, expected);
    for (const [key, copy] of [...this.#entries.entries()]) {
      if (!this.#isOf(sender, copy.frame)) continue;
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
    return { waiting, copies, lost };
  }

  #affordable(agent: string, waiting: readonly OutboxEntry[], processed: number): readonly OutboxEntry[] {
    const max = CREDIT * this.max;
    const credit = Math.min(max, (this.#state.get(`credit:${agent}`) ?? max) + REFILL * processed);
    let count = 0;
    let length = 0;
    for (const { frame } of waiting) {
      length += frame.body.length + METADATA_LENGTH;
      if (count > 0 && count >= credit && length > MIN_LENGTH) break;
      count++;
    }
    this.#state.set(`credit:${agent}`, Math.max(0, credit - count));
    return waiting.slice(0, count);
  }

  /** Counts messages that were certainly evicted before they were processed, each once. */
  #takeLost(agent: string, expected: number): number {
    const forgotten = this.#state.get(`forgotten:${agent}`) ?? 0;
    const unsent = this.#state.get(`unsent:${agent}`) ?? 0;
    if (unsent > 0) this.#state.delete(`unsent:${agent}`);
    return Math.max(0, forgotten - expected + 1) + unsent;
  }

  /** Returns the resyncs that were accepted before `expected`. With a shared count, only the first one of each gap is certain. */
  #accepted(agent: string, expected: number): readonly Resync[] {
    const before = [...this.#resyncs.values()].filter((resync) => resync.agent === agent && resync.seq < expected);
    if (!this.#isShared) return before;
    const firsts = new Map<number, Resync>();
    for (const resync of before) if (!firsts.has(resync.from)) firsts.set(resync.from, resync);
    return [...firsts.values()];
  }

  #find(agent: string, seq: number): [string, OutboxEntry] | null {
    for (const entry of this.#entries.entries()) {
      const [, { frame, seqs }] = entry;
      if (this.#isOf(agent, frame) && seqs.includes(seq)) return entry;
    }
    return null;
  }

  #evictOldest(): void {
    const { frame, seqs } = this.#takeOldest();
    const agent = this.#countOf(frame.agent);
    const last = seqs.at(-1);
    // All copies are void, so it was not processed.
    if (last === undefined || this.isSuperseded(agent, last)) {
      this.#state.set(`unsent:${agent}`, (this.#state.get(`unsent:${agent}`) ?? 0) + 1);
    } else this.#state.set(this.#forgottenKey(agent), last);
  }

  /** Takes the oldest entry that is not an announcement, without which the other side would misread all later frames. */
  #takeOldest(): OutboxEntry {
    return (this.#entries.takeOldest(isMessage) ?? this.#entries.takeOldest())![1];
  }

  /** Returns the key of the last evicted number. Most frames have the agent of the previous one. */
  #forgottenKey(agent: string): string {
    if (this.#forgotten.agent !== agent) this.#forgotten = { agent, key: `forgotten:${agent}` };
    return this.#forgotten.key;
  }

  /** Returns the name of the count of an agent. */
  #countOf(agent: string): string {
    return this.#isShared ? '' : agent;
  }

  #isOf(agent: string, frame: SentFrame): boolean {
    return this.#isShared || frame.agent === agent;
  }

  #nextKey(): string {
    this.#lastKey++;
    return String(this.#lastKey);
  }
}
