/** Connections over a message bus: a request on a shared subject, then two subjects for each connection. */
import { deferred, notifyListener } from '../../async/listeners.js';
import { afterUnref, everyUnref } from '../../async/timers.js';
import type { Channel } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { type QueueChannelOptions, queueChannel, queueSettings } from './channel.js';
import { frameOf } from './frame.js';

/** A message bus: messages that are published to a subject reach its subscribers, at most once, at least once or not at all. */
export interface MessageBus {
  /** The maximum length of a message in bytes. */
  readonly maxMessageBytes: number;
  /** Publishes a message. @throws Error if the connection to the bus is closed */
  readonly publish: (subject: string, message: Uint8Array) => void;
  /**
   * Receives the messages of a subject. Resolves when the subscription is in effect, with a function that ends it. With `isShared`, each message
   * reaches one of the subscribers.
   */
  readonly subscribe: (
    subject: string,
    receive: (message: Uint8Array) => void,
    options?: { readonly isShared?: boolean },
  ) => Promise<() => void>;
  /** Calls a listener when the connection to the bus has ended for good, with its error if there was one. @returns a function that ends that */
  readonly onClosed: (listener: (error?: Error) => void) => () => void;
}

/** A bus and the function that closes its connection, if it is its own. */
export interface OpenBus {
  readonly bus: MessageBus;
  readonly close: () => Promise<void>;
}

/** A listener on a message bus. */
export interface QueueListener {
  /** Stops accepting connections, and withdraws offers that no client has accepted. Open channels stay open; resolves when they have ended. */
  readonly close: () => Promise<void>;
}

/** Options of {@link listenQueue}. */
export interface ListenQueueOptions extends QueueChannelOptions {
  /** The maximum number of concurrent connections. @default 10000 */
  readonly maxConnections?: number | undefined;
  /** Receives errors of connections. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options of {@link dialQueue}. */
export interface DialQueueOptions extends QueueChannelOptions {
  /** Milliseconds for the answer of a listener. @default 10000 */
  readonly connectTimeoutMs?: number | undefined;
  /** Called when the channel has ended, or no listener has answered. */
  readonly finished?: (() => void) | undefined;
}

const REQUEST = /^open 1 ([0-9a-f]{32})$/;
/** A listener answers a request with an offer. It withdraws one when it closes or no client has accepted it, by its id: another offer may be in use. */
const ANSWER = /^(offer|withdrawn) 1 ([0-9a-f]{32})$/;
/** The answer of a listener that has too many connections. Another one may be free, so that the client continues to ask. */
const BUSY = 'busy 1';
/** Milliseconds between two requests, of which some may be lost. */
const REPEAT_MS = 500;
/** The longest request and offer in bytes. */
const MAX_TEXT_BYTES = 100;
const NAME = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes.subarray(0, MAX_TEXT_BYTES));

/** An offer that no client has accepted. */
interface Offer {
  readonly repeat: () => void;
  readonly withdraw: () => void;
}

/**
 * Listens for connections on `SUBJECT.connect`. Each request reaches one of the listeners of the subject. The messages of a connection are
 * published to `SUBJECT.c.ID.up` and `SUBJECT.c.ID.down`.
 *
 * @throws TypeError if the subject or an option is invalid
 */
export async function listenQueue(
  bus: MessageBus,
  subject: string,
  onConnection: (channel: Channel) => void,
  options: ListenQueueOptions = {},
): Promise<QueueListener> {
  checkSubject(subject);
  const { maxConnections = 10_000, ...rest } = options;
  const settings = queueSettings(channelOptions(rest));
  /** Requests that are being answered or are connected, and the offers that no client has accepted yet. */
  const requests = new Map<string, Offer | undefined>();
  const open = new Set<Promise<void>>();
  const report = (error: unknown): void => notifyListener(() => options.onError?.(error));
  let isClosed = false;

  const offer = async (id: string): Promise<void> => {
    const down = `${subject}.c.${id}.down`;
    if (requests.has(id)) {
      // The answer may have been lost.
      requests.get(id)?.repeat();
      return;
    }
    if (isClosed) return;
    if (requests.size >= maxConnections) {
      bus.publish(down, bytesOf(BUSY));
      return;
    }
    requests.set(id, undefined);
    const own = randomId();
    const ignore = (_: Uint8Array): void => undefined;
    let receive = ignore;
    const early: Uint8Array[] = [];
    const finished = deferred();
    const connect = (first: Uint8Array): void => {
      open.add(finished.promise);
      early.push(first);
      const channel = queueChannel(
        {
          maxMessageBytes: bus.maxMessageBytes,
          publish: (message) => bus.publish(down, message),
          subscribe: (listener, closed) => {
            receive = listener;
            deliverLater(early, listener);
            return together(unsubscribe, bus.onClosed(closed));
          },
          finished: () => {
            open.delete(finished.promise);
            requests.delete(id);
            finished.resolve();
          },
        },
        settings,
      );
      try {
        onConnection(channel);
      } catch (error) {
        channel.destroy();
        report(error);
      }
    };
    let unsubscribe: () => void;
    try {
      unsubscribe = await bus.subscribe(`${subject}.c.${id}-${own}.up`, (message) => receive(message));
    } catch (error) {
      requests.delete(id);
      throw error;
    }
    const answer = (kind: 'offer' | 'withdrawn'): void => {
      try {
        bus.publish(down, bytesOf(`${kind} 1 ${own}`));
      } catch (error) {
        report(error);
      }
    };
    const withdraw = (): void => {
      cancel();
      receive = ignore;
      requests.delete(id);
      unsubscribe();
      answer('withdrawn');
    };
    const cancel = afterUnref(settings.timeoutMs, withdraw);
    receive = (message) => {
      if (frameOf(message) === undefined) return;
      cancel();
      requests.set(id, undefined);
      connect(message);
    };
    requests.set(id, { repeat: () => answer('offer'), withdraw });
    if (isClosed) withdraw();
    else answer('offer');
  };
  const stop = await bus.subscribe(
    `${subject}.connect`,
    (message) => {
      const [, id] = REQUEST.exec(textOf(message)) ?? [];
      if (id !== undefined) offer(id).catch(report);
    },
    { isShared: true },
  );
  return {
    close: async () => {
      isClosed = true;
      stop();
      for (const unaccepted of [...requests.values()]) unaccepted?.withdraw();
      await Promise.all(open);
    },
  };
}

