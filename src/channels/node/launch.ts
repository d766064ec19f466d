/** Programs in child processes that speak on their standard streams. */
import { resolveChoice } from '../../text/limits.js';
import type { Channel } from '../channel.js';
import { LineDecoder } from '../line-decoder.js';
import type { ByteChannelOptions } from './byte-channel.js';
import { endProcess } from './end-process.js';
import { type Exit, processChannel } from './process-channel.js';
import { ProcessGroup } from './process-group.js';
import { startProcess } from './start-process.js';
import { drainStderr, type StderrChoice } from './stderr.js';

export type { Exit, StderrChoice };

export interface LaunchOptions extends ByteChannelOptions {
  readonly cwd?: string | URL | undefined;
  /** @default that of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** What becomes of what the program logs. @default 'capture' */
  readonly stderr?: StderrChoice | undefined;
  /** Seconds that the program has to end by itself once its input has ended, before SIGTERM. @default 2 */
  readonly exitGrace?: number | undefined;
  /** Seconds from SIGTERM to SIGKILL. @default 2 */
  readonly killGrace?: number | undefined;
  /** Aborting it closes the process. */
  readonly signal?: AbortSignal | undefined;
}

/** A program in a child process, and the channel to it. */
export interface LaunchedProcess {
  readonly channel: Channel;
  readonly pid: number;
  /** Resolves when the process has ended. What it started may still run, until `close`. */
  readonly exited: Promise<Exit>;
  /** The last 64 KiB that it has logged. */
  readonly stderr: string;
  /** Ends its input, and where it stays, the whole group of processes: by SIGTERM, then by SIGKILL. */
  readonly close: () => Promise<Exit>;
}

/**
 * Starts a program, without a shell, in a group of processes of its own.
 *
 * On Windows, programs that are scripts (`npx.cmd`) need a shell and cannot be started; start `node` with the script's path.
 *
 * @throws ConnectionError `spawn-failed` when there is no such program, or it cannot be started
 * @throws TypeError on options that are none
 * @throws what the signal was aborted with, once the process has ended
 * @example
 * const { channel, close } = await launchProcess('my-agent', ['--acp']);
 */
export async function launchProcess(
  command: string,
  args: readonly string[] = [],
  options: LaunchOptions = {},
): Promise<LaunchedProcess> {
  const { exitGrace = 2, killGrace = 2, stderr = 'capture', cwd, env, maxLineBytes, signal } = options;
  for (const [name, value] of Object.entries({ exitGrace, killGrace }))
    if (!(value >= 0)) throw new TypeError(`${name} is a number of seconds from 0 on; got ${value}`);
  if (typeof stderr !== 'function') resolveChoice('stderr', stderr, ['capture', 'forward', 'ignore']);
  // It refuses a bad limit before there is a process.
  new LineDecoder({ maxLineBytes });
  signal?.throwIfAborted();
  const child = await startProcess(command, args, { cwd, env });
  const group = new ProcessGroup(child);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, signal: by }));
  });
  const logged = drainStderr(child.stderr, stderr);
  const channel = processChannel(child, { logged, maxLineBytes });
  let ending: Promise<Exit> | undefined;
  const close = (): Promise<Exit> => {
    signal?.removeEventListener('abort', close);
    ending ??= endProcess(child, { channel, group, exited, exitGrace, killGrace });
    return ending;
  };
  signal?.addEventListener('abort', close, { once: true });
  void exited.then(() => {
    if (!group.signal(0)) signal?.removeEventListener('abort', close);
  });
  if (signal?.aborted) {
    await close();
    throw signal.reason;
  }
  return {
    channel,
    pid: child.pid!,
    exited,
    get stderr() {
      return logged();
    },
    close,
  };
}
