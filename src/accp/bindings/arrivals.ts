/** Frames that may overtake each other on their way, in the order of their numbers (draft-benzing-accp-00, section 3.7). */

import { after } from '../../async/timers.js';
import { partsOfSession, type Session } from '../session/session.js';
import { type FrameHead, isGapReport } from './frames.js';

/**
 * Milliseconds that a frame waits for those before it, which may come by another exchange: without any frame, and in all. Then they count
 * as lost. In a busy process, and over a slow line, frames that are sent at once come one after the other.
 */
const QUIET = 1000;
const LONGEST = 4000;
/** Limits of the frames that wait: their number, and their characters in all. */
const MAX_EARLY = 1024;
const MAX_LENGTH = 4_194_304;

const MAX_SKIPS = 64;

type ArrivedHead = Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'seq'>;

interface Early {
  readonly agent: string;
  readonly seq: number;
  readonly length: number;
  /** Milliseconds of the monotonic clock, as in `#last`. */
  readonly at: number;
  readonly process: () => void;
}

/** Numbers of an agent that a resync has made void. */
interface Skip {
  readonly agent: string;
  readonly from: number;
  readonly to: number;
}

export class Arrivals {
  readonly #session: Session;
  readonly #early = new Set<Early>();
  readonly #skips: Skip[] = [];
  #length = 0;
  #last = 0;
  #stopTimer: (() => void) | undefined;
  /** A frame was lost since the last gap: the next missing frame was probably lost with it. */
  #isLossy = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Processes a frame when it is its turn.
   *
   * @param isAlone whether the frames before it can come by no other way
   * @returns takes the frame back while it waits, as if it had never come
   */
  add(frame: string, readHead: () => ArrivedHead | null, process: () => void, isAlone: boolean): () => void {
    this.#last = performance.now();
    const head = isAlone && this.#early.size === 0 ? null : readHead();
    if (head === null || !this.#isEarly(head, frame)) {
      const before = head === null ? 0 : this.#expected(head.agent);
      process();
      if (head !== null && isResync(head)) this.#noteSkip(head, before);
      this.#processNext();
      return () => undefined;
    }
    const early: Early = { agent: head.agent, seq: head.seq!, length: frame.length, at: this.#last, process };
    this.#early.add(early);
    this.#length += early.length;
    if (this.#isLossy || isAlone || this.#early.size > MAX_EARLY || this.#length > MAX_LENGTH) this.release();
    else if (this.#stopTimer === undefined) this.#wait(QUIET);
    return () => this.#remove(early);
  }

  /** Whether a resync skipped the number: a frame with it may still come, late. */
  wasSkipped(agent: string, seq: number): boolean {
    return this.#skips.some((skip) => skip.agent === agent && skip.from <= seq && seq < skip.to);
  }

  failed(): void {
    if (this.#early.size > 0) this.release();
    else this.#isLossy = true;
  }

  /** Processes the frames that wait: those that are missing count as lost. */
  release(): void {
    this.#isLossy = false;
    const early = [...this.#early].sort((a, b) => a.seq - b.seq);
    for (const one of early) this.#remove(one);
    for (const { process } of early) process();
  }

  /** Reports of gaps and resyncs are accepted out of order. */
  #isEarly(head: ArrivedHead, frame: string): boolean {
    const { agent, seq } = head;
    if (seq === undefined || seq <= this.#expected(agent)) return false;
    return !isResync(head) && !isGapReport(frame);
  }

  #noteSkip({ agent }: ArrivedHead, from: number): void {
    const to = this.#expected(agent);
    if (to === from) return;
    this.#skips.push({ agent, from, to });
    if (this.#skips.length > MAX_SKIPS) this.#skips.shift();
  }

  #processNext(): void {
    for (;;) {
      let next: Early | undefined;
      for (const early of this.#early)
        if (early.seq <= this.#expected(early.agent) && (next === undefined || early.seq < next.seq)) next = early;
      if (next === undefined) return;
      this.#remove(next);
      next.process();
    }
  }

  #wait(milliseconds: number): void {
    this.#stopTimer = after(milliseconds, () => {
      const [first] = this.#early;
      const end = first === undefined ? 0 : Math.min(this.#last + QUIET, first.at + LONGEST);
      const left = end - performance.now();
      if (left > 0) this.#wait(left);
      else this.release();
    });
  }

  #remove(early: Early): void {
    if (!this.#early.delete(early)) return;
    this.#length -= early.length;
    if (this.#early.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #expected(agent: string): number {
    return partsOfSession(this.#session).delivery.expected(agent);
  }
}

function isResync({ intent, operation }: ArrivedHead): boolean {
  return intent === 'sync' && operation === 'resync';
}

/** Whether frames that were sent after the registry have come: it is of an abandoned connection, or of a side that counts anew. */
export function isStale({ agent, seq }: Pick<FrameHead, 'agent' | 'seq'>, session: Session): boolean {
  return seq !== undefined && seq < partsOfSession(session).delivery.expected(agent);
}

/**
 * Returns why a registry that came by itself is refused, or `null`. Without connections, the first side cannot learn that another one has
 * taken its place, and both would use one count of numbers.
 */
export function registryRefusal(
  head: Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'seq' | 'mid'>,
  session: Session,
  arrivals: Arrivals,
): string | null {
  const { agent, intent, operation, mid, seq } = head;
  if (intent !== 'sync' || operation !== 'registry') return null;
  const { peers } = session;
  if (peers.size > 0 && !peers.has(agent)) return 'The session is that of another agent.';
  // A duplicate or a late frame is refused as any other.
  const isLate =
    (mid !== undefined && partsOfSession(session).delivery.hasSeen(mid)) || arrivals.wasSkipped(agent, seq ?? 0);
  return isStale(head, session) && !isLate ? 'The session has gone on since this registry.' : null;
}
