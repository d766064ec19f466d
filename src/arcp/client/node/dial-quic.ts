/** Connections to runtimes over QUIC. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { assertDurations } from '../../../async/durations.js';
import { ignoreRejection, notifyListener } from '../../../async/listeners.js';
import type { Channel } from '../../../channels/channel.js';
import { byteChannel } from '../../../channels/node/byte-channel.js';
import type { QuicConnection, QuicDriver } from '../../../channels/node/quic/driver.js';
import { matrixQuic } from '../../../channels/node/quic/matrix.js';
import type { MatrixPackage } from '../../../channels/node/quic/matrix-package.js';
import { systemReason } from '../../../text/system-reason.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { openClient } from '../client.js';
import type { Client, ClientOptions } from '../types.js';

/** Options of QUIC connections. */
export interface DialQuicOptions {
  /** The implementation of QUIC. @default matrixQuic of the package `@matrixai/quic` */
  readonly driver?: QuicDriver | undefined;
  /** The certificates of the trusted authorities, in PEM. @default those of the system */
  readonly ca?: string | readonly string[] | undefined;
  /** The name for which the certificate must be valid. Required if the host is an IP address. @default the host */
  readonly serverName?: string | undefined;
  /** The longest message in bytes. @default 33554432 (32 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** Milliseconds for the handshake. @default 10000 */
  readonly handshakeTimeoutMs?: number | undefined;
  /** Milliseconds without a packet from the runtime after which the connection ends. @default 30000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds between two packets that keep the connection alive. @default a third of `idleTimeoutMs` */
  readonly keepAliveMs?: number | undefined;
  /** Receives errors of the driver after which the process continues. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Connects to a runtime over QUIC and opens a session, or resumes one.
 *
 * @throws ArcpError the refusal of the session; `DEADLINE_EXCEEDED` if no session is open after `timeoutMs`
 * @throws TypeError if the address or an option is invalid
 * @example
 * const client = await connectQuic('quic://runtime.example:7777', { token });
 */
export async function connectQuic(
  address: string,
  options: ClientOptions & DialQuicOptions & { readonly token?: string | undefined } = {},
): Promise<Client> {
  const { driver, ca, serverName, maxMessageBytes, handshakeTimeoutMs, idleTimeoutMs, keepAliveMs, ...rest } = options;
  const { token, onError, ...client } = rest;
  const auth = client.auth ?? (token === undefined ? undefined : { scheme: 'bearer', token });
  const limits = { maxMessageBytes, handshakeTimeoutMs, idleTimeoutMs, keepAliveMs };
  const dial = dialQuic(address, { driver, ca, serverName, ...limits, onError });
  return openClient(dial, { ...client, onError, auth });
}

/**
 * Returns a function that connects to a runtime, for `openClient`. Channels of the same function share a QUIC connection while it is
 * sound: each is a stream of its own, so a slow or lossy one does not hold up the others.
 *
 * @throws TypeError if the address or an option is invalid
 */
export function dialQuic(address: string, options: DialQuicOptions = {}): () => Promise<Channel> {
  const { idleTimeoutMs = 30_000, handshakeTimeoutMs = 10_000, maxMessageBytes } = options;
  const { keepAliveMs = idleTimeoutMs / 3, driver } = options;
  const { host, port } = placeOf(address);
  const { serverName = isIP(host) === 0 ? host : undefined } = options;
  if (serverName === undefined)
    throw new TypeError(`serverName is required, since ${host} is an address: certificates are checked by name`);
  if (isIP(serverName) !== 0 || serverName === '')
    throw new TypeError(`serverName must be a name; got "${serverName}"`);
  assertDurations({ idleTimeoutMs, handshakeTimeoutMs, keepAliveMs });
  if (maxMessageBytes !== undefined && !(maxMessageBytes >= 1))
    throw new TypeError(`maxMessageBytes must be at least 1; got ${maxMessageBytes}`);
  const shared = new SharedConnection(async () =>
    (driver ?? (await installedDriver())).connect({
      ...{ address: (await lookup(host)).address, port, serverName, ca: options.ca, protocol: SUBPROTOCOL },
      ...{ idleTimeoutMs, keepAliveMs, timeoutMs: handshakeTimeoutMs },
      onError: (error) => notifyListener(() => options.onError?.(error)),
    }),
  );
  return async () => {
    const stream = await shared.openStream().catch((cause: unknown) => {
      if (cause instanceof ArcpError) throw cause;
      const reason = systemReason(cause);
      throw new ArcpError('UNAVAILABLE', `The connection to the runtime failed: ${reason}`, { cause });
    });
    // A stream exists for the other side only after its first byte. An empty line is no message.
    stream.write('\n');
    return byteChannel(stream, stream, { maxLineBytes: maxMessageBytes });
  };
}

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  const isAlone = url !== undefined && /^\/?$/.test(url.pathname) && `${url.search}${url.hash}${url.username}` === '';
  if (url?.protocol !== 'quic:' || url.hostname === '' || url.port === '' || !isAlone)
    throw new TypeError(`address must be quic://HOST:PORT; got "${address}"`);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port) };
}

const PACKAGE = '@matrixai/quic';

async function installedDriver(): Promise<QuicDriver> {
  try {
    return matrixQuic((await import(PACKAGE)) as MatrixPackage);
  } catch (cause) {
    throw new ArcpError('UNAVAILABLE', `The package ${PACKAGE} cannot be loaded: ${systemReason(cause)}`, { cause });
  }
}

/** The QUIC connection that the channels of one function share. */
class SharedConnection {
  readonly #connect: () => Promise<QuicConnection>;
  #current: Promise<QuicConnection> | undefined;
  /** The number of open streams. */
  readonly #users = new WeakMap<QuicConnection, number>();

  constructor(connect: () => Promise<QuicConnection>) {
    this.#connect = connect;
  }

  async openStream(): Promise<Duplex> {
    for (;;) {
      this.#current ??= this.#connect();
      const attempt = this.#current;
      try {
        const connection = await attempt;
        const isNew = !this.#users.has(connection);
        try {
          return this.#use(connection, attempt);
        } catch (error) {
          // One that has ended or has no more streams is replaced.
          if (isNew) throw error;
          this.#forget(attempt);
        }
      } catch (error) {
        this.#forget(attempt);
        throw error;
      }
    }
  }

  #use(connection: QuicConnection, attempt: Promise<QuicConnection>): Duplex {
    if (!connection.isOpen()) throw new Error('the connection was closed');
    const stream = connection.openStream();
    this.#users.set(connection, (this.#users.get(connection) ?? 0) + 1);
    stream.once('close', () => {
      const users = this.#users.get(connection)! - 1;
      this.#users.set(connection, users);
      // After a stream that did not end on both sides, the connection may be dead without knowing it yet.
      if (users === 0 || !(stream.readableEnded && stream.writableFinished)) this.#forget(attempt);
      if (users === 0) ignoreRejection(connection.close());
    });
    return stream;
  }

  #forget(attempt: Promise<QuicConnection>): void {
    if (this.#current === attempt) this.#current = undefined;
  }
}
