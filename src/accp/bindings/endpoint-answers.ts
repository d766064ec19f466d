import { type LinkedSignal, linkSignals, untilAborted } from '../../async/abort.js';
import { deferred, notifyListener } from '../../async/listeners.js';
import { AccpError } from '../errors.js';
import type { Message, MessageInput } from '../message/message.js';
import { chatMessage } from '../profiles/profiles.js';
import { partsOfSession, type Session } from '../session/session.js';
import { StoreError } from '../store/store.js';
import type { Answer, AnswerContext, EndpointOptions } from './endpoint-options.js';

/** Makes the frames of one message. They are numbered by the call, so they have to go out before the next ones. */
export type Batch = () => readonly string[];

const NO_FRAMES: readonly string[] = [];

export class EndpointAnswers {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Calls the handler. @returns what makes its answer, or its answers one after the other */
  async begin(message: Message, session: Session, request: AbortSignal): Promise<Batch | AsyncIterable<Batch>> {
    const work = new Work(message, session, request);
    let given: Answer | AsyncIterable<Answer>;
    try {
      given = await unlessCancelled(request, this.#options.handle(message, work));
    } catch (thrown) {
      work.release();
      return () => this.#fail(message, thrown, session);
    }
    if (isAsyncIterable(given)) return this.#batches(given, work);
    work.release();
    const answer = given;
    return () => {
      const { frames } = this.#encode(answer, message, session);
      handled(message, session, frames.length > 0);
      return frames;
    };
  }

  /** Returns the error frame for the sender of a message; none if the message is an error itself. */
  tell(message: Message, thrown: unknown, session: Session): readonly string[] {
    if (isFailure(message)) return NO_FRAMES;
    // The other side would take it for a report on frames of its own, and send them again.
    const isOfDelivery = thrown instanceof AccpError && (thrown.code === 'E3002' || thrown.code === 'E3003');
    return [this.#options.codec.fail(message, isOfDelivery ? undefined : thrown, session)];
  }

  /** Reads no further than frames are asked for. */
  async *#batches(source: AsyncIterable<Answer>, work: Work): AsyncGenerator<Batch, void, undefined> {
    const { message, session, signal } = work;
    let last: Encoded = { frames: NO_FRAMES, isFailure: false };
    let isAnswered = false;
    let isOver = false;
    const failed = (thrown: unknown): void => notifyListener(() => this.#options.onError?.(thrown, message, session));
    try {
      for await (const answer of untilAborted(source, signal, failed)) {
        yield () => {
          last = this.#encode(answer, message, session);
          isAnswered ||= last.frames.length > 0;
          return last.frames;
        };
        if (last.isRefused) {
          isOver = true;
          return;
        }
      }
      isOver = !signal.aborted || work.isCancelled;
      // Without it, the frames that were sent would pass for the whole answer.
      if (work.isCancelled && !last.isFailure) yield () => this.tell(message, signal.reason, session);
      else
        yield () => {
          handled(message, session, isAnswered);
          return NO_FRAMES;
        };
    } catch (thrown) {
      isOver = true;
      // A stream may have ended with a failure by itself.
      if (last.isFailure) failed(thrown);
      else yield () => this.#fail(message, thrown, session);
    } finally {
      work.release();
      // Nobody takes the frame now, but it has a number, and is sent if the other side asks for it.
      if (!isOver && !last.isFailure) notifyListener(() => this.tell(message, interruption(), session));
    }
  }

  #encode(answer: Answer, message: Message, session: Session): Encoded {
    if (answer === null || answer === undefined) return { frames: NO_FRAMES, isFailure: false };
    const { codec, onNotice } = this.#options;
    try {
      const input = correlated(answer, message);
      if (isFailure(message) && isFailure(input)) throw new TypeError('An error is not answered by an error.');
      const { frames, losses, warnings } = codec.encode(input, session);
      // An error of the listener would undo what is numbered already.
      if (losses.length > 0 || warnings.length > 0)
        notifyListener(() => onNotice?.({ session, direction: 'sent', losses, warnings }));
      return { frames, isFailure: isFailure(input) };
    } catch (thrown) {
      if (thrown instanceof StoreError) throw thrown;
      notifyListener(() => this.#options.onError?.(thrown, message, session));
      return { frames: this.tell(message, unwritten(thrown), session), isFailure: true, isRefused: true };
    }
  }

  #fail(message: Message, thrown: unknown, session: Session): readonly string[] {
    notifyListener(() => this.#options.onError?.(thrown, message, session));
    return this.tell(message, thrown, session);
  }
}

interface Encoded {
  readonly frames: readonly string[];
  readonly isFailure: boolean;
  /** The answer itself could not be sent. */
  readonly isRefused?: true | undefined;
}

/** The context of a handler. Most handlers never ask for the signal, so it is made when one does. */
class Work implements AnswerContext {
  readonly message: Message;
  readonly session: Session;
  readonly #request: AbortSignal;
  #linked: LinkedSignal | undefined;

  constructor(message: Message, session: Session, request: AbortSignal) {
    this.message = message;
    this.session = session;
    this.#request = request;
  }

  get signal(): AbortSignal {
    if (this.#linked === undefined) {
      const { msg_id: mid, correlation_id: cid = mid } = this.message.envelope;
      this.#linked = linkSignals(this.#request, this.session.signal(cid));
    }
    return this.#linked.signal;
  }

  /** Whether the sender has cancelled the request or its chain, rather than gone. */
  get isCancelled(): boolean {
    const signal = this.#linked?.signal;
    return signal?.aborted === true && signal.reason instanceof AccpError;
  }

  release(): void {
    this.#linked?.release();
  }
}

/** The handler has ended: a request that it has answered in part is answered later, any other is settled. */
function handled({ envelope }: Message, session: Session, isAnswered: boolean): void {
  const { msg_id: mid, correlation_id: cid = mid } = envelope;
  const { chains, commit } = partsOfSession(session);
  if (!chains.isPending(cid, mid)) return;
  commit(() => (isAnswered ? chains.deferred(cid) : chains.settled(cid)));
}

/**
 * Waits for a handler unless the request is cancelled: the answer of a handler that ignores the signal would take a number that the other side
 * never sees.
 */
async function unlessCancelled<T>(request: AbortSignal, given: T | Promise<T>): Promise<T> {
  if (!(given instanceof Promise)) return given;
  const { promise: cancelled, reject } = deferred<never>();
  const abort = (): void => {
    if (request.reason instanceof AccpError) reject(request.reason);
  };
  request.addEventListener('abort', abort);
  try {
    return await Promise.race([given, cancelled]);
  } finally {
    request.removeEventListener('abort', abort);
  }
}

/** Adds the correlation of the request, unless the answer names its own. */
function correlated(answer: MessageInput | string, { envelope }: Message): MessageInput {
  const input = typeof answer === 'string' ? chatMessage(answer) : answer;
  // The codec refuses other values.
  if (typeof input !== 'object') return input;
  const own = input.envelope;
  const { msg_id: mid, correlation_id: cid = mid } = envelope;
  return {
    ...input,
    envelope: {
      ...own,
      correlation_id: own?.correlation_id ?? cid,
      causation_id: own?.causation_id ?? mid,
    },
  };
}

/** Not a retryable error: the handler has done its work, and would do it once more. */
function unwritten(thrown: unknown): unknown {
  if (thrown instanceof AccpError && !thrown.retryable && thrown.code !== 'E3002') return thrown;
  return new AccpError({ code: 'E1004', message: 'The answer cannot be written in a frame.' });
}

/** An error is never answered by an error: two sides could go on for ever. */
function isFailure({ intent, schema }: Pick<MessageInput, 'intent' | 'schema'>): boolean {
  return intent === 'fail' || schema === 'ER';
}

function isAsyncIterable(given: unknown): given is AsyncIterable<Answer> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given;
}

/**
 * Refuses interrupted requests, or has them run again, when the other side sends its next frame.
 *
 * @returns the replies with the frames that refuse, and the messages to run
 */
export function takeUpInterrupted(
  interrupted: readonly Message[],
  replies: readonly string[],
  session: Session,
  { codec, runAgain }: Pick<EndpointOptions, 'codec' | 'runAgain'>,
): { readonly replies: readonly string[]; readonly again: readonly Message[] } {
  const again: Message[] = [];
  if (interrupted.length === 0) return { replies, again };
  const refused: string[] = [];
  const { sentStreams } = partsOfSession(session);
  for (const message of interrupted) {
    const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
    // Chunks are numbered once (section 10.4): those of another run would not fit to those that were sent.
    const isRunnable = !sentStreams.isUnderWay(cid);
    if (isRunnable && runAgain?.(message, session) === true) again.push(message);
    else refused.push(codec.fail(message, interruption(), session));
  }
  // The other side waits for a first frame, and a request that runs again may take long.
  const isSilent = replies.length + refused.length === 0;
  return { replies: isSilent ? codec.announce(session).frames : [...replies, ...refused], again };
}

/** Not a retryable error: the request may have run. */
function interruption(): AccpError {
  return new AccpError({
    code: 'E5001',
    message: 'The request was interrupted. It may have run, and is not run again.',
    details: { reason: 'interrupted' },
  });
}
