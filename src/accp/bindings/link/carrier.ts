/** What carries the frames of a link: a WebSocket, or exchanges of one request and its answer each. */
import type { LinkError } from './errors.js';

/** One connection. */
export interface Carrier {
  /** Resolves when frames can be sent. */
  readonly opened: Promise<void>;
  /** Whether the other side works on when it is closed, unless it is told to stop. */
  readonly isOutlived?: boolean | undefined;
  /** Whether nothing is read for now, so that silence means nothing. */
  readonly isStopped: boolean;
  /** Sends a frame, in order. After the end, nothing is sent. */
  readonly send: (frame: string) => void;
  /** Resolves when it can take more; `undefined` when it can now. */
  readonly ready: () => Promise<void> | undefined;
  /** Gives no more frames, as soon as that is possible. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sends what waits, and closes. @param code one of `CLOSE` */
  readonly close: (code: number, reason: string) => void;
  /** Closes at once. */
  readonly terminate: (code?: number, reason?: string) => void;
}

/** Whom a carrier tells. */
export interface CarrierReceiver {
  readonly frame: (frame: string) => void;
  /** Told of a frame that has come while it is paused; it is given when it goes on. */
  readonly held: (frame: string) => void;
  /** Told that nothing is read any more, so that nothing will be held either until it goes on. */
  readonly stopped: () => void;
  /** Told that the first frame was taken, where there is nothing to say to it. */
  readonly taken: () => void;
  /** Told once that it has ended, whichever side has ended it. */
  readonly closed: (error: LinkError) => void;
}
