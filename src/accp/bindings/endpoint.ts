import { notifyListener } from '../../async/listeners.js';
import { Semaphore } from '../../async/semaphore.js';
import { AccpError, type AccpErrorCode } from '../errors.js';
import type { Message } from '../message/message.js';
import { tryParseFrame } from '../parse.js';
import { checkAgentName } from '../session/envelope.js';
import type { Session } from '../session/session.js';
import { StoreError } from '../store/store.js';
import { Arrivals, registryRefusal } from './arrivals.js';
import { type Batch, EndpointAnswers, takeUpInterrupted } from './endpoint-answers.js';
import type { Endpoint, EndpointOptions } from './endpoint-options.js';
import { DISCONNECTED, EndpointSessions, PutOut } from './endpoint-sessions.js';
import { bareErrorFrame } from './error-frame.js';
import { type FrameAddress, type FrameAnswer, isErrorHead, isUpkeep, pongTo, readAddress, readHead } from './frames.js';

export type { Answer, AnswerContext, Endpoint, EndpointOptions, Notice } from './endpoint-options.js';

interface Decoded {
  readonly replies: readonly string[];
  /** What the handler gets. */
  readonly message?: Message | undefined;
}

const MAX_ID = 256;

/**
 * Makes the side that answers: it decodes each frame in its session, calls the handler, and encodes the answers. The bindings carry
 * the frames.
 *
 * Source: draft-benzing-accp-00, sections 7 and 11.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const endpoint = createEndpoint({
 *   codec: createCodec(),
 *   agent: 'clock',
 *   handle: ({ intent }) => (intent === 'req' ? { intent: 'done', operation: 'tell', payload: { time: '12.30h' } } : null),
 * });
 */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { codec, agent, handle, onNotice } = options;
  checkAgentName(agent);
  if (typeof handle !== 'function') throw new TypeError('handle is the function that is told of messages');
  const sessions = new EndpointSessions(options);
  const answers = new EndpointAnswers(options);
  const putOut = new PutOut();
  const turnsOf = perSession(() => new Semaphore(1));
  const arrivalsOf = perSession((session) => new Arrivals(session));

  /** A session whose store has failed has ended; the next frame opens it anew. */
  const stored = <T>(session: Session, operation: () => T): T => {
    try {
      return operation();
    } catch (thrown) {
      if (thrown instanceof StoreError) sessions.drop(session);
      throw thrown;
    }
  };

  const decode = (frame: string, session: Session): Decoded => {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'dropped') return { replies: [] };
    if (outcome.outcome === 'rejected') return { replies: outcome.reply === null ? [] : [outcome.reply] };
    const { losses, warnings, replies, message } = outcome;
    if (losses.length > 0 || warnings.length > 0)
      notifyListener(() => onNotice?.({ session, direction: 'received', losses, warnings }));
    if (message === undefined) return { replies, message };
    if (message.intent === 'ping') return { replies: [...replies, ...codec.encode(pongTo(message), session).frames] };
    return { replies, message: isToldOf(outcome.outcome, message) ? message : undefined };
  };

  /** Decodes a frame; the first one of a stored session takes up the requests that were interrupted. */
  const take = (frame: string, session: Session): Decoded & { readonly again: readonly Message[] } => {
    const { replies, message } = decode(frame, session);
    const interrupted = sessions.takeInterrupted(session);
    return { ...takeUpInterrupted(interrupted, replies, session, options), message };
  };

  async function* run(
    messages: readonly Message[],
    session: Session,
    signal: AbortSignal,
  ): AsyncGenerator<Batch, void, undefined> {
    for (const message of messages) {
      const begun = await answers.begin(message, session, signal);
      if (typeof begun === 'function') yield begun;
      else yield* begun;
    }
  }

  /** Makes and yields frames in one go, so that those of another answer do not come between. */
  async function* inTurn(session: Session, make: () => readonly string[]): AsyncGenerator<string, void, undefined> {
    const turn = turnsOf(session).acquire();
    const end = typeof turn === 'function' ? turn : await turn;
    try {
      for (const frame of stored(session, make)) yield frame;
    } finally {
      end();
    }
  }

  async function* receive(
    frame: string,
    session: Session,
    signal: AbortSignal,
    admit?: () => Promise<void> | undefined,
  ): AsyncGenerator<string, void, undefined> {
    const end = sessions.use(session);
    try {
      let taken!: ReturnType<typeof take>;
      yield* inTurn(session, () => {
        taken = take(frame, session);
        return taken.replies;
      });
      const { message, again } = taken;
      for await (const batch of run(again, session, signal)) yield* inTurn(session, batch);
      if (message === undefined) return;
      const admitted = admit?.();
      if (admitted !== undefined) {
        await admitted;
        // It may have been cancelled meanwhile.
        if (signal.aborted || isCancelled(message, session)) return;
      }
      for await (const batch of run([message], session, signal)) yield* inTurn(session, batch);
    } finally {
      end();
    }
  }

  const busy = (session: Session, frames: AsyncIterable<string>): AsyncIterable<string> =>
    during(() => sessions.use(session), frames);

  /** Frames are made when they are asked for: a client that waits for each answer gets them in the order of their numbers. */
  async function* streamed(
    replies: readonly string[],
    batches: AsyncIterable<Batch>,
    session: Session,
  ): AsyncGenerator<string, void, undefined> {
    yield* replies;
    for await (const batch of batches) yield* stored(session, batch);
  }

  /** The handler is called before the first wait. */
  const answer = async (
    frame: string,
    address: FrameAddress,
    session: Session,
    signal: AbortSignal,
  ): Promise<FrameAnswer> => {
    const why = registryRefusal(address, session, arrivalsOf(session));
    if (why !== null) return bareErrorFrame('E5001', why, readHead(frame));
    const { replies, message, again } = stored(session, () => take(frame, session));
    if (again.length > 0) {
      const messages = message === undefined ? again : [message, ...again];
      return busy(session, streamed(replies, run(messages, session, signal), session));
    }
    if (message === undefined) return packed(replies);
    // It was cancelled while it waited.
    if (signal.reason instanceof AccpError)
      return packed([...replies, ...stored(session, () => answers.tell(message, signal.reason, session))]);
    const begun = await answers.begin(message, session, signal);
    if (typeof begun !== 'function') return busy(session, streamed(replies, begun, session));
    const frames = stored(session, begun);
    return packed(replies.length === 0 ? frames : [...replies, ...frames]);
  };

  /**
   * Answers a frame when it is its turn: those before it may come by other requests. A frame whose sender has gone meanwhile counts as never
   * come.
   */
  const answerInTurn = (
    frame: string,
    address: FrameAddress,
    session: Session,
    signal: AbortSignal,
  ): Promise<FrameAnswer> =>
    new Promise((resolve) => {
      let takeBack = (): void => undefined;
      const abort = (): void => {
        // A cancelled frame has its number nevertheless.
        if (signal.reason instanceof AccpError) return;
        takeBack();
        resolve(null);
      };
      const process = (): void => {
        signal.removeEventListener('abort', abort);
        resolve(answer(frame, address, session, signal));
      };
      signal.addEventListener('abort', abort);
      takeBack = arrivalsOf(session).add(frame, () => address, process, isFirst(address));
      if (signal.aborted) abort();
    });

  const handler = async (frame: string, { signal }: { readonly signal: AbortSignal }): Promise<FrameAnswer> => {
    const address = readAddress(frame);
    if (address === null) return notAFrame(frame);
    if (address.sid !== undefined && address.sid.length > MAX_ID)
      return refusal(frame, 'E1004', `metadata.sid: longer than ${MAX_ID} characters`);
    if (address.sid !== undefined && putOut.reason(address.sid) !== undefined)
      return refusal(frame, 'E5001', DISCONNECTED);
    // Sender and chain are no secrets: by them, a third party could add to a message of another client, and get its answer.
    if (address.sid === undefined && (address.part ?? 0) > 0)
      return refusal(frame, 'E1004', 'metadata.sid: a part of a message names the session of the first one');
    const session = sessions.open(address.sid);
    const linked = putOut.link(session, signal);
    const end = sessions.use(session);
    let { release } = linked;
    try {
      const given = await answerInTurn(frame, address, session, linked.signal);
      if (given === null || typeof given === 'string') return given;
      release = () => undefined;
      return during(() => linked.release, given);
    } finally {
      end();
      release();
    }
  };

  return {
    codec,
    open: (sid) => sessions.open(sid),
    retain: (session) => sessions.use(session),
    receive,
    send: (make, session) =>
      busy(
        session,
        inTurn(session, () => make(codec)),
      ),
    handler,
    disconnect: (sid, reason = 'the connection is not wanted') => {
      const session = sessions.find(sid);
      return session !== undefined && putOut.add(session, reason);
    },
    disconnectReason: (sid) => putOut.reason(sid),
    onDisconnect: (session, listener) => putOut.listen(session, listener),
    close: () => sessions.close(),
  };
}

