import { notifyListener } from '../../async/listeners.js';
import { Semaphore } from '../../async/semaphore.js';
import { AccpError, type AccpErrorCode } from '../errors.js';
import type { Message } from '../message/message.js';
import { tryParseFrame } from '../parse.js';
import { checkAgentName } from '../session/envelope.js';
import type { Session } from '../session/session.js';
import { StoreError } from '../store/store.js';
import { type Batch, EndpointAnswers, resumeInterrupted } from './endpoint-answers.js';
import type { Endpoint, EndpointOptions } from './endpoint-options.js';
import { DISCONNECTED, DisconnectedSessions, EndpointSessions } from './endpoint-sessions.js';
import { bareErrorFrame } from './error-frame.js';
import { type FrameAddress, type FrameAnswer, isErrorHead, isUpkeep, pongTo, readAddress, readHead } from './frames.js';
import { ReorderBuffer, registryRefusal } from './reorder-buffer.js';

export type { Answer, AnswerContext, Endpoint, EndpointOptions, Notice } from './endpoint-options.js';

interface Decoded {
  readonly replies: readonly string[];
  /** The message for the handler. */
  readonly message?: Message | undefined;
}

const MAX_ID = 256;

/**
 * Creates an endpoint, the side that answers: it decodes each frame in its session, calls the handler, and encodes the answers. The bindings
 * carry the frames.
 *
 * Source: draft-benzing-accp-00, sections 7 and 11.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const endpoint = createEndpoint({
 *   codec: createCodec(),
 *   agent: 'clock',
 *   handle: ({ intent }) => (intent === 'req' ? { intent: 'done', operation: 'time', payload: { time: '12.30h' } } : null),
 * });
 */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { codec, agent, handle, onNotice } = options;
  checkAgentName(agent);
  if (typeof handle !== 'function') throw new TypeError('handle must be a function that answers messages');
  const sessions = new EndpointSessions(options);
  const answers = new EndpointAnswers(options);
  const disconnected = new DisconnectedSessions();
  const mutexOf = perSession(() => new Semaphore(1));
  const reorderBufferOf = perSession((session) => new ReorderBuffer(session));

  /** Runs an operation. A session whose store fails ends; the next frame opens it again. */
  const dropOnStoreFailure = <T>(session: Session, operation: () => T): T => {
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
    return { replies, message: isForHandler(outcome.outcome, message) ? message : undefined };
  };

  /** Decodes a frame. The first one of a stored session also resumes the requests that were interrupted. */
  const receiveFrame = (frame: string, session: Session): Decoded & { readonly again: readonly Message[] } => {
    const { replies, message } = decode(frame, session);
    const interrupted = sessions.takeInterrupted(session);
    return { ...resumeInterrupted(interrupted, replies, session, options), message };
  };

  async function* run(
    messages: readonly Message[],
    session: Session,
    signal: AbortSignal,
  ): AsyncGenerator<Batch, void, undefined> {
    for (const message of messages) {
      const started = await answers.begin(message, session, signal);
      if (typeof started === 'function') yield started;
      else yield* started;
    }
  }

  /** Encodes and yields frames in one step, so that those of another answer do not come between. */
  async function* exclusively(
    session: Session,
    make: () => readonly string[],
  ): AsyncGenerator<string, void, undefined> {
    const acquired = mutexOf(session).acquire();
    const release = typeof acquired === 'function' ? acquired : await acquired;
    try {
      for (const frame of dropOnStoreFailure(session, make)) yield frame;
    } finally {
      release();
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
      let received!: ReturnType<typeof receiveFrame>;
      yield* exclusively(session, () => {
        received = receiveFrame(frame, session);
        return received.replies;
      });
      const { message, again } = received;
      for await (const batch of run(again, session, signal)) yield* exclusively(session, batch);
      if (message === undefined) return;
      const admitted = admit?.();
      if (admitted !== undefined) {
        await admitted;
        // It may have been cancelled meanwhile.
        if (signal.aborted || isCancelled(message, session)) return;
      }
      for await (const batch of run([message], session, signal)) yield* exclusively(session, batch);
    } finally {
      end();
    }
  }

  const busy = (session: Session, frames: AsyncIterable<string>): AsyncIterable<string> =>
    holding(() => sessions.use(session), frames);

  /** Yields frames that are encoded when they are requested: a client that waits for each answer gets them in the order of their numbers. */
  async function* encodedOnRequest(
    replies: readonly string[],
    batches: AsyncIterable<Batch>,
    session: Session,
  ): AsyncGenerator<string, void, undefined> {
    yield* replies;
    for await (const batch of batches) yield* dropOnStoreFailure(session, batch);
  }

  /** Answers a frame. The handler is called synchronously. */
  const answer = async (
    frame: string,
    address: FrameAddress,
    session: Session,
    signal: AbortSignal,
  ): Promise<FrameAnswer> => {
    const reason = registryRefusal(address, session, reorderBufferOf(session));
    if (reason !== null) return bareErrorFrame('E5001', reason, readHead(frame));
    const { replies, message, again } = dropOnStoreFailure(session, () => receiveFrame(frame, session));
    if (again.length > 0) {
      const messages = message === undefined ? again : [message, ...again];
      return busy(session, encodedOnRequest(replies, run(messages, session, signal), session));
    }
    if (message === undefined) return toAnswer(replies);
    // The message was cancelled while it waited.
    if (signal.reason instanceof AccpError)
      return toAnswer([
        ...replies,
        ...dropOnStoreFailure(session, () => answers.errorFrames(message, signal.reason, session)),
      ]);
    const started = await answers.begin(message, session, signal);
    if (typeof started !== 'function') return busy(session, encodedOnRequest(replies, started, session));
    const frames = dropOnStoreFailure(session, started);
    return toAnswer(replies.length === 0 ? frames : [...replies, ...frames]);
  };

  /**
   * Answers a frame after those with lower numbers, which may arrive in other requests. A frame whose sender has disconnected meanwhile counts
   * as if it had never arrived.
   */
  const answerInOrder = (
    frame: string,
    address: FrameAddress,
    session: Session,
    signal: AbortSignal,
  ): Promise<FrameAnswer> =>
    new Promise((resolve) => {
      let withdraw = (): void => undefined;
      const abort = (): void => {
        // A cancelled frame has used its number.
        if (signal.reason instanceof AccpError) return;
        withdraw();
        resolve(null);
      };
      const process = (): void => {
        signal.removeEventListener('abort', abort);
        resolve(answer(frame, address, session, signal));
      };
      signal.addEventListener('abort', abort);
      withdraw = reorderBufferOf(session).add(frame, () => address, process, isFirst(address));
      if (signal.aborted) abort();
    });

  const handler = async (frame: string, { signal }: { readonly signal: AbortSignal }): Promise<FrameAnswer> => {
    const address = readAddress(frame);
    if (address === null) return invalidFrameReply(frame);
    if (address.sid !== undefined && address.sid.length > MAX_ID)
      return rejection(frame, 'E1004', `metadata.sid: longer than ${MAX_ID} characters`);
    if (address.sid !== undefined && disconnected.reason(address.sid) !== undefined)
      return rejection(frame, 'E5001', DISCONNECTED);
    // Sender and chain are not secret: with them, a third party could add to a message of another client, and get its answer.
    if (address.sid === undefined && (address.part ?? 0) > 0)
      return rejection(frame, 'E1004', 'metadata.sid: a part of a message must name the session of the first part');
    const session = sessions.open(address.sid);
    const linked = disconnected.link(session, signal);
    const end = sessions.use(session);
    let { release } = linked;
    try {
      const answered = await answerInOrder(frame, address, session, linked.signal);
      if (answered === null || typeof answered === 'string') return answered;
      release = () => undefined;
      return holding(() => linked.release, answered);
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
        exclusively(session, () => make(codec)),
      ),
    handler,
    disconnect: (sid, reason = 'the server has disconnected the session') => {
      const session = sessions.find(sid);
      return session !== undefined && disconnected.add(session, reason);
    },
    disconnectReason: (sid) => disconnected.reason(sid),
    onDisconnect: (session, listener) => disconnected.listen(session, listener),
    close: () => sessions.close(),
  };
}

