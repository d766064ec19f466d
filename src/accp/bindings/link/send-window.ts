/**
 * Limits how far one side may run ahead of the other. Frames of a lost connection are sent again from the session's outbox, which holds
 * a limited number: beyond it, they would be lost for good. A `pong` confirms all frames before its `ping` (draft-benzing-accp-00,
 * sections 3.7 and 11.2), so pings stand between the frames, and their answers are waited for.
 */
import { afterUnref } from '../../../async/timers.js';
import { isGapReport, readHead } from '../frames.js';

/** The part of the kept frames that may be unconfirmed; the rest is for frames that have to be sent in one go. */
const SHARE = 1 / 4;
/** The least number of frames, even if hardly any are kept. */
const LEAST = 4;
/** Unconfirmed characters: so many may wait on the other side while it does not read. */
const MAX_LENGTH = 1_048_576;
/** Milliseconds for the first pong. A side that sends frames, but no pongs, is not waited for any longer. */
const PATIENCE = 60_000;

const PING = /^@[^>]*>ping:/;
const PONG = /^@[^>]*>pong:/;
/** Of a report, the frame that was refused. */
const AID = /[[,]aid:([^,\]]+)/;
/** Characters of the metadata block that are searched for it. */
const MAX_METADATA = 2048;

interface Mark {
  readonly frames: number;
  readonly length: number;
}

export class SendWindow {
  readonly #max: number;
  #frames = 0;
  #length = 0;
  #processed: Mark = { frames: 0, length: 0 };
  /** Unanswered pings by identifier, with what was sent up to them. */
  readonly #pings = new Map<string, Mark>();
  #isAsked = false;
  #isAnswering = false;
  #hasHeard = false;
  /** The other side answers no pings. */
  #isMute = false;
  #waiting: (() => void)[] = [];
  #stopTimer: (() => void) | undefined;

  constructor(kept: number) {
    this.#max = Math.max(LEAST, Math.floor(kept * SHARE));
  }

  sent(frame: string): void {
    this.#frames++;
    this.#length += frame.length;
    if (!PING.test(frame)) return;
    const mid = readHead(frame)?.mid;
    if (mid === undefined) return;
    this.#isAsked = false;
    this.#pings.set(mid, { frames: this.#frames, length: this.#length });
  }

  /** A frame has come, even if it is not processed yet. */
  arrived(frame: string): void {
    this.#hasHeard = true;
    if (this.#pings.size === 0) return;
    if (isGapReport(frame)) {
      // After a gap, each frame is refused. A ping is sent again under another identifier.
      const refused = AID.exec(frame.slice(Math.max(frame.lastIndexOf('['), frame.length - MAX_METADATA)))?.[1];
      if (refused !== undefined && this.#pings.delete(refused) && this.#pings.size === 0) this.restart();
      return;
    }
    if (!PONG.test(frame)) return;
    const cid = readHead(frame)?.cid;
    const mark = cid === undefined ? undefined : this.#pings.get(cid);
    if (mark === undefined) return;
    // Frames are processed in order, and so are pings.
    for (const mid of this.#pings.keys()) {
      this.#pings.delete(mid);
      if (mid === cid) break;
    }
    this.#processed = mark;
    this.#isAnswering = true;
    this.#isMute = false;
    this.#wake();
  }

  /** Whether a ping is to be sent now, early enough to avoid a wait; true once for each. */
  takeDue(): boolean {
    if (this.#isAsked || this.#pings.size > 0 || !this.#isFilledTo(1 / 2)) return false;
    this.#isAsked = true;
    return true;
  }

  /** Resolves when more may be sent; `undefined` when it may now. */
  ready(): Promise<void> | undefined {
    // Without a ping under way, nothing would end the wait.
    if (this.#isMute || this.#pings.size === 0 || !this.#isFilledTo(1)) return undefined;
    if (!this.#isAnswering && this.#stopTimer === undefined) this.#beginPatience();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** After a reconnection, it is unknown which pings have arrived. */
  restart(): void {
    this.#pings.clear();
    this.#isAsked = false;
    this.#wake();
  }

  /** Stops waiting for the confirmation of what was sent. */
  release(): void {
    this.#processed = { frames: this.#frames, length: this.#length };
    this.restart();
  }

  #beginPatience(): void {
    this.#hasHeard = false;
    this.#stopTimer = afterUnref(PATIENCE, () => {
      // A silent side may be gone: the heartbeat finds that.
      if (this.#hasHeard) {
        this.#isMute = true;
        this.#wake();
      } else this.#beginPatience();
    });
  }

  #isFilledTo(part: number): boolean {
    const { frames, length } = this.#processed;
    return this.#frames - frames >= this.#max * part || this.#length - length >= MAX_LENGTH * part;
  }

  #wake(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
