/** Processes frames that may overtake each other in the order of their numbers (draft-benzing-accp-00, section 3.7). */

import { after } from '../../async/timers.js';
import { partsOfSession, type Session } from '../session/session.js';
import { type FrameHead, isGapReport } from './frames.js';

/**
 * The time that a frame waits for earlier ones, which may arrive in another exchange: one second without any frame, and four in total. Then
 * they count as lost. Over a slow line, frames that are sent together arrive one after the other. The time is counted in ticks of a timer:
 * a process that was busy or suspended for seconds reads the frames of that time after its timers, and counts it as one tick.
 */
const TICK_MS = 100;
const QUIET_TICKS = 10;
const MAX_TICKS = 40;
/** Limits of the buffered frames: their number, and their characters in total. */
const MAX_FRAMES = 1024;
const MAX_LENGTH = 4_194_304;

const MAX_SKIPS = 64;

type OrderedHead = Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'seq'>;

interface BufferedFrame {
  readonly agent: string;
  readonly seq: number;
  readonly length: number;
  /** The tick, as in `#lastArrival`. */
  readonly arrivedAt: number;
  readonly process: () => void;
}

/** Numbers of an agent that a resync has skipped. */
interface SkippedRange {
  readonly agent: string;
  readonly from: number;
  readonly to: number;
}

export class ReorderBuffer {
  readonly #session: Session;
  readonly #buffered = new Set<BufferedFrame>();
  readonly #skips: SkippedRange[] = [];
  #length = 0;
  #tick = 0;
  #lastArrival = 0;
  #stopTimer: (() => void) | undefined;
  /** If true, an exchange failed since the last gap: the next missing frame was probably lost with it. */
  #isLossy = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Processes a frame, after those with lower numbers.
   *
   * @param isAlone `true` if earlier frames cannot arrive in another exchange
   * @returns a function that withdraws the frame while it waits, as if it had never arrived
   */
  add(frame: string, readHead: () => OrderedHead | null, process: () => void, isAlone: boolean): () => void {
    this.#lastArrival = this.#tick;
    const head = isAlone && this.#buffered.size === 0 ? null : readHead();
    if (head === null || !this.#isEarly(head, frame)) {
      const before = head === null ? 0 : this.#expected(head.agent);
      process();
      if (head !== null && isResync(head)) this.#addSkip(head, before);
      this.#processNext();
      return () => undefined;
    }
    const buffered: BufferedFrame = {
      agent: head.agent,
      seq: head.seq!,
      length: frame.length,
      arrivedAt: this.#lastArrival,
      process,
    };
    this.#buffered.add(buffered);
    this.#length += buffered.length;
    if (this.#isLossy || isAlone || this.#buffered.size > MAX_FRAMES || this.#length > MAX_LENGTH) this.flush();
    else if (this.#stopTimer === undefined) this.#wait();
    return () => this.#remove(buffered);
  }

  /** Tests whether a resync skipped a number: a late frame may still have it. */
  wasSkipped(agent: string, seq: number): boolean {
    return this.#skips.some((skip) => skip.agent === agent && skip.from <= seq && seq < skip.to);
  }

  /** Takes note of a failed exchange. Earlier frames that are missing count as lost with it. */
  exchangeFailed(): void {
    if (this.#buffered.size > 0) this.flush();
    else this.#isLossy = true;
  }

  /** Processes the buffered frames. Those that are missing count as lost. */
  flush(): void {
    this.#isLossy = false;
    const buffered = [...this.#buffered].sort((a, b) => a.seq - b.seq);
    for (const one of buffered) this.#remove(one);
    for (const { process } of buffered) process();
  }

  /** Tests whether earlier frames are missing. Gap reports and resyncs are accepted out of order. */
  #isEarly(head: OrderedHead, frame: string): boolean {
    const { agent, seq } = head;
    if (seq === undefined || seq <= this.#expected(agent)) return false;
    return !isResync(head) && !isGapReport(frame);
  }

  #addSkip({ agent }: OrderedHead, from: number): void {
    const to = this.#expected(agent);
    if (to === from) return;
    this.#skips.push({ agent, from, to });
    if (this.#skips.length > MAX_SKIPS) this.#skips.shift();
  }

  #processNext(): void {
    for (;;) {
      let next: BufferedFrame | undefined;
      for (const buffered of this.#buffered)
        if (buffered.seq <= this.#expected(buffered.agent) && (next === undefined || buffered.seq < next.seq))
          next = buffered;
      if (next === undefined) return;
      this.#remove(next);
      next.process();
    }
  }

  #wait(): void {
    this.#stopTimer = after(TICK_MS, () => {
      this.#tick++;
      const [first] = this.#buffered;
      const isQuiet = this.#tick - this.#lastArrival >= QUIET_TICKS;
      if (!isQuiet && this.#tick - first!.arrivedAt < MAX_TICKS) this.#wait();
      else this.flush();
    });
  }

  #remove(buffered: BufferedFrame): void {
    if (!this.#buffered.delete(buffered)) return;
    this.#length -= buffered.length;
    if (this.#buffered.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #expected(agent: string): number {
    return partsOfSession(this.#session).delivery.expected(agent);
  }
}

function isResync({ intent, operation }: OrderedHead): boolean {
  return intent === 'sync' && operation === 'resync';
}

/**
 * Tests whether frames that were sent after a registry have arrived. Then it belongs to an abandoned connection, or to a peer that has started
 * to number its frames from 1 again.
 */
export function isStale({ agent, seq }: Pick<FrameHead, 'agent' | 'seq'>, session: Session): boolean {
  return seq !== undefined && seq < partsOfSession(session).delivery.expected(agent);
}

/**
 * Returns the reason to reject a registry over a binding without connections, or `null`. There, a client cannot learn that another one has
 * taken over its session, and both would use the same numbers.
 */
export function registryRefusal(
  head: Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'seq' | 'mid'>,
  session: Session,
  reorderBuffer: ReorderBuffer,
): string | null {
  const { agent, intent, operation, mid, seq } = head;
  if (intent !== 'sync' || operation !== 'registry') return null;
  const { peers } = session;
  if (peers.size > 0 && !peers.has(agent)) return 'The session belongs to another agent.';
  // The codec rejects a duplicate or a late frame as any other.
  const isLate =
    (mid !== undefined && partsOfSession(session).delivery.hasSeen(mid)) || reorderBuffer.wasSkipped(agent, seq ?? 0);
  return isStale(head, session) && !isLate ? 'The session has continued since this registry.' : null;
}
