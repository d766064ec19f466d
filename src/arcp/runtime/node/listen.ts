/** Listeners for runtimes: sockets, named pipes and standard streams. */
import type { ByteChannelOptions } from '../../../channels/node/byte-channel.js';
import { type FifoListener, type FifoPair, listenFifo as listenOnPipes } from '../../../channels/node/fifo.js';
import { type Address, type Listener, listenSocket } from '../../../channels/node/socket.js';
import { stdioChannel } from '../../../channels/node/stdio.js';
import type { Runtime } from '../runtime.js';

/**
 * Listens on a Unix-domain socket, which only its owner can access, or on TCP, by default on the loopback. On Windows, `\\.\pipe\NAME` is a
 * named pipe (untested).
 *
 * @throws ConnectionError `closed` if it cannot listen
 */
export function listenUnix(
  runtime: Runtime,
  address: Address,
  options: ByteChannelOptions & { readonly onError?: ((error: unknown) => void) | undefined } = {},
): Promise<Listener> {
  const kind = typeof address === 'string' ? 'unix' : 'tcp';
  return listenSocket(address, (channel) => void runtime.accept(channel, { kind }), options);
}

/** Serves the parent process on the standard streams, one envelope per line. Other output to stdout is redirected to stderr. Resolves at the end. */
export function serveStdio(runtime: Runtime, options: ByteChannelOptions = {}): Promise<void> {
  return runtime.accept(stdioChannel(options), { kind: 'stdio' });
}

/**
 * Creates two named pipes, which only their owner can access, and serves one client after the other.
 *
 * @throws Error if the files exist or the system has no named pipes
 */
export function listenFifo(
  runtime: Runtime,
  pair: FifoPair,
  options: ByteChannelOptions & { readonly onError?: ((error: unknown) => void) | undefined } = {},
): Promise<FifoListener> {
  return listenOnPipes(pair, (channel) => runtime.accept(channel, { kind: 'fifo' }), options);
}
