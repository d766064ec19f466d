// biome-ignore-all lint/correctness/noNodejsModules: named pipes require Node
import { execFile } from 'node:child_process';
import { close, constants, open as openFile } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { systemReason } from '../../text/system-reason.js';
import type { Channel } from '../channel.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

/** The paths of two named pipes. */
export interface FifoPair {
  /** The path of the pipe that the client writes and the server reads. */
  readonly toRuntime: string;
  /** The path of the pipe that the server writes and the client reads. */
  readonly toClient: string;
}

/** A server on named pipes. */
export interface FifoListener {
  /** Stops accepting clients and removes the pipes. An open connection stays open. */
  readonly close: () => Promise<void>;
}

const run = promisify(execFile);
// Plain descriptors: a file handle closes its descriptor when it is garbage-collected.
const open = promisify(openFile);
const closeFile = promisify(close);

/** Returns the paths `NAME.in` (read by the server) and `NAME.out` (written by the server). */
export function fifoPair(name: string): FifoPair {
  return { toRuntime: `${name}.in`, toClient: `${name}.out` };
}

/**
 * Creates two named pipes that only their owner can use, and serves one client at a time.
 *
 * @param onConnection called with the channel of each client; the next client is accepted when it resolves
 * @throws Error if the pipes cannot be created because the files exist, or the system has no named pipes
 */
export async function listenFifo(
  pair: FifoPair,
  onConnection: (channel: Channel) => Promise<void>,
  options: ByteChannelOptions & { readonly onError?: ((error: unknown) => void) | undefined } = {},
): Promise<FifoListener> {
  await makePipe(pair.toRuntime);
  try {
    await makePipe(pair.toClient);
  } catch (thrown) {
    await rm(pair.toRuntime, { force: true });
    throw thrown;
  }
  let isClosed = false;
  const serve = async (): Promise<void> => {
    while (!isClosed) {
      // Opening a pipe waits for the other side. The client opens them in the same order.
      const input = await open(pair.toRuntime, 'r');
      if (isClosed) {
        await closeFile(input);
        return;
      }
      const output = await open(pair.toClient, 'w');
      if (isClosed) await Promise.all([closeFile(input), closeFile(output)]);
      else await onConnection(channelOf(input, output, options));
    }
  };
  const served = serve().catch((error: unknown) => {
    if (!isClosed) options.onError?.(error);
  });
  return {
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await Promise.race([served, release(pair)]);
      await Promise.all([rm(pair.toRuntime, { force: true }), rm(pair.toClient, { force: true })]);
    },
  };
}

/**
 * Connects to a server over two named pipes. Waits until the server accepts the client.
 *
 * @throws Error if the pipes do not exist
 */
export async function connectFifo(pair: FifoPair, options: ByteChannelOptions = {}): Promise<Channel> {
  for (const path of [pair.toRuntime, pair.toClient])
    if (!(await isPipe(path))) throw new Error(`${path} is not a named pipe`);
  const output = await open(pair.toRuntime, 'w');
  const input = await open(pair.toClient, 'r');
  return channelOf(input, output, options);
}

/** Creates a named pipe with `mkfifo`; Node has no function for it. */
async function makePipe(path: string): Promise<void> {
  try {
    await run('mkfifo', ['-m', '600', '--', path]);
  } catch (cause) {
    // "mkfifo: cannot create fifo 'x/y.in': No such file or directory"
    const detail = /.*: (.+)/.exec((cause as { readonly stderr?: string }).stderr ?? '')?.[1];
    const reason = detail ?? systemReason(cause, 'there is no program mkfifo');
    throw new Error(`The named pipe ${path} cannot be created: ${reason}`, { cause });
  }
}

async function isPipe(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFIFO();
  } catch (cause) {
    throw new Error(`Cannot connect to ${path}: ${systemReason(cause, 'there is no such named pipe')}`, { cause });
  }
}

/** Creates a channel over two descriptors. Sockets, unlike file streams, read pipes without blocking a thread. */
function channelOf(input: number, output: number, options: ByteChannelOptions): Channel {
  const reading = new Socket({ fd: input, readable: true, writable: false });
  const writing = new Socket({ fd: output, readable: false, writable: true });
  return byteChannel(reading, writing, options);
}

/** Wakes a server or client that waits in `open` for the other side. */
async function release({ toRuntime, toClient }: FifoPair): Promise<void> {
  for (const path of [toRuntime, toClient]) {
    const other = await open(path, constants.O_RDWR | constants.O_NONBLOCK).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    if (other !== undefined) await closeFile(other);
  }
}
