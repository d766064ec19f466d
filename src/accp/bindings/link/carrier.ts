/** What carries the frames of a link: a WebSocket, or exchanges of one request and its answer each. */
import type { LinkError } from './errors.js';

/** One connection. */
export interface Carrier {
  /** Resolves when frames can be sent. */
  readonly opened: Promise<void>;
  /** Whether each frame is an exchange: the other side sends nothing unless it is sent something, and works on unless it is told to stop. */
  readonly isExchange?: boolean | undefined;
  /** Whether nothing is read for now, so that silence means nothing. */
  readonly isStopped: boolean;
  /** Sends a frame, in order. After the end, nothing is sent. */
  readonly send: (frame: string) => void;
  /** Resolves when it can take more; `undefined` when it can now. */
  readonly ready: () => Promise<void> | undefined;
  /** Gives no more frames, as soon as that is possible. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Closes, when what was sent has gone. @param code one of `CLOSE` */
  readonly close: (code: number, reason: string) => void;
  /** Closes at once. */
  readonly terminate: (code?: number, reason?: string) => void;
}

/** The listener of a carrier. */
export interface CarrierReceiver {
  readonly frame: (frame: string) => void;
  /** A frame has arrived while the carrier is paused; `frame` follows when it resumes. */
  readonly held: (frame: string) => void;
  /** Nothing is read until the carrier resumes. */
  readonly stopped: () => void;
  /** The exchange of the first frame is over. @param isAnswered whether anything came */
  readonly taken: (isAnswered: boolean) => void;
  /** The carrier has ended, on either side; called once. */
  readonly closed: (error: LinkError) => void;
}
