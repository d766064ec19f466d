/** One connection of the side that connects, up to the first frame of the other side. */
import { isErrorHead, readHead } from '../frames.js';
import { CLOSE, LinkError } from './errors.js';
import type { FrameReceiver, FrameSocket, SocketEnd } from './frame-socket.js';
import { isGapReport } from './gap-report.js';
import { after } from './seconds.js';

/** Whom a connection tells. */
export interface ConnectionListener extends Omit<FrameReceiver, 'closed'> {
  /** The socket is open: it is time for the first frame. What it throws ends the attempt. */
  readonly opened: (socket: FrameSocket) => void;
  /** The other side has answered. What it throws ends the attempt. */
  readonly check: (first: string) => void;
  /** The connection stands; the first frame is given next. */
  readonly greeted: (socket: FrameSocket) => void;
  /** A connection that was greeted has ended. */
  readonly lost: (error: LinkError) => void;
}

export interface Connection {
  /** @throws LinkError when it does not come about */
  readonly greeted: Promise<void>;
  /** Nobody wants it any more. */
  readonly abandon: (error: LinkError) => void;
}

/** Closed with these, a connection would come to the same end again. */
const FOR_GOOD: ReadonlySet<number> = new Set([CLOSE.binary, CLOSE.notUtf8, CLOSE.noRegistry, CLOSE.tooBig]);

/**
 * @param connect makes the socket
 * @param seconds for the other side's first frame to come
 */
export function beginConnection(
  connect: (receiver: FrameReceiver) => FrameSocket,
  seconds: number,
  listener: ConnectionListener,
): Connection {
  let phase: 'greeting' | 'greeted' | 'over' = 'greeting';
  let settle!: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
  const greeted = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  let socket: FrameSocket | undefined;
  /** What the other side has said instead of a greeting. */
  let refusal: string | undefined;

  const abandon = (error: unknown): void => {
    if (phase !== 'greeting') return;
    phase = 'over';
    clearTimeout(timer as never);
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
    phase = 'greeted';
    clearTimeout(timer as never);
    listener.greeted(socket!);
    listener.frame(text);
    settle.resolve();
  };
  const closed = (end: SocketEnd): void => {
    if (phase === 'greeted') {
      phase = 'over';
      listener.lost(errorOf(end));
    } else abandon(errorOf(end, refusal));
  };

  const timer = after(seconds, () => abandon(new LinkError('unreachable', `No answer came within ${seconds} s.`)));
  try {
    const { held, stopped } = listener;
    socket = connect({ frame, held, stopped, closed });
    const made = socket;
    made.opened
      .then(() => {
        if (phase === 'greeting') listener.opened(made);
      })
      .catch(abandon);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    abandon(new LinkError('unreachable', `No connection could be begun: ${said}`, { cause }));
  }
  return { greeted, abandon };
}

/** An error that is none of the session: it names none. A report of a gap is one that may stand first. */
function isRefusal(frame: string): boolean {
  const head = readHead(frame);
  return head !== null && isErrorHead(head) && head.sid === undefined && !isGapReport(frame);
}

function errorOf({ code, reason, error }: SocketEnd, refusal?: string): LinkError {
  const said = reason === '' ? (error?.message ?? `code ${code}`) : reason;
  const told = refusal === undefined ? '' : ` It said: ${refusal}`;
  const details = { closeCode: code, cause: error };
  if (code === CLOSE.replaced)
    return new LinkError('replaced', 'The session goes on over another connection.', details);
  if (FOR_GOOD.has(code))
    return new LinkError('refused', `The other side has closed the connection: ${said}.${told}`, details);
  return new LinkError('unreachable', `The connection was lost: ${said}.${told}`, details);
}
