import { once } from 'node:events';
import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';
import { notifyListener } from '../../async/listeners.js';
import { systemReason } from '../../text/system-reason.js';
import type { Channel } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

/** The path of a Unix domain socket, or a TCP address. */
export type Address =
  | string
  | {
      /** The port; 0 selects a free one for a server. */
      readonly port: number;
      /** The host name or address. @default '127.0.0.1' */
      readonly host?: string | undefined;
    };

/** The maximum length of a path in bytes: the size of `sun_path` without the terminating zero. */
const MAX_PATH = process.platform === 'linux' ? 107 : 103;

/** A server on a socket. */
export interface Listener {
  /** The address, with the actual port if port 0 was given. */
  readonly address: Address;
  /** Stops accepting connections. Open channels stay open; resolves when they have ended. */
  readonly close: () => Promise<void>;
}

/** Options of {@link listenSocket}. */
export interface ListenOptions extends ByteChannelOptions {
  /** Called when a connection cannot be accepted, for example because too many files are open. The server keeps listening. */
  readonly onError?: ((error: ConnectionError) => void) | undefined;
}

/**
 * Connects to a socket. There is no handshake: both sides send one JSON document per line.
 *
 * @throws ConnectionError `closed` if the connection cannot be established
 * @example
 * const connection = createConnection(await connectSocket('/run/agent.sock'), { handlers });
 */
export async function connectSocket(address: Address, options: ByteChannelOptions = {}): Promise<Channel> {
  checkPath(address, 'Cannot connect to');
  // The other side may end its output and wait for responses.
  const socket = connect({ ...netAddress(address), allowHalfOpen: true });
  try {
    await once(socket, 'connect');
  } catch (cause) {
    const reason = systemReason(cause, 'there is no such socket');
    throw new ConnectionError('closed', `Cannot connect to ${shown(address)}: ${reason}`, { cause });
  }
  return channelOf(socket, options);
}

/**
 * Listens on a socket. Only the owner can use a Unix domain socket; a socket of a process that has exited is replaced, any other file is not
 * touched. A TCP server listens on the loopback interface by default.
 *
 * @param onConnection called with the channel of each connection
 * @throws ConnectionError `closed` if the server cannot listen on the address
 */
export async function listenSocket(
  address: Address,
  onConnection: (channel: Channel) => void,
  options: ListenOptions = {},
): Promise<Listener> {
  checkPath(address, 'Cannot listen on');
  if (typeof address === 'string') await removeStale(address);
  const report = (message: string, cause: unknown): void =>
    notifyListener(() => options.onError?.(new ConnectionError('closed', message, { cause })));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const channel = channelOf(socket, options);
    try {
      onConnection(channel);
    } catch (cause) {
      channel.destroy();
      report('The connection listener threw an error.', cause);
    }
  });
  await listening(server, address);
  server.on('error', (cause) => report(`A connection could not be accepted: ${systemReason(cause)}`, cause));
  const bound = server.address();
  return {
    address: typeof bound === 'object' && bound !== null ? { port: bound.port, host: bound.address } : address,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function channelOf(socket: Socket, options: ByteChannelOptions): Channel {
  // Messages are small, and each may be awaited.
  socket.setNoDelay(true);
  return byteChannel(socket, socket, options);
}

async function listening(server: Server, address: Address): Promise<void> {
  const isFile = typeof address === 'string' && process.platform !== 'win32';
  // Only the main thread can change the umask.
  const umask = isFile && isMainThread ? process.umask(0o177) : undefined;
  const done = once(server, 'listening');
  try {
    server.listen(netAddress(address));
  } finally {
    // `listen` has created the file synchronously; other new files must not be affected.
    if (umask !== undefined) process.umask(umask);
  }
  try {
    await done;
  } catch (cause) {
    const reason = reasonOf(cause, address);
    throw new ConnectionError('closed', `Cannot listen on ${shown(address)}: ${reason}`, { cause });
  }
  if (isFile) chmodSync(address, 0o600);
}

/** Removes a socket that refuses connections, since no process listens on it. */
async function removeStale(file: string): Promise<void> {
  let isSocket: boolean;
  try {
    isSocket = lstatSync(file).isSocket();
  } catch {
    return;
  }
  if (!isSocket) return;
  const isStale = await new Promise<boolean>((resolve) => {
    const socket = connect(file);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
  if (isStale) unlinkSync(file);
}

/** Describes an error. For a missing folder, Node reports that permission is denied. */
function reasonOf(cause: unknown, address: Address): string {
  return typeof address === 'string' && process.platform !== 'win32' && !existsSync(path.dirname(address))
    ? 'there is no such folder'
    : systemReason(cause);
}

/** Rejects a path that is too long; some versions of Node truncate it and use another file. */
function checkPath(address: Address, action: string): void {
  if (typeof address !== 'string' || process.platform === 'win32' || Buffer.byteLength(address) <= MAX_PATH) return;
  const reason = `the path of a socket has at most ${MAX_PATH} bytes; try a relative path`;
  throw new ConnectionError('closed', `${action} ${address}: ${reason}`);
}

function netAddress(address: Address): { path: string } | { port: number; host: string } {
  return typeof address === 'string' ? { path: address } : { port: address.port, host: address.host ?? '127.0.0.1' };
}

function shown(address: Address): string {
  return typeof address === 'string' ? address : `${address.host ?? '127.0.0.1'}:${address.port}`;
}
