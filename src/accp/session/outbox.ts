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
  readonly mid: string;
}

/** What a report of a gap says. */
export interface GapReport {
  readonly agent: string;
  /** The number that the other side waits for. */
  readonly expected: number;
  /** The identifier of the frame that it has refused. */
  readonly refused: string | undefined;
}

/** A frame with what its copies were sent under. */
export interface Copy {
  readonly frame: SentFrame;
  /** The identifiers of all copies. */
  readonly mids: readonly string[];
  /** Their numbers, ascending. */
  readonly seqs: readonly number[];
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

  add({ frame, mids, seqs }: Copy, mid: string, seq: number): void {
    const key = this.#nextKey();
    this.#entries.set(key, { frame, mids: [...mids, mid], seqs: [...seqs, seq] });
    if (this.#entries.size > this.#max) this.#forgetOldest();
  }

  /** What a frame was sent as, by the identifier of any of its copies; `undefined` when it is not kept. */
  find(mid: string): { readonly agent: string; readonly seq: number } | undefined {
    for (const { frame, mids, seqs } of this.#entries.values()) {
      const at = mids.indexOf(mid);
      if (at >= 0) return { agent: frame.agent, seq: seqs[at]! };
    }
    for (const { agent, mid: own, seq } of this.#resyncs.values()) if (own === mid) return { agent, seq };
    return undefined;
  }

  /** Forgets a message, by the identifier of its last copy; tells whether it was kept. */
  remove(mid: string): boolean {
    for (const [key, { mids }] of this.#entries.entries()) {
      if (mids.at(-1) === mid) return this.#entries.delete(key);
    }
    return false;
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
    if (this.#resyncs.size > this.#max) this.#resyncs.delete(this.#resyncs.keys().next().value!);
  }

  /**
   * Takes out what the other side has not processed, to be sent and added again. What it has processed is forgotten.
   *
   * Below the number that it expects, it has processed every number but those that were void by then.
   */
  takeUnprocessed({ agent, expected, refused }: GapReport): Unprocessed {
    const skipped = [...this.#resyncs.values()].filter((resync) => resync.agent === agent && resync.seq < expected);
    const isProcessed = (seq: number): boolean =>
      seq < expected && !skipped.some(({ from, seq: end }) => from <= seq && seq < end);
    const copies: Copy[] = [];
    let behindRefused = false;
    let givenUp = 0;
    for (const [key, copy] of [...this.#entries.entries()]) {
      if (copy.frame.agent !== agent) continue;
      behindRefused ||= refused !== undefined && copy.mids.at(-1) === refused;
      this.#entries.delete(key);
      if (!behindRefused && copy.seqs.some(isProcessed)) continue;
      if (copy.seqs.length < MAX_COPIES) copies.push(copy);
      else givenUp++;
    }
    const forgotten = this.#state.get(`forgotten:${agent}`) ?? 0;
    return { copies, lost: Math.max(0, forgotten - expected + 1) + givenUp };
  }

  #forgetOldest(): void {
    const [key, { frame, seqs }] = this.#entries.entries().next().value!;
    this.#entries.delete(key);
    this.#state.set(`forgotten:${frame.agent}`, seqs.at(-1)!);
  }

  #nextKey(): string {
    const next = (this.#state.get('key') ?? 0) + 1;
    this.#state.set('key', next);
    return String(next);
  }
}
