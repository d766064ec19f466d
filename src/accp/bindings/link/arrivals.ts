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
  readonly agent: string;
  readonly seq: number;
}

export class Arrivals {
  readonly #session: Session;
  readonly #give: (frame: string) => void;
  #early: Early[] = [];
  #timer: unknown;

  constructor(session: Session, give: (frame: string) => void) {
    this.#session = session;
    this.#give = give;
  }

  /** @param isAlone whether no other exchange is under way by which those before it could come */
  add(frame: string, isAlone: boolean): void {
    const head = isAlone && this.#early.length === 0 ? null : readHead(frame);
    if (head === null || !this.#isEarly(head, frame)) {
      this.#give(frame);
      this.#giveNext();
      return;
    }
    this.#early.push({ frame, agent: head.agent, seq: head.seq! });
    if (isAlone || this.#early.length > MAX_EARLY) this.release();
    else this.#timer ??= setTimeout(() => this.release(), PATIENCE);
  }

  /** Nothing is waited for any more: what is missing is lost. */
  release(): void {
    clearTimeout(this.#timer as never);
    this.#timer = undefined;
    const early = this.#early.sort((a, b) => a.seq - b.seq);
    this.#early = [];
    for (const { frame } of early) this.#give(frame);
  }

  /** What tells of a broken sequence stands outside of it. */
  #isEarly({ agent, intent, operation, seq }: FrameHead, frame: string): boolean {
    const isOutside = (intent === 'sync' && operation === 'resync') || isGapReport(frame);
    return seq !== undefined && !isOutside && seq > this.#expected(agent);
  }

  #giveNext(): void {
    for (let index = 0; index >= 0; ) {
      index = this.#early.findIndex(({ agent, seq }) => seq <= this.#expected(agent));
      if (index >= 0) this.#give(this.#early.splice(index, 1)[0]!.frame);
    }
    if (this.#early.length > 0) return;
    clearTimeout(this.#timer as never);
    this.#timer = undefined;
  }

  #expected(agent: string): number {
    return partsOfSession(this.#session).delivery.expected(agent);
  }
}