function perSession<T>(make: (session: Session) => T): (session: Session) => T {
  const values = new WeakMap<Session, T>();
  return (session) => {
    const value = values.get(session) ?? make(session);
    values.set(session, value);
    return value;
  };
}

/** Tests whether no earlier frame can arrive: a registry begins a connection, and the first frame of a session does not name it. */
function isFirst({ sid, part = 0, intent, operation }: FrameAddress): boolean {
  return sid === undefined || (part === 0 && intent === 'sync' && operation === 'registry');
}

/** Tests whether the handler gets a message: of a stream, it gets the first chunk and the end. */
function isForHandler(outcome: 'message' | 'pending', message: Message): boolean {
  return outcome === 'pending' ? message.payload['chunk_index'] === 0 : !isUpkeep(message);
}

function isCancelled({ intent, envelope }: Message, session: Session): boolean {
  return intent !== 'cancel' && session.signal(envelope.correlation_id ?? envelope.msg_id).aborted;
}

async function* holding(
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

function toAnswer(frames: readonly string[]): FrameAnswer {
  if (frames.length === 0) return null;
  return frames.length === 1 ? frames[0]! : each(frames);
}

async function* each(frames: readonly string[]): AsyncGenerator<string, void, undefined> {
  yield* frames;
}

/** Returns the answer to a text that is not a frame. No session is opened: no client could name it. */
function invalidFrameReply(text: string): string {
  const parsed = tryParseFrame(text, { dialect: 'lenient' });
  return bareErrorFrame('E1001', parsed.ok ? 'The text is not a frame.' : parsed.error.message);
}

function rejection(frame: string, code: AccpErrorCode, why: string): string | null {
  const head = readHead(frame);
  // An error is never answered with an error.
  if (head !== null && isErrorHead(head)) return null;
  return bareErrorFrame(code, why, head);
}
