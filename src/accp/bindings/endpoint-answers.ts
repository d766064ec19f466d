import { type LinkedSignal, linkSignals, untilAborted } from '../../async/abort.js';
import { deferred, notifyListener } from '../../async/listeners.js';
import { AccpError } from '../errors.js';
import type { Message, MessageInput } from '../message/message.js';
import { chatMessage } from '../profiles/profiles.js';
import { partsOfSession, type Session } from '../session/session.js';
import { StoreError } from '../store/store.js';
import type { Answer, AnswerContext, EndpointOptions } from './endpoint-options.js';

/** Encodes the frames of one message. The call numbers them, so they have to be sent before the next ones. */
export type Batch = () => readonly string[];

const NO_FRAMES: readonly string[] = [];

export class EndpointAnswers {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Calls the handler. @returns a function that encodes its answer, or several, one after the other */
  async begin(message: Message, session: Session, request: AbortSignal): Promise<Batch | AsyncIterable<Batch>> {
    const context = new HandlerContext(message, session, request);
    let result: Answer | AsyncIterable<Answer>;
    try {
      result = await unlessCancelled(request, this.#options.handle(message, context));
    } catch (thrown) {
      context.release();
      return () => this.#fail(message, thrown, session);
    }
    if (isAsyncIterable(result)) return this.#batches(result, context);
    context.release();
    const answer = result;
    return () => {
      const { frames } = this.#encode(answer, message, session);
      settleRequest(message, session, frames.length > 0);
      return frames;
    };
  }

  /** Returns the error frame for the sender of a message; none if the message itself is an error. */
  errorFrames(message: Message, thrown: unknown, session: Session): readonly string[] {
    if (isFailure(message)) return NO_FRAMES;
    // The sender would take it for a report about its own frames, and send them again.
    const isOfDelivery = thrown instanceof AccpError && (thrown.code === 'E3002' || thrown.code === 'E3003');
    return [this.#options.codec.fail(message, isOfDelivery ? undefined : thrown, session)];
  }

  /** Encodes answers only as they are requested. */
  async *#batches(source: AsyncIterable<Answer>, context: HandlerContext): AsyncGenerator<Batch, void, undefined> {
    const { message, session, signal } = context;
    let last: Encoded = { frames: NO_FRAMES, isError: false };
    let isAnswered = false;
    let isComplete = false;
    const reportError = (thrown: unknown): void =>
      notifyListener(() => this.#options.onError?.(thrown, message, session));
    try {
      for await (const answer of untilAborted(source, signal, reportError)) {
        yield () => {
          last = this.#encode(answer, message, session);
          isAnswered ||= last.frames.length > 0;
          return last.frames;
        };
        if (last.isRefused) {
          isComplete = true;
          return;
        }
      }
      isComplete = !signal.aborted || context.isCancelled;
      // Without an error frame, the frames that were sent would look like the whole answer.
      if (context.isCancelled && !last.isError) yield () => this.errorFrames(message, signal.reason, session);
      else
        yield () => {
          settleRequest(message, session, isAnswered);
          return NO_FRAMES;
        };
    } catch (thrown) {
      isComplete = true;
      // A stream may already have ended with a failure.
      if (last.isError) reportError(thrown);
      else yield () => this.#fail(message, thrown, session);
    } finally {
      context.release();
      // The frame cannot be sent now, but it has a number, and is sent if the peer requests it.
      if (!isComplete && !last.isError) notifyListener(() => this.errorFrames(message, interruption(), session));
    }
  }

  #encode(answer: Answer, message: Message, session: Session): Encoded {
    if (answer === null || answer === undefined) return { frames: NO_FRAMES, isError: false };
    const { codec, onNotice } = this.#options;
    try {
      const input = correlated(answer, message);
      if (isFailure(message) && isFailure(input)) throw new TypeError('An error must not be answered with an error.');
      const { frames, losses, warnings } = codec.encode(input, session);
      // An exception of the listener must not discard frames that are numbered.
      if (losses.length > 0 || warnings.length > 0)
        notifyListener(() => onNotice?.({ session, direction: 'sent', losses, warnings }));
      return { frames, isError: isFailure(input) };
    } catch (thrown) {
      if (thrown instanceof StoreError) throw thrown;
      notifyListener(() => this.#options.onError?.(thrown, message, session));
      return { frames: this.errorFrames(message, unencodable(thrown), session), isError: true, isRefused: true };
    }
  }

  #fail(message: Message, thrown: unknown, session: Session): readonly string[] {
    notifyListener(() => this.#options.onError?.(thrown, message, session));
    return this.errorFrames(message, thrown, session);
  }
}

interface Encoded {
  readonly frames: readonly string[];
  readonly isError: boolean;
  /** If true, the answer itself could not be sent. */
  readonly isRefused?: true | undefined;
}

/** The context of a handler. Most handlers never use the signal, so it is created on first use. */
class HandlerContext implements AnswerContext {
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

  /** `true` if the sender has cancelled the request or its chain, as opposed to having disconnected. */
  get isCancelled(): boolean {
    const signal = this.#linked?.signal;
    return signal?.aborted === true && signal.reason instanceof AccpError;
  }

  release(): void {
    this.#linked?.release();
  }
}

/** Takes note that a handler has ended. A request with an interim answer is answered later; any other is settled. */
function settleRequest({ envelope }: Message, session: Session, isAnswered: boolean): void {
  const { msg_id: mid, correlation_id: cid = mid } = envelope;
  const { chains, commit } = partsOfSession(session);
  if (!chains.isPending(cid, mid)) return;
  commit(() => (isAnswered ? chains.deferred(cid) : chains.settled(cid)));
}

/**
 * Waits for a handler unless the request is cancelled: the answer of a handler that ignores the signal would use a number that the peer
 * never sees.
 */
async function unlessCancelled<T>(request: AbortSignal, result: T | Promise<T>): Promise<T> {
  if (!(result instanceof Promise)) return result;
  const { promise: cancelled, reject } = deferred<never>();
  const abort = (): void => {
    if (request.reason instanceof AccpError) reject(request.reason);
  };
  request.addEventListener('abort', abort);
  try {
    return await Promise.race([result, cancelled]);
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

/** Returns an error that is not retryable: the handler has done its work, and would repeat it. */
function unencodable(thrown: unknown): unknown {
  if (thrown instanceof AccpError && !thrown.retryable && thrown.code !== 'E3002') return thrown;
  return new AccpError({ code: 'E1004', message: 'The answer cannot be encoded as a frame.' });
}

/** Tests for errors, which are never answered with errors: two sides could continue forever. */
function isFailure({ intent, schema }: Pick<MessageInput, 'intent' | 'schema'>): boolean {
  return intent === 'fail' || schema === 'ER';
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Answer> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/**
 * Rejects or reruns interrupted requests when the peer sends its next frame.
 *
 * @returns the replies, with error frames for the rejected requests, and the messages to run again
 */
export function resumeInterrupted(
  interrupted: readonly Message[],
  replies: readonly string[],
  session: Session,
  { codec, retryInterrupted }: Pick<EndpointOptions, 'codec' | 'retryInterrupted'>,
): { readonly replies: readonly string[]; readonly again: readonly Message[] } {
  const again: Message[] = [];
  if (interrupted.length === 0) return { replies, again };
  const rejections: string[] = [];
  const { sentStreams } = partsOfSession(session);
  for (const message of interrupted) {
    const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
    // Chunks are numbered once (section 10.4): those of a second run would not match those that were sent.
    const isRunnable = !sentStreams.isUnderWay(cid);
    if (isRunnable && retryInterrupted?.(message, session) === true) again.push(message);
    else rejections.push(codec.fail(message, interruption(), session));
  }
  // The peer waits for a first frame, and a request that runs again may take long.
  const isSilent = replies.length + rejections.length === 0;
  return { replies: isSilent ? codec.announce(session).frames : [...replies, ...rejections], again };
}

/** Returns an error that is not retryable: the request may have run. */
function interruption(): AccpError {
  return new AccpError({
    code: 'E5001',
    message: 'The request was interrupted. It may have run and is not run again.',
    details: { reason: 'interrupted' },
  });
}
