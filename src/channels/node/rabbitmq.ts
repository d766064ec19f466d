/** RabbitMQ as a message bus: each subject is a queue. */
import { afterUnref } from '../../async/timers.js';
import { systemReason } from '../../text/system-reason.js';
import { ConnectionError } from '../errors.js';
import type { MessageBus, OpenBus } from '../queue/dial.js';
import { loadPackage } from './load-package.js';

/** The address of RabbitMQ. */
export interface RabbitmqOptions {
  /**
   * The server: `amqp://USER:PASSWORD@HOST:PORT/VHOST`, or `amqps:` for TLS. The parameter `heartbeat` sets the seconds between two heartbeats; a
   * server that is silent for three of them is lost. @default 'amqp://127.0.0.1:5672', with `heartbeat=10`
   */
  readonly url?: string | undefined;
  /** Socket options for `connect` of `amqplib`, such as `ca`. @default none */
  readonly socketOptions?: Readonly<Record<string, unknown>> | undefined;
}

interface AmqpChannel {
  assertQueue(name: string, options: Readonly<Record<string, unknown>>): Promise<unknown>;
  consume(
    name: string,
    receive: (message: { readonly content: Uint8Array } | null) => void,
    options: { readonly noAck: boolean },
  ): Promise<{ readonly consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  ack(message: object): void;
  prefetch(count: number): Promise<unknown>;
  sendToQueue(name: string, content: Buffer): boolean;
  close(): Promise<void>;
  on(event: string, listener: (error?: Error) => void): unknown;
}

interface AmqpConnection {
  createChannel(): Promise<AmqpChannel>;
  close(): Promise<void>;
  on(event: string, listener: (error?: Error) => void): unknown;
}

interface AmqpPackage {
  readonly connect: (url: string, options: Readonly<Record<string, unknown>>) => Promise<AmqpConnection>;
}

const DEFAULT_URL = 'amqp://127.0.0.1:5672';
/** Milliseconds for the connection and its handshake. */
const CONNECT_MS = 5000;
/** Seconds without a frame before a heartbeat; a server that is silent for two to three times as long is lost. The server may shorten it. */
const HEARTBEAT_SECONDS = 10;
/** Milliseconds for the last messages when a connection is closed. */
const CLOSE_MS = 1000;
/** The server accepts more, but delivers no other message of a channel meanwhile. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** The number of unacknowledged requests that one listener holds, so that the others have their share. */
const PREFETCH = 16;
/** Milliseconds after which a request is dropped, since its client no longer waits. */
const REQUEST_TTL_MS = 10_000;

/**
 * Connects to RabbitMQ.
 *
 * @throws ConnectionError `no-package` without `amqplib`; `closed` if the server cannot be reached
 */
export async function openRabbitmq({ url = DEFAULT_URL, socketOptions = {} }: RabbitmqOptions): Promise<OpenBus> {
  const server = new URL(url);
  if (!server.searchParams.has('heartbeat')) server.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  const { connect } = await loadPackage<AmqpPackage>('amqplib');
  // The package only ends the socket of a lost connection, which waits for the other side.
  const socket = new AbortController();
  const options = { noDelay: true, timeout: CONNECT_MS, signal: socket.signal, ...socketOptions };
  try {
    return await busOf(await connect(server.href, options), () => socket.abort());
  } catch (cause) {
    socket.abort();
    throw new ConnectionError('closed', `Cannot connect to RabbitMQ at ${server.host}: ${systemReason(cause)}`, {
      cause,
    });
  }
}

async function busOf(connection: AmqpConnection, destroy: () => void): Promise<OpenBus> {
  const listeners = new Set<(error?: Error) => void>();
  let failure: Error | undefined;
  let isClosed = false;
  const closed = (): void => {
    if (isClosed) return;
    isClosed = true;
    for (const listener of [...listeners]) listener(failure);
  };
  // An error event without a listener ends the process. The event `close` follows.
  const watch = (emitter: Pick<AmqpChannel, 'on'>): void => {
    emitter.on('error', (error) => (failure ??= error));
    emitter.on('close', closed);
  };
  watch(connection);
  const over = new Promise<void>((resolve) => {
    connection.on('close', () => {
      afterUnref(CLOSE_MS, destroy);
      resolve();
    });
  });
  const channel = await connection.createChannel();
  watch(channel);
  const sharedChannel = await connection.createChannel();
  watch(sharedChannel);
  await sharedChannel.prefetch(PREFETCH);
  const bus: MessageBus = {
    maxMessageBytes: MAX_MESSAGE_BYTES,
    publish: (subject, message) => {
      if (isClosed) throw failure ?? new ConnectionError('closed', 'The connection to RabbitMQ is closed.');
      channel.sendToQueue(subject, Buffer.from(message.buffer, message.byteOffset, message.length));
    },
    subscribe: async (subject, receive, { isShared = false } = {}) => {
      const own = isShared ? sharedChannel : channel;
      const ttl = isShared ? { messageTtl: REQUEST_TTL_MS } : {};
      await own.assertQueue(subject, { exclusive: !isShared, autoDelete: true, durable: false, ...ttl });
      const { consumerTag } = await own.consume(
        subject,
        (message) => {
          if (message === null) return;
          receive(message.content);
          if (isShared) own.ack(message);
        },
        { noAck: !isShared },
      );
      return () => {
        if (!isClosed) own.cancel(consumerTag).catch(() => {});
      };
    },
    onClosed: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const close = async (): Promise<void> => {
    const cancel = afterUnref(CLOSE_MS, destroy);
    // The server answers after it has everything that was published; the end of the connection may overtake that.
    const closing = channel.close().then(() => connection.close());
    // The package does not settle it if the connection is lost meanwhile.
    await Promise.race([closing.catch(() => {}), over]);
    cancel();
  };
  return { bus, close };
}
