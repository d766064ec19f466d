/** QUIC with the packages `@matrixai/quic` and `@infisical/quic`, which contain quiche. */
import { createHmac, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { deferred } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import type {
  QuicConnection,
  QuicConnectOptions,
  QuicDriver,
  QuicListenOptions,
  QuicOptions,
  QuicServer,
} from './driver.js';
import { MatrixConnection } from './matrix-connection.js';
import {
  classesOf,
  guard,
  guardedSocket,
  type MatrixClasses,
  type MatrixConnectionLike,
  type MatrixPackage,
  type MatrixStream,
  SILENT,
  startSocket,
} from './matrix-package.js';
import { quicError } from './reasons.js';

/**
 * Creates a driver from a package that is installed beside this one.
 *
 * @throws TypeError if the module is another one
 * @example
 * const driver = matrixQuic(await import('@matrixai/quic'));
 */
export function matrixQuic(module: MatrixPackage | { readonly default: MatrixPackage }): QuicDriver {
  const classes = classesOf(module);
  return { listen: (options) => listen(classes, options), connect: (options) => connect(classes, options) };
}

/** Milliseconds for the handshake of a client. */
const HANDSHAKE_MS = 10_000;
/** Milliseconds in which clients receive the end of their connection. */
const DRAIN_MS = 250;
/** The number of bytes of one stream that wait for their reader. */
const STREAM_WINDOW = 256 * 1024;

async function listen(classes: MatrixClasses, options: QuicListenOptions): Promise<QuicServer> {
  const { address, port, key, cert, maxConnections, maxStreams, onStream, onError } = options;
  const connections = new Set<MatrixConnection>();
  let isClosing = false;
  const socket = guardedSocket(classes, onError, (given) => {
    const connection = new MatrixConnection(given, onError);
    connections.add(connection);
    void connection.ended.then(() => connections.delete(connection));
    given.addEventListener('EventQUICConnectionStream', ({ detail }) => {
      const stream = connection.add(detail as MatrixStream);
      if (isClosing) stream.destroy();
      else onStream(stream, given.remoteHost);
    });
  });
  const server = new classes.QUICServer({
    crypto: { key: toArrayBuffer(randomBytes(32)), ops: { sign, verify } },
    config: { ...configOf(options), key, cert, initialMaxStreamsBidi: maxStreams },
    socket,
    minIdleTimeout: HANDSHAKE_MS,
    logger: SILENT,
  });
  guard(server, onError);
  const accept = server.acceptConnection.bind(server);
  // Without an answer, clients try again for a while.
  server.acceptConnection = async (...packet) =>
    isClosing || socket.connectionMap.size >= maxConnections ? undefined : accept(...packet);
  await startSocket(socket, { host: address, port }, onError);
  await server.start();
  const close = async (): Promise<void> => {
    isClosing = true;
    await Promise.all([...connections].map((connection) => connection.close()));
    // Handshakes that have failed may drain for seconds.
    const isStopped = deferred();
    const cancel = after(DRAIN_MS, isStopped.resolve);
    await Promise.race([server.stop({ force: true }).catch(onError), isStopped.promise]);
    cancel();
    await socket.stop({ force: true });
  };
  let closed: Promise<void> | undefined;
  return { port: socket.port, close: () => (closed ??= close()) };
}

async function connect(classes: MatrixClasses, options: QuicConnectOptions): Promise<QuicConnection> {
  const { address, port, serverName, ca, keepAliveMs, idleTimeoutMs, timeoutMs, onError } = options;
  const failed = deferred<never>();
  // A client that is refused drains for seconds before it throws.
  const onConnection = (connection: MatrixConnectionLike): void =>
    connection.addEventListener('EventQUICConnectionError', ({ detail }) => failed.reject(detail));
  const socket = guardedSocket(classes, onError, onConnection);
  const stop = (): void => void socket.stop({ force: true }).catch(onError);
  class Client extends classes.QUICClient {
    constructor(...args: [object]) {
      super(...args);
      guard(this, onError);
    }
  }
  await startSocket(socket, { host: isIPv6(address) ? '::' : '0.0.0.0', port: 0 }, onError);
  const creating = Client.createQUICClient(
    {
      ...{ host: address, port, serverName, socket, crypto: { ops: { randomBytes: fill } }, logger: SILENT },
      config: {
        ...configOf(options),
        ...{ verifyPeer: true, ca, initialMaxStreamsBidi: 0 },
        keepAliveIntervalTime: keepAliveMs < idleTimeoutMs ? keepAliveMs : undefined,
      },
    },
    { timer: timeoutMs },
  );
  try {
    const { connection } = await Promise.race([creating, failed.promise]);
    const made = new MatrixConnection(connection, onError);
    void made.ended.then(stop);
    return made;
  } catch (error) {
    creating.catch(stop);
    throw quicError(error);
  }
}

async function fill(bytes: ArrayBuffer): Promise<void> {
  randomFillSync(new Uint8Array(bytes));
}

function configOf({ protocol, idleTimeoutMs }: QuicOptions): object {
  return {
    applicationProtos: [protocol],
    // For quiche, 0 is never.
    maxIdleTimeout: Number.isFinite(idleTimeoutMs) ? Math.ceil(idleTimeoutMs) : 0,
    initialMaxStreamDataBidiLocal: STREAM_WINDOW,
    initialMaxStreamDataBidiRemote: STREAM_WINDOW,
    initialMaxStreamsUni: 0,
    // An attacker could send early data again (RFC 9001, section 9.2).
    enableEarlyData: false,
  };
}

async function sign(key: ArrayBuffer, data: ArrayBuffer): Promise<ArrayBuffer> {
  return toArrayBuffer(createHmac('sha256', Buffer.from(key)).update(Buffer.from(data)).digest());
}

async function verify(key: ArrayBuffer, data: ArrayBuffer, signature: ArrayBuffer): Promise<boolean> {
  const [expected, given] = [Buffer.from(await sign(key, data)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function toArrayBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}
