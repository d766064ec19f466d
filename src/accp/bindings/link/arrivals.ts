/** What answers several exchanges at once, in the order of its numbers (draft-benzing-accp-00, section 3.7). */
import { partsOfSession, type Session } from '../../session/session.js';
import { type FrameHead, readHead } from '../frames.js';
import { isGapReport } from './gap-report.js';

/** Milliseconds that a frame waits for those before it, which may come by another exchange. Then they count as lost. */
const PATIENCE = 1000;
/** Frames that wait at most. */
const MAX_EARLY = 1024;

interface Early {
  readonly frame: string;
  readonly seq: number;
}

export class Arrivals {
  readonly #session: Session;
  readonly #give: (frame: string) => void;
  /** By agent and number. */
  readonly #early = new Map<string, Early>();
  #timer: unknown;
  /** An exchange has failed since the last gap: the next missing frame was probably lost with it. */
  #isLossy = false;

  constructor(session: Session, give: (frame: string) => void) {
    this.#session = session;
    this.#give = give;
  }

  /** @param isAlone whether no other exchange is under way by which those before it could come */
  add(frame: string, isAlone: boolean): void {
    const head = isAlone && this.#early.size === 0 ? null : readHead(frame);
    const key = `${head?.agent} ${head?.seq}`;
    if (head === null || !this.#isEarly(head, frame) || this.#early.has(key)) {
      this.#give(frame);
      if (head !== null) this.#giveNext(head.agent);
      return;
    }
    this.#early.set(key, { frame, seq: head.seq! });
    if (this.#isLossy || isAlone || this.#early.size > MAX_EARLY) this.release();
    else this.#timer ??= setTimeout(() => this.release(), PATIENCE);
  }

  /** An exchange has failed: what is missing may have been lost with it. */
  failed(): void {
    if (this.#early.size > 0) this.release();
    else this.#isLossy = true;
  }

  /** Nothing is waited for any more: what is missing is lost. */
  release(): void {
    this.#stopTimer();
    this.#isLossy = false;
    const early = [...this.#early.values()].sort((a, b) => a.seq - b.seq);
    this.#early.clear();
    for (const { frame } of early) this.#give(frame);
  }

  /** Reports of gaps and resyncs are accepted out of order. */
  #isEarly({ agent, intent, operation, seq }: FrameHead, frame: string): boolean {
    const isOutside = (intent === 'sync' && operation === 'resync') || isGapReport(frame);
    return seq !== undefined && !isOutside && seq > this.#expected(agent);
  }

  #giveNext(agent: string): void {
    for (;;) {
      const key = `${agent} ${this.#expected(agent)}`;
      const next = this.#early.get(key);
      if (next === undefined) break;
      this.#early.delete(key);
      this.#give(next.frame);
    }
    if (this.#early.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer as never);
    this.#timer = undefined;
  }

  #expected(agent: string): number {
    return partsOfSession(this.#session).delivery.expected(agent);
  }
}
