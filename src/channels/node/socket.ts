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

/** The path of a Unix-domain socket, or a TCP port. */
export type Address = string | { readonly port: number; readonly host?: string | undefined };

/** Limit of a path in bytes: `sun_path`, without the zero at its end. */
const MAX_PATH = process.platform === 'linux' ? 107 : 103;

export interface Listener {
  /** The address, with the actual port if port 0 was given. */
  readonly address: Address;
  /** Accepts no more connections. Open channels go on; it resolves when they have ended, too. */
  readonly close: () => Promise<void>;
}

export interface ListenOptions extends ByteChannelOptions {
  /** Called when a connection could not be accepted, for example because of too many open files. It goes on listening. */
  readonly onError?: ((error: ConnectionError) => void) | undefined;
}

/**
 * Connects to a socket. There is no handshake: both sides send one JSON document per line.
 *
 * @throws ConnectionError `closed` when nobody listens there
 * @example
 * const connection = createConnection(await connectSocket('/run/agent.sock'), { handlers });
 */
export async function connectSocket(address: Address, options: ByteChannelOptions = {}): Promise<Channel> {
  checkPath(address, 'No connection to');
  // The other side may end its output, and wait for our answers.
  const socket = connect({ ...netAddress(address), allowHalfOpen: true });
  try {
    await once(socket, 'connect');
  } catch (cause) {
    const why = systemReason(cause, 'there is no such socket');
    throw new ConnectionError('closed', `No connection to ${shown(address)}: ${why}`, { cause });
  }
  return channelOf(socket, options);
}

/**
 * Listens on a socket, TCP by default on the loopback alone. Only the owner may use a Unix-domain socket; one of a dead process is replaced, any
 * other file is left alone.
 *
 * @param connected gets the channel of each connection
 * @throws ConnectionError `closed` if it cannot listen there
 */
export async function listenSocket(
  address: Address,
  connected: (channel: Channel) => void,
  options: ListenOptions = {},
): Promise<Listener> {
  checkPath(address, 'Cannot listen on');
  if (typeof address === 'string') await removeStale(address);
  const tell = (why: string, cause: unknown): void =>
    notifyListener(() => options.onError?.(new ConnectionError('closed', why, { cause })));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const channel = channelOf(socket, options);
    try {
      connected(channel);
    } catch (cause) {
      channel.destroy();
      tell('Whoever was to take a connection has failed.', cause);
    }
  });
  await listening(server, address);
  server.on('error', (cause) => tell(`Nobody could be taken: ${systemReason(cause)}`, cause));
  const bound = server.address();
  return {
    address: typeof bound === 'object' && bound !== null ? { port: bound.port, host: bound.address } : address,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function channelOf(socket: Socket, options: ByteChannelOptions): Channel {
  // Messages are small, and each is waited for.
  socket.setNoDelay(true);
  return byteChannel(socket, socket, options);
}

async function listening(server: Server, address: Address): Promise<void> {
  const isFile = typeof address === 'string' && process.platform !== 'win32';
  // Only the main thread may change the umask.
  const umask = isFile && isMainThread ? process.umask(0o177) : undefined;
  const done = once(server, 'listening');
  try {
    server.listen(netAddress(address));
  } finally {
    // The file has been made within the call; other new files must not be affected.
    if (umask !== undefined) process.umask(umask);
  }
  try {
    await done;
  } catch (cause) {
    const why = reasonOf(cause, address);
    throw new ConnectionError('closed', `Cannot listen on ${shown(address)}: ${why}`, { cause });
  }
  if (isFile) chmodSync(address, 0o600);
}

/** A socket without a listener refuses connections; with one, listening there fails by itself. */
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

/** For a missing folder, Node reports that permission is denied. */
function reasonOf(cause: unknown, address: Address): string {
  return typeof address === 'string' && process.platform !== 'win32' && !existsSync(path.dirname(address))
    ? 'there is no such folder'
    : systemReason(cause);
}

/** Some versions of Node cut a longer path, and use another file. */
function checkPath(address: Address, what: string): void {
  if (typeof address !== 'string' || process.platform === 'win32' || Buffer.byteLength(address) <= MAX_PATH) return;
  const why = `the path of a socket has at most ${MAX_PATH} bytes; a relative one may be shorter`;
  throw new ConnectionError('closed', `${what} ${address}: ${why}`);
}

function netAddress(address: Address): { path: string } | { port: number; host: string } {
  return typeof address === 'string' ? { path: address } : { port: address.port, host: address.host ?? '127.0.0.1' };
}

function shown(address: Address): string {
  return typeof address === 'string' ? address : `${address.host ?? '127.0.0.1'}:${address.port}`;
}
