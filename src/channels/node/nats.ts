/** NATS as a message bus. */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemReason } from '../../text/system-reason.js';
import { ConnectionError } from '../errors.js';
import type { MessageBus, OpenBus } from '../queue/dial.js';
import { loadPackage } from './load-package.js';

/** The part of a NATS connection that channels use; implemented by those of `@nats-io/transport-node`. */
export interface NatsConnectionLike {
  /** The description of the server. */
  readonly info?: { readonly max_payload: number };
  /** Publishes a message. */
  publish(subject: string, payload?: Uint8Array): void;
  /** Subscribes to a subject. */
  subscribe(
    subject: string,
    options?: {
      queue?: string;
      callback?: (error: Error | null, message: { readonly data: Uint8Array }) => void;
    },
  ): { unsubscribe(): void; readonly closed: Promise<unknown> };
  /** Resolves when the server has processed everything so far. */
  flush(): Promise<void>;
  /** Closes the connection. */
  close(): Promise<void>;
  /** Resolves when the connection is closed, with its error if there was one. */
  closed(): Promise<unknown>;
}

/** The address of NATS, or a connection to it. */
export interface NatsOptions {
  /** The servers: `nats://HOST:PORT`, with `USER:PASSWORD@` or `TOKEN@` before the host if they require it. @default 'nats://127.0.0.1:4222' */
  readonly servers?: string | readonly string[] | undefined;
  /** Further options for `connect` of `@nats-io/transport-node`, such as `tls` and `authenticator`. @default `pingInterval: 10_000` */
  readonly connectOptions?: Readonly<Record<string, unknown>> | undefined;
  /** An open connection, which is shared and stays open, instead of `servers`. @default none */
  readonly connection?: NatsConnectionLike | undefined;
}

interface NatsPackage {
  readonly connect: (options: Readonly<Record<string, unknown>>) => Promise<NatsConnectionLike>;
}

const DEFAULT_SERVER = 'nats://127.0.0.1:4222';
const PACKAGE = '@nats-io/transport-node';
const CONNECT_MS = 5000;
/** Milliseconds between two pings, of which a server may leave two unanswered before it is lost. */
const PING_MS = 10_000;
/** Milliseconds for the last messages when a connection is closed. */
const FLUSH_MS = 1000;
/** The group of the subscribers of which one receives a message. */
const GROUP = 'arcp';

/**
 * Connects to NATS, unless the options have a connection.
 *
 * @throws ConnectionError `no-package` without `@nats-io/transport-node`; `closed` if no server can be reached
 */
export async function openNats({ servers, connectOptions, connection }: NatsOptions): Promise<OpenBus> {
  if (connection !== undefined) return { bus: natsBus(connection), close: async () => {} };
  const own = await connectNats(servers, connectOptions);
  return {
    bus: natsBus(own),
    close: async () => {
      // Without a server, it would wait.
      await Promise.race([own.flush().catch(() => {}), sleep(FLUSH_MS, undefined, { ref: false })]);
      await own.close();
    },
  };
}

/** Opens a connection that returns by itself after it was lost. */
export async function connectNats(
  servers: string | readonly string[] = DEFAULT_SERVER,
  connectOptions: Readonly<Record<string, unknown>> = {},
): Promise<NatsConnectionLike> {
  const urls = [servers].flat().map((server) => new URL(server.includes('://') ? server : `nats://${server}`));
  const { connect } = await loadPackage<NatsPackage>(PACKAGE);
  try {
    return await connect({
      servers: urls.map(({ host, protocol }) => (protocol === 'nats:' ? host : `${protocol}//${host}`)),
      ...credentialsOf(urls[0]!),
      ...{ timeout: CONNECT_MS, maxReconnectAttempts: -1, reconnectTimeWait: 200, pingInterval: PING_MS },
      ...connectOptions,
    });
  } catch (cause) {
    const places = urls.map(({ host }) => host).join(', ');
    throw new ConnectionError('closed', `Cannot connect to NATS at ${places}: ${systemReason(cause)}`, { cause });
  }
}

/** Returns a bus over a connection to NATS. */
export function natsBus(connection: NatsConnectionLike): MessageBus {
  const listeners = new Set<(error?: Error) => void>();
  void connection.closed().then((error) => {
    for (const listener of [...listeners]) listener(error instanceof Error ? error : undefined);
  });
  return {
    // The default of the server.
    maxMessageBytes: connection.info?.max_payload ?? 1024 * 1024,
    publish: (subject, message) => connection.publish(subject, message),
    subscribe: async (subject, receive, { isShared = false } = {}) => {
      const subscription = connection.subscribe(subject, {
        ...(isShared ? { queue: GROUP } : {}),
        callback: (error, message) => {
          if (error === null) receive(message.data);
        },
      });
      let refusal: unknown;
      subscription.closed.then(
        (error) => (refusal = error),
        (error: unknown) => (refusal = error),
      );
      await connection.flush();
      if (refusal instanceof Error)
        throw new ConnectionError('closed', `Cannot subscribe to ${subject}: ${systemReason(refusal)}`, {
          cause: refusal,
        });
      return () => subscription.unsubscribe();
    },
    onClosed: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function credentialsOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '') return {};
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
}
