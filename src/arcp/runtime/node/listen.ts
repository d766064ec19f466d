/** Runtimes where clients reach them. */
import type { ByteChannelOptions } from '../../../channels/node/byte-channel.js';
import { type FifoListener, type FifoPair, listenFifo as listenOnPipes } from '../../../channels/node/fifo.js';
import { type Address, type Listener, listenSocket } from '../../../channels/node/socket.js';
import { stdioChannel } from '../../../channels/node/stdio.js';
import type { Runtime } from '../runtime.js';

/**
 * Lets clients connect by a Unix-domain socket, its owner's only, or by TCP: then on the loopback alone, unless a host is named. On Windows, a
 * path like `\\.\pipe\NAME` is a named pipe there; that is not tested.
 *
 * @throws ConnectionError `closed` when it cannot listen there
 */
export function listenUnix(
  runtime: Runtime,
  address: Address,
  options: ByteChannelOptions & { readonly onError?: ((error: unknown) => void) | undefined } = {},
): Promise<Listener> {
  const kind = typeof address === 'string' ? 'unix' : 'tcp';
  return listenSocket(address, (channel) => void runtime.accept(channel, { kind }), options);
}

/**
 * Serves whoever has started this process, on its standard streams: one envelope a line. Everything else that is written to stdout goes
 * to stderr from now on.
 *
 * @returns resolves when the other side has ended
 */
export function serveStdio(runtime: Runtime, options: ByteChannelOptions = {}): Promise<void> {
  return runtime.accept(stdioChannel(options), { kind: 'stdio' });
}

/**
 * Makes two named pipes, their owner's only, and takes one client after the other.
 *
 * @throws Error where they cannot be made: there are files of these names, or the system has no named pipes of this sort
 */
export function listenFifo(
  runtime: Runtime,
  pair: FifoPair,
  options: ByteChannelOptions & { readonly onError?: ((error: unknown) => void) | undefined } = {},
): Promise<FifoListener> {
  return listenOnPipes(pair, (channel) => runtime.accept(channel, { kind: 'fifo' }), options);
}
