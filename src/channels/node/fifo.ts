// biome-ignore-all lint/correctness/noNodejsModules: named pipes are of Node
import { execFile } from 'node:child_process';
import { close, constants, open as openFile } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { systemReason } from '../../text/system-reason.js';
import type { Channel } from '../channel.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

export interface FifoPair {
  /** Written by the client, read by the server. */
  readonly toRuntime: string;
  readonly toClient: string;
}

export interface FifoListener {
  /** Accepts no more clients, and removes the pipes. An open connection goes on. */
  readonly close: () => Promise<void>;
}

const run = promisify(execFile);
// Plain descriptors: a file handle would close its own when it is collected.
const open = promisify(openFile);
const closeFile = promisify(close);

/** Returns the pipes `NAME.in` and `NAME.out`, as the server sees them. */
export function fifoPair(name: string): FifoPair {
  return { toRuntime: `${name}.in`, toClient: `${name}.out` };
}

/**
 * Makes two named pipes, readable and writable by their owner only, and takes one client after the other.
 *
 * @param connected gets the channel of each client; the next one is taken when it resolves
 * @throws Error if they cannot be made: the files exist, or the system has no such pipes
 */
export async function listenFifo(
  pair: FifoPair,
  connected: (channel: Channel) => Promise<void>,
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
      // Each waits for the other side. The client opens them in the same order.
      const input = await open(pair.toRuntime, 'r');
      if (isClosed) {
        await closeFile(input);
        return;
      }
      const output = await open(pair.toClient, 'w');
      if (isClosed) await Promise.all([closeFile(input), closeFile(output)]);
      else await connected(channelOf(input, output, options));
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
 * Connects by two named pipes to a server. It waits for its turn.
 *
 * @throws Error if the pipes do not exist
 */
export async function connectFifo(pair: FifoPair, options: ByteChannelOptions = {}): Promise<Channel> {
  for (const path of [pair.toRuntime, pair.toClient])
    if (!(await isPipe(path))) throw new Error(`${path} is no named pipe`);
  const output = await open(pair.toRuntime, 'w');
  const input = await open(pair.toClient, 'r');
  return channelOf(input, output, options);
}

/** Node has no function for it. */
async function makePipe(path: string): Promise<void> {
  try {
    await run('mkfifo', ['-m', '600', '--', path]);
  } catch (cause) {
    // "mkfifo: cannot create fifo 'x/y.in': No such file or directory"
    const said = /.*: (.+)/.exec((cause as { readonly stderr?: string }).stderr ?? '')?.[1];
    const why = said ?? systemReason(cause, 'there is no program mkfifo');
    throw new Error(`The named pipe ${path} cannot be made: ${why}`, { cause });
  }
}

async function isPipe(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFIFO();
  } catch (cause) {
    throw new Error(`No connection to ${path}: ${systemReason(cause, 'there is no such named pipe')}`, { cause });
  }
}

/** Sockets read pipes without a blocked thread. */
function channelOf(input: number, output: number, options: ByteChannelOptions): Channel {
  const reading = new Socket({ fd: input, readable: true, writable: false });
  const writing = new Socket({ fd: output, readable: false, writable: true });
  return byteChannel(reading, writing, options);
}

/** Wakes a client or server that waits in `open` for the other side. */
async function release({ toRuntime, toClient }: FifoPair): Promise<void> {
  for (const path of [toRuntime, toClient]) {
    const other = await open(path, constants.O_RDWR | constants.O_NONBLOCK).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    if (other !== undefined) await closeFile(other);
  }
}
