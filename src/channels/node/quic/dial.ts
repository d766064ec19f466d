/** Connections over QUIC by address. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { assertDurations } from '../../../async/durations.js';
import { ignoreRejection, notifyListener } from '../../../async/listeners.js';
import { systemReason } from '../../../text/system-reason.js';
import type { Channel } from '../../channel.js';
import { ConnectionError } from '../../errors.js';
import { shownAddress } from '../../shown-address.js';
import { byteChannel } from '../byte-channel.js';
import type { QuicConnection, QuicDriver } from './driver.js';
import { installedQuic } from './installed.js';

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
  /** Milliseconds without a packet from the other side after which the connection ends. @default 30000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds between two packets that keep the connection alive. @default a third of `idleTimeoutMs` */
  readonly keepAliveMs?: number | undefined;
  /** Receives errors of the driver after which the process continues. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Returns a function that connects to an address. Channels of the same function share a QUIC connection while it is sound: each is a stream
 * of its own, so a slow one does not hold up the others.
 *
 * @param protocol the application protocol (ALPN), on which both sides must agree
 * @throws TypeError if the address or an option is invalid
 */
export function dialQuicAddress(
  address: string,
  protocol: string,
  options: DialQuicOptions = {},
): () => Promise<Channel> {
  const { idleTimeoutMs = 30_000, handshakeTimeoutMs = 10_000, maxMessageBytes } = options;
  const { keepAliveMs = idleTimeoutMs / 3, driver } = options;
  const { host, port } = placeOf(address);
  const { serverName = isIP(host) === 0 ? host : undefined } = options;
  if (serverName === undefined)
    throw new TypeError(`serverName is required, since ${host} is an address: certificates are checked by name`);
  if (isIP(serverName) !== 0 || serverName === '')
    throw new TypeError(`serverName must be a name; got "${serverName}"`);
  for (const one of [options.ca ?? []].flat())
    if (typeof one !== 'string' || !one.includes('-----BEGIN ')) throw new TypeError('ca must be in PEM');
  assertDurations({ idleTimeoutMs, handshakeTimeoutMs, keepAliveMs });
  if (maxMessageBytes !== undefined && !(maxMessageBytes >= 1))
    throw new TypeError(`maxMessageBytes must be at least 1; got ${maxMessageBytes}`);
  const shared = new SharedConnection(async () =>
    (driver ?? (await installedQuic())).connect({
      ...{ address: (await lookup(host)).address, port, serverName, ca: options.ca, protocol },
      ...{ idleTimeoutMs, keepAliveMs, timeoutMs: handshakeTimeoutMs },
      onError: (error) => notifyListener(() => options.onError?.(error)),
    }),
  );
  return async () => {
    const stream = await shared.openStream().catch((cause: unknown) => {
      if (cause instanceof ConnectionError) throw cause;
      throw new ConnectionError('closed', `Cannot connect to ${new URL(address).host}: ${systemReason(cause)}`, {
        cause,
      });
    });
    // A stream exists for the other side only after its first byte. Readers skip empty lines.
    stream.write('\n');
    return byteChannel(stream, stream, { maxLineBytes: maxMessageBytes });
  };
}

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  const isAlone = url !== undefined && /^\/?$/.test(url.pathname) && `${url.search}${url.hash}${url.username}` === '';
  if (url?.protocol !== 'quic:' || url.hostname === '' || url.port === '' || !isAlone)
    throw new TypeError(`address must be quic://HOST:PORT; got "${shownAddress(String(address))}"`);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port) };
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