function perSession<T>(make: (session: Session) => T): (session: Session) => T {
  const made = new WeakMap<Session, T>();
  return (session) => {
    const value = made.get(session) ?? make(session);
    made.set(session, value);
    return value;
  };
}

/** Whether no earlier frame can be on its way: a registry begins a connection, and the first frame of a session names none. */
function isFirst({ sid, part = 0, intent, operation }: FrameAddress): boolean {
  return sid === undefined || (part === 0 && intent === 'sync' && operation === 'registry');
}

/** Of a stream, the handler gets the first chunk and the end. */
function isToldOf(outcome: 'message' | 'pending', message: Message): boolean {
  return outcome === 'pending' ? message.payload['chunk_index'] === 0 : !isUpkeep(message);
}

function isCancelled({ intent, envelope }: Message, session: Session): boolean {
  return intent !== 'cancel' && session.signal(envelope.correlation_id ?? envelope.msg_id).aborted;
}

async function* during(
  begin: () => () => void,
  frames: AsyncIterable<string>,
): AsyncGenerator<string, void, undefined> {
  const end = begin();
  try {
    yield* frames;
  } finally {
    end();
  }
}

function packed(frames: readonly string[]): FrameAnswer {
  if (frames.length === 0) return null;
  return frames.length === 1 ? frames[0]! : each(frames);
}

async function* each(frames: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* frames;
}

/** Opens no session for it: nobody could come back to that. */
function notAFrame(text: string): string {
  const parsed = tryParseFrame(text, { dialect: 'lenient' });
  return bareErrorFrame('E1001', parsed.ok ? 'The text is no frame.' : parsed.error.message);
}

function refusal(frame: string, code: AccpErrorCode, why: string): string | null {
  const head = readHead(frame);
  // An error is never answered by another.
  if (head !== null && isErrorHead(head)) return null;
  return bareErrorFrame(code, why, head);
}
