/** A QUIC listener for runtimes: one envelope per line, and one bidirectional stream per connection (spec 003, "Transports"). */

import { createSecureContext } from 'node:tls';
import { assertDurations } from '../../../async/durations.js';
import { notifyListener } from '../../../async/listeners.js';
import { byteChannel } from '../../../channels/node/byte-channel.js';
import { boundPort, listenError, placeOf } from '../../../channels/node/listen.js';
import type { QuicDriver, QuicKey } from '../../../channels/node/quic/driver.js';
import { installedQuic } from '../../../channels/node/quic/installed.js';
import { systemReason } from '../../../text/system-reason.js';
import { MAX_MESSAGE_BYTES } from '../../protocol/codec.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import type { Runtime } from '../runtime.js';
import { peerOf } from './endpoint.js';

/** Options of a QUIC listener. */
export interface ListenQuicOptions {
  /** The implementation of QUIC. @default that of the package `@matrixai/quic` */
  readonly driver?: QuicDriver | undefined;
  /** The private key, and the certificate with those of its issuers, in PEM. QUIC always uses TLS. */
  readonly tls: QuicKey;
  /** The UDP port; 0 for a free one. @default 7777 */
  readonly port?: number | undefined;
  /** The address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Requires this bearer token in the `auth` of `session.open`, within ten seconds. @default none */
  readonly token?: string | undefined;
  /** If true, allows an address other than the loopback without a token. @default false */
  readonly insecure?: boolean | undefined;
  /** The maximum number of concurrent QUIC connections. The listener ignores clients above it. @default 10000 */
  readonly maxConnections?: number | undefined;
  /** The maximum number of concurrent streams of one QUIC connection, each of which serves a client. @default 1000 */
  readonly maxStreams?: number | undefined;
  /** The longest message in bytes; a longer one ends its stream. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** Milliseconds without a packet from the client after which its connection ends. @default 30000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Receives errors of connections and of the driver. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A QUIC listener. */
export interface QuicRuntimeListener {
  /** The address: `quic://127.0.0.1:7777`. */
  readonly url: string;
  /** The address on which it accepts connections. */
  readonly host: string;
  /** The UDP port on which it accepts connections, never 0. */
  readonly port: number;
  /** Stops accepting connections. Open ones stay open; resolves when they have ended and the port is free. */
  readonly close: () => Promise<void>;
}

/**
 * Listens for QUIC connections to a runtime.
 *
 * @throws ServeError if it cannot listen, or the address is public and there is no token
 * @throws TypeError if an option is invalid
 * @throws ConnectionError `no-package` if no driver is given, and the package `@matrixai/quic` is not installed
 * @example
 * const { url } = await listenQuic(runtime, { tls: { key, cert } });
 */
export async function listenQuic(runtime: Runtime, options: ListenQuicOptions): Promise<QuicRuntimeListener> {
  const { tls, port = 7777, host: given = '127.0.0.1', token, insecure = false } = options;
  const { maxConnections = 10_000, maxStreams = 1000, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  const { idleTimeoutMs = 30_000 } = options;
  assertKey(tls);
  for (const [name, value] of Object.entries({ maxConnections, maxStreams, maxMessageBytes }))
    if (!(value >= 1)) throw new TypeError(`${name} must be at least 1; got ${value}`);
  assertDurations({ idleTimeoutMs });
  const driver = options.driver ?? (await installedQuic());
  if (typeof driver.listen !== 'function')
    throw new TypeError("driver must be one such as matrixQuic(await import('@matrixai/quic'))");
  const onError = (error: unknown): void => notifyListener(() => options.onError?.(error));
  const { host, address, admission } = await placeOf({ port, host: given, token, insecure, origins: [] });
  const server = await driver
    .listen({
      ...{ address, port, key: tls.key, cert: tls.cert, protocol: SUBPROTOCOL },
      ...{ maxConnections, maxStreams, idleTimeoutMs, onError },
      onStream: (stream, address) => {
        const channel = byteChannel(stream, stream, { maxLineBytes: maxMessageBytes });
        const peer = peerOf(admission, channel, { kind: 'quic', address }, token !== undefined);
        runtime.accept(channel, peer).catch(onError);
      },
    })
    .catch((error: unknown) => {
      throw listenError(error, address, port);
    });
  const bound = boundPort(host, server.port);
  return { url: `quic://${bound.authority}`, host, port: bound.port, close: server.close };
}

/** @throws TypeError if the key and the certificate are invalid or do not belong together, which clients would notice otherwise */
function assertKey({ key, cert }: Partial<QuicKey> = {}): void {
  if (typeof key !== 'string' || typeof cert !== 'string') throw new TypeError('tls must be { key, cert }, in PEM');
  try {
    createSecureContext({ key, cert });
  } catch (cause) {
    throw new TypeError(`tls is invalid: ${systemReason(cause)}`, { cause });
  }
}
