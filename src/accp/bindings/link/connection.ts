/** One connection of the side that connects, up to the first frame of the other side. */

import { after } from '../../../async/timers.js';
import { systemReason } from '../../../text/system-reason.js';
import { isErrorHead, readHead } from '../frames.js';
import { isGapReport } from '../gap-report.js';
import type { Carrier, CarrierReceiver } from './carrier.js';
import { LinkError } from './errors.js';

/** Whom a connection tells. */
export interface ConnectionListener extends Omit<CarrierReceiver, 'closed' | 'taken'> {
  /** The socket is open: it is time for the first frame. What it throws ends the attempt. */
  readonly opened: (socket: Carrier) => void;
  /** The other side has answered. What it throws ends the attempt. */
  readonly check: (first: string) => void;
  /** The connection stands; the first frame is given next. */
  readonly greeted: (socket: Carrier) => void;
  /** It stands, though nothing was said to the first frame. */
  readonly silent: () => void;
  /** A connection that was greeted has ended. */
  readonly lost: (error: LinkError) => void;
}

export interface Connection {
  /** @throws LinkError when it does not come about */
  readonly greeted: Promise<void>;
  /** Nobody wants it any more. */
  readonly abandon: (error: LinkError) => void;
}

/**
 * @param connect makes the socket
 * @param seconds for the other side's first frame to come
 */
export function beginConnection(
  connect: (receiver: CarrierReceiver) => Carrier,
  seconds: number,
  listener: ConnectionListener,
): Connection {
  let phase: 'greeting' | 'greeted' | 'over' = 'greeting';
  let settle!: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
  const greeted = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  let socket: Carrier | undefined;
  /** What the other side has said instead of a greeting. */
  let refusal: string | undefined;

  const abandon = (error: unknown): void => {
    if (phase !== 'greeting') return;
    phase = 'over';
    stopTimer();
    socket?.terminate();
    settle.reject(error);
  };
  const frame = (text: string): void => {
    if (phase === 'greeted') listener.frame(text);
    else if (phase === 'greeting') greet(text);
  };
  const greet = (text: string): void => {
    if (isRefusal(text)) {
      refusal = text;
      return;
    }
    try {
      listener.check(text);
    } catch (thrown) {
      abandon(thrown);
      return;
    }
    stand();
    listener.frame(text);
    settle.resolve();
  };
  const stand = (): void => {
    phase = 'greeted';
    stopTimer();
    listener.greeted(socket!);
  };
  const taken = (isAnswered: boolean): void => {
    if (phase !== 'greeting') return;
    if (refusal !== undefined) {
      abandon(new LinkError('refused', `The first frame was refused. The other side said: ${refusal}`));
      return;
    }
    // The answer waits for frames before it.
    if (isAnswered) return;
    stand();
    listener.silent();
    settle.resolve();
  };
  const closed = (error: LinkError): void => {
    if (phase === 'greeted') {
      phase = 'over';
      listener.lost(error);
    } else abandon(refusal === undefined ? error : withRefusal(error, refusal));
  };

  const stopTimer = after(seconds * 1000, () =>
    abandon(new LinkError('unreachable', `No answer came within ${seconds} s.`)),
  );
  try {
    const { held, stopped } = listener;
    socket = connect({ frame, held, stopped, taken, closed });
    const made = socket;
    made.opened
      .then(() => {
        if (phase === 'greeting') listener.opened(made);
      })
      .catch(abandon);
  } catch (cause) {
    abandon(new LinkError('unreachable', `No connection could be begun: ${systemReason(cause)}`, { cause }));
  }
  return { greeted, abandon };
}

/** An error that is none of the session: it names none. A report of a gap is one that may stand first. */
function isRefusal(frame: string): boolean {
  const head = readHead(frame);
  return head !== null && isErrorHead(head) && head.sid === undefined && !isGapReport(frame);
}

function withRefusal({ code, message, closeCode, cause }: LinkError, refusal: string): LinkError {
  return new LinkError(code, `${message} It said: ${refusal}`, { closeCode, cause });
}
