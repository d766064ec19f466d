/** What an endpoint answers a message with: what its handler gives, as frames. */

import { type LinkedSignal, linkSignals, untilAborted } from '../../async/abort.js';
import { notifyListener } from '../../async/listeners.js';
import { AccpError } from '../errors.js';
import type { Message, MessageInput } from '../message/message.js';
import { chatMessage } from '../profiles/profiles.js';
import { partsOfSession, type Session } from '../session/session.js';
import { StoreError } from '../store/store.js';
import type { Answer, AnswerContext, EndpointOptions } from './endpoint-options.js';

/** Makes the frames of one message. They are numbered when it is called, so they have to go out before the next ones. */
type Batch = () => readonly string[];

const NO_FRAMES: readonly string[] = [];

export class EndpointAnswers {
  readonly #options: EndpointOptions;

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  /** Tells the handler of a message. @returns what makes its answer, or its answers one after the other */
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

  /** What the sender of a message is told of a failure; nothing where it was an error itself. */
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
    const failed = (thrown: unknown): void => notifyListener(() => this.#options.failed?.(thrown, message, session));
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
      // Without a word, what was sent would pass for the whole.
      if (work.isCancelled && !last.isFailure) yield () => this.tell(message, signal.reason, session);
      else
        yield () => {
          handled(message, session, isAnswered);
          return NO_FRAMES;
        };
    } catch (thrown) {
      isOver = true;
      // A stream may have told of its failure by itself.
      if (last.isFailure) failed(thrown);
      else yield () => this.#fail(message, thrown, session);
    } finally {
      work.release();
      // Nobody takes it now; but it has a number, and who asks for what is missing is given it.
      if (!isOver && !last.isFailure) notifyListener(() => this.tell(message, interruption(), session));
    }
  }

  #encode(answer: Answer, message: Message, session: Session): Encoded {
    if (answer === null || answer === undefined) return { frames: NO_FRAMES, isFailure: false };
    const { codec, noticed } = this.#options;
    try {
      const input = correlated(answer, message);
      if (isFailure(message) && isFailure(input)) throw new TypeError('An error is not answered by an error.');
      const { frames, losses, warnings } = codec.encode(input, session);
      // Thrown from here, it would undo what is numbered already.
      if (losses.length > 0 || warnings.length > 0)
        notifyListener(() => noticed?.({ session, direction: 'sent', losses, warnings }));
      return { frames, isFailure: isFailure(input) };
    } catch (thrown) {
      if (thrown instanceof StoreError) throw thrown;
      notifyListener(() => this.#options.failed?.(thrown, message, session));
      return { frames: this.tell(message, unwritten(thrown), session), isFailure: true, isRefused: true };
    }
  }

  #fail(message: Message, thrown: unknown, session: Session): readonly string[] {
    notifyListener(() => this.#options.failed?.(thrown, message, session));
    return this.tell(message, thrown, session);
  }
}

interface Encoded {
  readonly frames: readonly string[];
  /** Whether it told of a failure. */
  readonly isFailure: boolean;
  /** Whether it did so because the answer could not be sent. */
  readonly isRefused?: true | undefined;
}

/** What a handler works on. Most never ask for the signal, so it is made when one does. */
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

/** A handler is over: what it has not answered is answered later, where it has said anything, and else not at all. */
function handled({ envelope }: Message, session: Session, isAnswered: boolean): void {
  const { msg_id: mid, correlation_id: cid = mid } = envelope;
  const { chains, commit } = partsOfSession(session);
  if (!chains.isPending(cid, mid)) return;
  commit(() => (isAnswered ? chains.deferred(cid) : chains.settled(cid)));
}

/**
 * What a handler gives, unless the request is cancelled before. Does not wait for a handler that ignores the signal: its answer would
 * take a number that the other side never sees.
 */
async function unlessCancelled<T>(request: AbortSignal, given: T | Promise<T>): Promise<T> {
  if (!(given instanceof Promise)) return given;
  let abort: () => void = () => undefined;
  const cancelled = new Promise<never>((_, reject) => {
    abort = () => {
      if (request.reason instanceof AccpError) reject(request.reason);
    };
  });
  request.addEventListener('abort', abort);
  try {
    return await Promise.race([given, cancelled]);
  } finally {
    request.removeEventListener('abort', abort);
  }
}

/** The answer under the correlation of what it answers, unless it names its own. */
function correlated(answer: MessageInput | string, { envelope }: Message): MessageInput {
  const input = typeof answer === 'string' ? chatMessage(answer) : answer;
  // Whatever a handler has given by mistake is the codec's to refuse.
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

/** Why an answer cannot be sent. Not an error that is retryable: the handler has done its work, and would do it once more. */
function unwritten(thrown: unknown): unknown {
  if (thrown instanceof AccpError && !thrown.retryable && thrown.code !== 'E3002') return thrown;
  return new AccpError({ code: 'E1004', message: 'The answer cannot be written in a frame.' });
}

/** What is never answered by an error: two sides could go on for ever. */
function isFailure({ intent, schema }: Pick<MessageInput, 'intent' | 'schema'>): boolean {
  return intent === 'fail' || schema === 'ER';
}

function isAsyncIterable(given: unknown): given is AsyncIterable<Answer> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given;
}

/**
 * Refuses them, or has them run again, as soon as the other side speaks in the session again.
 *
 * @param replies what its frame is answered besides
 * @param again filled with what is to be run
 * @returns the replies, and the frames that refuse the rest
 */
export function takeUpInterrupted(
  interrupted: readonly Message[],
  replies: readonly string[],
  session: Session,
  { codec, runAgain }: Pick<EndpointOptions, 'codec' | 'runAgain'>,
  again: Message[],
): readonly string[] {
  if (interrupted.length === 0) return replies;
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
  return isSilent ? codec.announce(session).frames : [...replies, ...refused];
}

/** Not an error that is retryable: the request may have run. */
function interruption(): AccpError {
  return new AccpError({
    code: 'E5001',
    message: 'The request was interrupted. It may have run, and is not run again.',
    details: { reason: 'interrupted' },
  });
}
