/**
 * How far one side may run ahead of the other. What a cut connection has lost is sent again from the session's outbox, and that holds
 * only so many frames: beyond, what was lost would be lost for good. A `pong` tells that everything before its `ping` was processed
 * (draft-benzing-accp-00, sections 3.7 and 11.2), so pings stand between the frames, and their answers are waited for.
 */
import { isGapReport, readHead } from '../frames.js';

/** Of the frames that are kept, the part that may be under way; the rest is for what has to be sent in one go. */
const SHARE = 1 / 4;
/** So many even where next to nothing is kept. */
const LEAST = 4;
/** Characters that may be under way: so many may wait on the other side while it does not read on. */
const MAX_LENGTH = 1_048_576;
/** Milliseconds for the first pong. A side that speaks, and answers no pings, is not waited for any longer. */
const PATIENCE = 60_000;

const PING = /^@[^>]*>ping:/;
const PONG = /^@[^>]*>pong:/;
/** What a frame is about: of a report, the frame that was refused. */
const AID = /[[,]aid:([^,\]]+)/;
/** Characters of a metadata block, at most, that is looked at for it. */
const MAX_METADATA = 2048;

/** How much was sent, from the beginning on. */
interface Mark {
  readonly frames: number;
  readonly length: number;
}

export class SendWindow {
  readonly #max: number;
  #frames = 0;
  #length = 0;
  /** What was processed, as far as is known. */
  #processed: Mark = { frames: 0, length: 0 };
  /** Pings that were not answered yet, by their identifiers, with what was sent up to them. */
  readonly #pings = new Map<string, Mark>();
  #isAsked = false;
  #isAnswering = false;
  /** Whether anything has come while a pong was waited for. */
  #hasHeard = false;
  /** Whether the other side answers no pings, so that nothing can be waited for. */
  #isMute = false;
  #waiting: (() => void)[] = [];
  #timer: unknown;

  /** @param kept frames that can be sent again */
  constructor(kept: number) {
    this.#max = Math.max(LEAST, Math.floor(kept * SHARE));
  }

  /** A frame went out. */
  sent(frame: string): void {
    this.#frames++;
    this.#length += frame.length;
    if (!PING.test(frame)) return;
    const mid = readHead(frame)?.mid;
    if (mid === undefined) return;
    this.#isAsked = false;
    this.#pings.set(mid, { frames: this.#frames, length: this.#length });
  }

  /** A frame has come, whether it can be processed now or not. */
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

  /** Whether a ping is to be sent now, so that there is no waiting for it later; told once for each. */
  takeDue(): boolean {
    if (this.#isAsked || this.#pings.size > 0 || !this.#isFilledTo(1 / 2)) return false;
    this.#isAsked = true;
    return true;
  }

  /** Resolves when more may be sent; `undefined` when it may now. */
  ready(): Promise<void> | undefined {
    // Without a ping under way, nothing would end the waiting.
    if (this.#isMute || this.#pings.size === 0 || !this.#isFilledTo(1)) return undefined;
    if (!this.#isAnswering && this.#timer === undefined) this.#beginPatience();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Another connection: which pings have come through the last one, nobody knows. */
  restart(): void {
    this.#pings.clear();
    this.#isAsked = false;
    this.#wake();
  }

  /** Nobody waits any more for what was sent so far. */
  release(): void {
    this.#processed = { frames: this.#frames, length: this.#length };
    this.restart();
  }

  #beginPatience(): void {
    this.#hasHeard = false;
    this.#timer = setTimeout(() => {
      // A side of which nothing comes may be gone: that is the heartbeat's business.
      if (this.#hasHeard) {
        this.#isMute = true;
        this.#wake();
      } else this.#beginPatience();
    }, PATIENCE);
    (this.#timer as { readonly unref?: () => void }).unref?.();
  }

  #isFilledTo(part: number): boolean {
    const { frames, length } = this.#processed;
    return this.#frames - frames >= this.#max * part || this.#length - length >= MAX_LENGTH * part;
  }

  #wake(): void {
    clearTimeout(this.#timer as never);
    this.#timer = undefined;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