/**
 * Connects to one of the listeners of a subject.
 *
 * @throws ConnectionError `closed` if no listener answers in time, or those that answer have too many connections
 * @throws TypeError if the subject or an option is invalid
 */
export async function dialQueue(bus: MessageBus, subject: string, options: DialQueueOptions = {}): Promise<Channel> {
  checkSubject(subject);
  const { connectTimeoutMs = 10_000, finished } = options;
  const settings = queueSettings(channelOptions(options));
  const id = randomId();
  const answer = deferred<string>();
  /** Messages of the listener before the channel is there. */
  const early: Uint8Array[] = [];
  let isBusy = false;
  let receive = (message: Uint8Array): void => {
    const text = textOf(message);
    const [, kind, own] = ANSWER.exec(text) ?? [];
    if (kind === 'offer') answer.resolve(own!);
    else if (text === BUSY) isBusy = true;
    else early.push(message);
  };
  const subscribing = bus.subscribe(`${subject}.c.${id}.down`, (message) => receive(message));
  const request = (): void => {
    try {
      bus.publish(`${subject}.connect`, bytesOf(`open 1 ${id}`));
    } catch (cause) {
      answer.reject(new ConnectionError('closed', `Cannot connect to ${subject}`, { cause }));
    }
  };
  const cancelTimeout = afterUnref(connectTimeoutMs, () =>
    answer.reject(
      new ConnectionError(
        'closed',
        `Cannot connect to ${subject}: ${isBusy ? 'the listeners have too many connections' : 'no listener answers'}`,
      ),
    ),
  );
  const stopWatching = bus.onClosed((cause) =>
    answer.reject(
      new ConnectionError('closed', `Cannot connect to ${subject}: the message queue is closed`, { cause }),
    ),
  );
  let cancelRequests = (): void => undefined;
  try {
    await Promise.race([subscribing, answer.promise]);
    request();
    cancelRequests = everyUnref(REPEAT_MS, request);
    const own = await answer.promise;
    const unsubscribe = await subscribing;
    return queueChannel(
      {
        maxMessageBytes: bus.maxMessageBytes,
        publish: (message) => bus.publish(`${subject}.c.${id}-${own}.up`, message),
        subscribe: (listener, closed) => {
          receive = (message) => {
            if (textOf(message) === `withdrawn 1 ${own}`)
              closed(new ConnectionError('closed', `${subject} has withdrawn its offer`));
            else listener(message);
          };
          deliverLater(early, receive);
          return together(unsubscribe, bus.onClosed(closed));
        },
        finished,
      },
      settings,
    );
  } catch (error) {
    subscribing.then(
      (unsubscribe) => unsubscribe(),
      () => undefined,
    );
    notifyListener(() => finished?.());
    throw error;
  } finally {
    cancelRequests();
    cancelTimeout();
    stopWatching();
  }
}

function deliverLater(messages: Uint8Array[], receive: (message: Uint8Array) => void): void {
  queueMicrotask(() => {
    for (const message of messages.splice(0)) receive(message);
  });
}

function together(...calls: readonly (() => void)[]): () => void {
  return () => {
    for (const call of calls) call();
  };
}

function channelOptions(options: QueueChannelOptions): QueueChannelOptions {
  const { maxTextBytes, windowMessages, windowBytes, heartbeatMs, timeoutMs, retransmitMs } = options;
  return { maxTextBytes, windowMessages, windowBytes, heartbeatMs, timeoutMs, retransmitMs };
}

/** @throws TypeError if a subject could be read as a pattern, or is empty */
export function checkSubject(subject: string): void {
  if (typeof subject !== 'string' || !NAME.test(subject))
    throw new TypeError(
      `subject must be words of letters, digits, "_" and "-", joined by "."; got ${JSON.stringify(subject)}`,
    );
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns a function that connects over a bus, which is closed with the connection. @throws TypeError if the subject is invalid */
export function dialBus(
  open: () => Promise<OpenBus>,
  subject: string,
  options: Omit<DialQueueOptions, 'finished'>,
): () => Promise<Channel> {
  checkSubject(subject);
  return async () => {
    const { bus, close } = await open();
    const finished = (): void => void close().catch(() => {});
    try {
      return await dialQueue(bus, subject, { ...options, finished });
    } catch (error) {
      finished();
      throw error;
    }
  };
}
