/** Frames that may overtake each other on their way, in the order of their numbers (draft-benzing-accp-00, section 3.7). */

import { partsOfSession, type Session } from '../session/session.js';
import { type FrameHead, isGapReport } from './frames.js';

/**
 * Milliseconds that a frame waits for those before it, which may come by another exchange: so long without any frame, and in all. Then they
 * count as lost. In a busy process, and behind a slow line, frames that are sent at once come one after the other.
 */
const QUIET = 1000;
const LONGEST = 4000;
/** Frames that wait at most, and their characters in all. */
const MAX_EARLY = 1024;
const MAX_LENGTH = 4_194_304;

/** Resyncs that are remembered. */
const MAX_SKIPS = 64;

/** The parts of a frame that decide when it is its turn. */
interface ArrivedHead {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  /** Its number, where it has a usable one. */
  readonly seq: number | undefined;
}

interface Early {
  readonly agent: string;
  readonly seq: number;
  readonly length: number;
  /** When it came, in milliseconds of the monotonic clock. */
  readonly at: number;
  readonly process: () => void;
}

/** Numbers of an agent that a resync has made void: from `from` on, before `to`. */
interface Skip {
  readonly agent: string;
  readonly from: number;
  readonly to: number;
}

/** Puts the frames of a session in order: one that is ahead of its turn waits for those before it. */
export class Arrivals {
  readonly #session: Session;
  /** In the order in which they came. */
  readonly #early = new Set<Early>();
  readonly #skips: Skip[] = [];
  #length = 0;
  /** When the last frame came, in milliseconds of the monotonic clock. */
  #last = 0;
  #timer: unknown;
  /** Something was lost since the last gap: the next missing frame was probably lost with it. */
  #isLossy = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Takes a frame.
   *
   * @param readHead its head; `null` where it has none
   * @param process told when it is the frame's turn, at once or later: it decodes the frame
   * @param isAlone whether there is no other way by which those before it could come
   * @returns takes the frame back, as long as it waits: it counts as never come
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
    else if (this.#timer === undefined) this.#wait(QUIET);
    return () => this.#remove(early);
  }

  /** Whether a number was skipped by a resync: what bears it may still come, late. */
  wasSkipped(agent: string, seq: number): boolean {
    return this.#skips.some((skip) => skip.agent === agent && skip.from <= seq && seq < skip.to);
  }

  /** Something was lost, and what is missing may have been lost with it. */
  failed(): void {
    if (this.#early.size > 0) this.release();
    else this.#isLossy = true;
  }

  /** Nothing is waited for any more: what is missing is lost. */
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

  /** What has its turn now, and what a resync has made void. */
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
    this.#timer = setTimeout(() => {
      const [first] = this.#early;
      const end = first === undefined ? 0 : Math.min(this.#last + QUIET, first.at + LONGEST);
      const left = end - performance.now();
      if (left > 0) this.#wait(left);
      else this.release();
    }, milliseconds);
  }

  #remove(early: Early): void {
    if (!this.#early.delete(early)) return;
    this.#length -= early.length;
    if (this.#early.size > 0) return;
    clearTimeout(this.#timer as never);
    this.#timer = undefined;
  }

  #expected(agent: string): number {
    return partsOfSession(this.#session).delivery.expected(agent);
  }
}

function isResync({ intent, operation }: ArrivedHead): boolean {
  return intent === 'sync' && operation === 'resync';
}

/** Whether a registry was sent before others that have come: by a connection that was given up, or by a side that counts anew. */
export function isStale({ agent, seq }: Pick<FrameHead, 'agent' | 'seq'>, session: Session): boolean {
  return seq !== undefined && seq < partsOfSession(session).delivery.expected(agent);
}

/**
 * Why a registry that came by itself is refused; `null` where it is not, and for other frames. Without connections, nobody could tell the first
 * side that another one has taken its place, and both would be given numbers of one count.
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
  // One that comes twice or late is refused as any other frame.
  const isLate =
    (mid !== undefined && partsOfSession(session).delivery.hasSeen(mid)) || arrivals.wasSkipped(agent, seq ?? 0);
  return isStale(head, session) && !isLate ? 'The session has gone on since this registry.' : null;
}
