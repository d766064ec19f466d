/**
 * Limits how far one side may run ahead of the other. Frames of a lost connection are sent again from the session's outbox, which holds
 * a limited number: beyond it, they would be lost for good. A `pong` confirms all frames before its `ping` (draft-benzing-accp-00,
 * sections 3.7 and 11.2), so the sender places pings between the frames and waits for their answers.
 */
import { afterUnref } from '../../../async/timers.js';
import { isGapReport, readHead } from '../frames.js';

/** The part of the outbox that may be unconfirmed; the rest is for frames that have to be sent in one step. */
const WINDOW_SHARE = 1 / 4;
/** The least number of unconfirmed frames, even for a small outbox. */
const MIN_FRAMES = 4;
/** The maximum number of unconfirmed characters, which may wait on the other side while it does not read. */
const MAX_LENGTH = 1_048_576;
/** Milliseconds for the first pong. The sender stops waiting for a peer that sends frames but no pongs. */
const PONG_TIMEOUT_MS = 60_000;

const PING = /^@[^>]*>ping:/;
const PONG = /^@[^>]*>pong:/;
/** The rejected frame of a gap report. */
const AID = /[[,]aid:([^,\]]+)/;
/** Characters of the metadata block that are searched for it. */
const MAX_METADATA = 2048;

interface Position {
  readonly frames: number;
  readonly length: number;
}

export class SendWindow {
  readonly #maxFrames: number;
  #frames = 0;
  #length = 0;
  #processed: Position = { frames: 0, length: 0 };
  /** Unanswered pings by identifier, with the position of each. */
  readonly #pings = new Map<string, Position>();
  #isPingRequested = false;
  #answersPings = false;
  #hasReceived = false;
  /** If true, the peer does not answer pings. */
  #ignoresPings = false;
  #waiting: (() => void)[] = [];
  #stopTimer: (() => void) | undefined;

  constructor(outboxSize: number) {
    this.#maxFrames = Math.max(MIN_FRAMES, Math.floor(outboxSize * WINDOW_SHARE));
  }

  sent(frame: string): void {
    this.#frames++;
    this.#length += frame.length;
    if (!PING.test(frame)) return;
    const mid = readHead(frame)?.mid;
    if (mid === undefined) return;
    this.#isPingRequested = false;
    this.#pings.set(mid, { frames: this.#frames, length: this.#length });
  }

  /** Takes note of a frame that has arrived, even if it is not processed yet. */
  arrived(frame: string): void {
    this.#hasReceived = true;
    if (this.#pings.size === 0) return;
    if (isGapReport(frame)) {
      // After a gap, each frame is rejected. A ping is sent again with another identifier.
      const rejected = AID.exec(frame.slice(Math.max(frame.lastIndexOf('['), frame.length - MAX_METADATA)))?.[1];
      if (rejected !== undefined && this.#pings.delete(rejected) && this.#pings.size === 0) this.restart();
      return;
    }
    if (!PONG.test(frame)) return;
    const cid = readHead(frame)?.cid;
    const position = cid === undefined ? undefined : this.#pings.get(cid);
    if (position === undefined) return;
    // Frames are processed in order, and so are pings.
    for (const mid of this.#pings.keys()) {
      this.#pings.delete(mid);
      if (mid === cid) break;
    }
    this.#processed = position;
    this.#answersPings = true;
    this.#ignoresPings = false;
    this.#wake();
  }

  /** Returns `true`, once for each ping, when a ping is due: early enough to avoid a wait. */
  takePingDue(): boolean {
    if (this.#isPingRequested || this.#pings.size > 0 || !this.#isFilledTo(1 / 2)) return false;
    this.#isPingRequested = true;
    return true;
  }

  /** Resolves when more may be sent; `undefined` if it may now. */
  ready(): Promise<void> | undefined {
    // Without an unanswered ping, nothing would end the wait.
    if (this.#ignoresPings || this.#pings.size === 0 || !this.#isFilledTo(1)) return undefined;
    if (!this.#answersPings && this.#stopTimer === undefined) this.#startTimer();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Forgets all pings: after a reconnection, it is unknown which of them arrived. */
  restart(): void {
    this.#pings.clear();
    this.#isPingRequested = false;
    this.#wake();
  }

  /** Stops waiting for the confirmation of the frames that were sent. */
  release(): void {
    this.#processed = { frames: this.#frames, length: this.#length };
    this.restart();
  }

  #startTimer(): void {
    this.#hasReceived = false;
    this.#stopTimer = afterUnref(PONG_TIMEOUT_MS, () => {
      // A silent peer may be gone: the heartbeat detects that.
      if (this.#hasReceived) {
        this.#ignoresPings = true;
        this.#wake();
      } else this.#startTimer();
    });
  }

  #isFilledTo(part: number): boolean {
    const { frames, length } = this.#processed;
    return this.#frames - frames >= this.#maxFrames * part || this.#length - length >= MAX_LENGTH * part;
  }

  #wake(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
