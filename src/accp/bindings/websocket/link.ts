/** A session over WebSockets, from the side that connects. */
import type { Codec } from '../../codec/codec.js';
import type { EncodeResult, Rejected } from '../../codec/outcome.js';
import type { Message, MessageInput } from '../../message/message.js';
import { chatMessage } from '../../profiles/chat.js';
import { createIds } from '../../session/ids.js';
import { keepTime } from '../../session/keep-time.js';
import { partsOfSession, type Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { StreamChunk } from '../../streams/streams.js';
import { readHead } from '../frames.js';
import { isUpkeep } from '../upkeep.js';
import { Answers } from './answers.js';
import { CLOSE, LinkError } from './errors.js';
import type { FrameReceiver, FrameSocket, FrameSocketOptions, SocketEnd } from './frame-socket.js';
import { type Heartbeat, type HeartbeatOptions, PING, startHeartbeat } from './heartbeat.js';
import { MessageQueue } from './message-queue.js';

export type LinkState = 'open' | 'reconnecting' | 'closed';

/** How a lost connection is made anew: after a time that doubles from `min` to `max`, less a random part of up to a half. */
export interface ReconnectOptions {
  /** Seconds. @default 0.25 */
  readonly min?: number | undefined;
  /** Seconds. @default 15 */
  readonly max?: number | undefined;
  /** Attempts in a row before it is given up. @default Infinity */
  readonly attempts?: number | undefined;
}

export interface LinkOptions extends FrameSocketOptions, HeartbeatOptions {
  readonly codec: Codec;
  /** It has to count by `sender`, and stays yours: closing the connection does not close it. */
  readonly session: Session;
  /** Seconds for the other side to answer the first frame. @default 10 */
  readonly handshakeTimeout?: number | undefined;
  /** `false`: a connection that is lost is not made anew. */
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Told each change, with what has caused it. */
  readonly onState?: ((state: LinkState, cause?: Error) => void) | undefined;
  /** Told frames that were refused, here or there, and that concern no request. */
  readonly onError?: ((error: Error) => void) | undefined;
}

export interface RequestOptions {
  /** Aborting it gives the request up, and tells the other side by `cancel`. */
  readonly signal?: AbortSignal | undefined;
}

export interface Link {
  readonly session: Session;
  readonly state: LinkState;
  /**
   * Sends a message. It waits while the connection is slow, or being made anew.
   *
   * @throws AccpError for a message that cannot be said
   * @throws LinkError when the connection has ended
   */
  readonly send: (message: MessageInput | string) => Promise<EncodeResult>;
  /**
   * Sends a message and gives the one that ends its chain: `done` or `end`. It outlives a connection that is lost.
   *
   * @throws AccpError with the code of the `fail` frame; E3001 when none comes within the session's time
   * @throws LinkError when the connection has ended
   */
  readonly request: (message: MessageInput | string, options?: RequestOptions) => Promise<Message>;
  /**
   * Sends a message and gives the chunks of the stream that answers it, in their order.
   *
   * @throws AccpError with the code of the `fail` frame
   * @throws LinkError when the connection has ended
   */
  readonly stream: (message: MessageInput | string) => AsyncIterable<StreamChunk>;
  /**
   * Messages that answer no `request`, in order, for one reader. When it is slow, it holds up the connection after a while. Where
   * there is none, the last 256 are kept.
   */
  readonly messages: AsyncIterable<Message>;
  /** Resolves when it has ended for good: with the reason, or with nothing when it was closed here. */
  readonly closed: Promise<LinkError | undefined>;
  /** Closes it with 1000. Requests that wait reject; the session stays open. */
  readonly close: () => Promise<void>;
}

/** Closed with these, a connection would come to the same end again. */
const FOR_GOOD: ReadonlySet<number> = new Set([CLOSE.binary, CLOSE.notUtf8, CLOSE.noRegistry, CLOSE.tooBig]);
const NO_MORE = { done: true, value: undefined } as const;

export class WebSocketLink implements Link {
  readonly session: Session;
  readonly messages: MessageQueue<Message>;
  readonly closed: Promise<LinkError | undefined>;
  readonly #connect: (receiver: FrameReceiver) => FrameSocket;
  readonly #options: LinkOptions;
  readonly #codec: Codec;
  readonly #answers = new Answers();
  readonly #stopTime: () => void;
  #state: LinkState = 'reconnecting';
  #socket: FrameSocket | undefined;
  #heartbeat: Heartbeat | undefined;
  #wake: (() => void)[] = [];
  #retryTimer: unknown;
  #settle!: (error: LinkError | undefined) => void;
  #end: LinkError | undefined;

  /** @param connect begins a connection */
  constructor(connect: (receiver: FrameReceiver) => FrameSocket, options: LinkOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#codec = options.codec;
    this.session = options.session;
    this.messages = new MessageQueue({
      full: () => this.#socket?.pause(),
      low: () => this.#socket?.resume(),
      dropped: (message) =>
        this.#tell(
          new LinkError('unread', `Nobody reads messages: ${message.intent}:${message.operation} is dropped.`),
        ),
    });
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#stopTime = keepTime(this.session, {
      overdue: ({ correlationId, error }) => void this.#answers.fail(correlationId, error),
      failed: (thrown) => this.#storeFailed(thrown),
    });
  }

  get state(): LinkState {
    return this.#state;
  }

  // What this side says

  readonly send = async (message: MessageInput | string): Promise<EncodeResult> => {
    await this.#ready();
    return this.#say(() => this.#codec.encode(message, this.session));
  };

  readonly request = async (message: MessageInput | string, { signal }: RequestOptions = {}): Promise<Message> => {
    signal?.throwIfAborted();
    await this.#ready();
    const { correlationId } = this.#say(() => this.#codec.encode(inChain(message), this.session));
    const answer = this.#answers.wait(correlationId);
    if (signal === undefined) return answer;
    const abort = (): void => {
      if (!this.#answers.fail(correlationId, signal.reason)) return;
      const { operation } = typeof message === 'string' ? { operation: 'chat' } : message;
      // Where it cannot be told, the connection has ended.
      this.send({ intent: 'cancel', operation, envelope: { correlation_id: correlationId } }).catch(() => undefined);
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await answer;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  };

  readonly stream = (message: MessageInput | string): AsyncIterable<StreamChunk> => this.#chunks(message);

  async *#chunks(message: MessageInput | string): AsyncGenerator<StreamChunk, void, undefined> {
    await this.#ready();
    const { correlationId } = this.#say(() => this.#codec.encode(inChain(message), this.session));
    const chunks = this.session.stream(correlationId)[Symbol.asyncIterator]();
    let isAnswered = false;
    // A failure ends it at once; so does a plain answer to what turned out to be no stream.
    const over = this.#answers
      .wait(correlationId)
      .then(({ intent }) => (intent === 'done' && !isAnswered ? NO_MORE : new Promise<never>(() => {})));
    try {
      for (;;) {
        const next = await Promise.race([chunks.next(), over]);
        if (next.done === true) return;
        isAnswered = true;
        yield next.value;
      }
    } finally {
      void chunks.return?.();
    }
  }

  /** Makes frames and sends them in one go, so that they go out in the order of their numbers. */
  #say(make: () => EncodeResult): EncodeResult {
    const result = this.#stored(make);
    this.#sendAll(result.frames);
    return result;
  }

  /** What cannot be sent now is missed by the other side once it hears of this one again, and sent then. */
  #sendAll(frames: readonly string[]): void {
    for (const frame of frames) this.#socket?.send(frame);
  }

  async #ready(): Promise<void> {
    for (;;) {
      if (this.#state === 'closed') throw this.#end ?? new LinkError('closed', 'The connection was closed.');
      if (this.#state === 'reconnecting') await new Promise<void>((resolve) => this.#wake.push(resolve));
      else {
        const ready = this.#socket?.ready();
        if (ready === undefined) return;
        await ready;
      }
    }
  }

  #stored<T>(operation: () => T): T {
    try {
      return operation();
    } catch (thrown) {
      if (thrown instanceof StoreError) this.#storeFailed(thrown);
      throw thrown;
    }
  }

  #storeFailed(cause: unknown): void {
    this.#finish(new LinkError('store-failed', "The session's store failed.", { cause }), CLOSE.failed);
  }

  // What the other side says

  #take(frame: string): void {
    this.#heartbeat?.alive();
    const outcome = this.#codec.decode(frame, this.session);
    switch (outcome.outcome) {
      case 'message':
        this.#sendAll(outcome.replies);
        this.#message(outcome.message);
        break;
      case 'pending':
        this.#sendAll(outcome.replies);
        break;
      case 'rejected':
        this.#rejected(outcome);
        break;
      default:
    }
  }

  #message(message: Message): void {
    const { intent, operation, envelope } = message;
    if (intent === 'ping') {
      const { msg_id: mid } = envelope;
      this.#say(() =>
        this.#codec.encode(
          { intent: 'pong', operation, envelope: { correlation_id: mid, causation_id: mid } },
          this.session,
        ),
      );
    } else if ((intent === 'ack' || !isUpkeep(message)) && !this.#answers.take(message)) this.messages.push(message);
  }

  #rejected({ error, reply }: Rejected): void {
    if (reply !== null) this.#sendAll([reply]);
    this.#tell(error);
  }

  #tell(error: Error): void {
    try {
      this.#options.onError?.(error);
    } catch {
      // Whoever listens must not be able to take the connection down.
    }
  }

  // Connecting

  /**
   * Connects, and waits for the other side's first frame.
   *
   * @throws LinkError
   */
  open(): Promise<void> {
    const { handshakeTimeout = 10 } = this.#options;
    return new Promise((resolve, reject) => {
      let isGreeted = false;
      const fail = (error: LinkError): void => {
        clearTimeout(timer);
        socket.terminate();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new LinkError('unreachable', `No answer came within ${handshakeTimeout} s.`)),
        handshakeTimeout * 1000,
      );
      const greeted = (frame: string): void => {
        clearTimeout(timer);
        isGreeted = true;
        if (this.#isForgotten(frame)) {
          fail(new LinkError('session-lost', 'The other side does not know the session any more.'));
          return;
        }
        this.#opened(socket);
        this.#take(frame);
        resolve();
      };
      const socket = this.#connect({
        frame: (frame) => {
          try {
            if (isGreeted) this.#take(frame);
            else greeted(frame);
          } catch (thrown) {
            this.#storeFailed(thrown);
          }
        },
        closed: (end) => {
          clearTimeout(timer);
          if (this.#socket === socket) this.#socket = undefined;
          if (isGreeted) this.#lost(end);
          else reject(errorOf(end));
        },
      });
      socket.opened.then(() => {
        this.#socket = socket;
        try {
          this.#say(() => this.#codec.announce(this.session));
        } catch (thrown) {
          fail(new LinkError('store-failed', 'The registry could not be announced.', { cause: thrown }));
        }
      });
    });
  }

  #opened(socket: FrameSocket): void {
    this.#socket = socket;
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat(
      this.#options,
      () => {
        try {
          this.#say(() => this.#codec.encode(PING, this.session));
        } catch (thrown) {
          this.#storeFailed(thrown);
        }
        return !socket.isPaused;
      },
      () => socket.terminate(CLOSE.goingAway, 'the other side does not answer'),
    );
    this.#enter('open');
  }

  /** A side that begins to count anew has lost what it knew: going on would do again what was done. */
  #isForgotten(frame: string): boolean {
    const head = readHead(frame);
    return head?.seq !== undefined && head.seq < partsOfSession(this.session).delivery.expected(head.agent);
  }

  #lost(end: SocketEnd): void {
    this.#heartbeat?.stop();
    if (this.#state === 'closed') return;
    const error = errorOf(end);
    const { reconnect } = this.#options;
    if (reconnect === false || error.code !== 'unreachable') this.#finish(error);
    else if (this.#state === 'open') void this.#reconnect(error, reconnect);
  }

  async #reconnect(
    cause: LinkError,
    { min = 0.25, max = 15, attempts = Number.POSITIVE_INFINITY }: ReconnectOptions = {},
  ): Promise<void> {
    this.#enter('reconnecting', cause);
    let last = cause;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const seconds = Math.min(max, min * 2 ** Math.min(attempt, 30)) * (1 - Math.random() / 2);
      await new Promise<void>((resolve) => {
        this.#retryTimer = setTimeout(resolve, seconds * 1000);
        this.#wake.push(resolve);
      });
      if (this.#state !== 'reconnecting') return;
      try {
        await this.open();
        return;
      } catch (thrown) {
        last = thrown as LinkError;
        this.#socket = undefined;
        if (last.code !== 'unreachable') break;
        this.#tell(last);
      }
    }
    this.#finish(last);
  }

  #enter(state: LinkState, cause?: Error): void {
    this.#state = state;
    if (state !== 'reconnecting') for (const wake of this.#wake.splice(0)) wake();
    try {
      this.#options.onState?.(state, cause);
    } catch {
      // Whoever listens must not be able to take the connection down.
    }
  }

  readonly close = async (): Promise<void> => {
    this.#finish(undefined);
    await this.closed;
  };

  #finish(error: LinkError | undefined, code: number = CLOSE.normal): void {
    if (this.#state === 'closed') return;
    this.#end = error;
    clearTimeout(this.#retryTimer as never);
    this.#stopTime();
    this.#heartbeat?.stop();
    this.#enter('closed', error);
    const reason = error ?? new LinkError('closed', 'The connection was closed.');
    this.#answers.failAll(reason);
    this.messages.end(error);
    this.#socket?.close(code, '');
    this.#settle(error);
  }
}

const freshId = createIds();

/**
 * A request with a chain of its own. Without one, its answers go by its identifier, and one that has to be sent again gets another:
 * nobody would know the answer.
 */
function inChain(message: MessageInput | string): MessageInput {
  const { envelope, ...rest } = typeof message === 'string' ? chatMessage(message) : message;
  return { ...rest, envelope: { correlation_id: freshId(), ...envelope } };
}

function errorOf({ code, reason, error }: SocketEnd): LinkError {
  const said = reason === '' ? (error?.message ?? `code ${code}`) : reason;
  const details = { closeCode: code, cause: error };
  if (code === CLOSE.replaced)
    return new LinkError('replaced', 'The session goes on over another connection.', details);
  if (FOR_GOOD.has(code))
    return new LinkError('refused', `The other side has closed the connection: ${said}.`, details);
  return new LinkError('unreachable', `The connection was lost: ${said}.`, details);
}
