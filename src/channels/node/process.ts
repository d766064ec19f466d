import { type ChildProcessByStdio, spawn } from 'node:child_process';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { within } from '../../async/abort.js';
import { assertDurations } from '../../async/durations.js';
import { notifyListener } from '../../async/listeners.js';
import { resolveChoice } from '../../text/limits.js';
import { systemReason } from '../../text/system-reason.js';
import type { Channel, Receiver } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { LineDecoder } from '../line-decoder.js';
import { ByteChannel, type ByteChannelOptions } from './byte-channel.js';
import { HAS_GROUPS, ProcessGroup } from './process-group.js';

/** The handling of a program's stderr: keep the last 64 KiB, write it to the stderr of this process, discard it, or pass it to a function. */
type StderrChoice = 'capture' | 'forward' | 'ignore' | ((text: string) => void);

/** Options of {@link launchProcess}. */
export interface LaunchOptions extends ByteChannelOptions {
  /** The working directory. @default that of this process */
  readonly cwd?: string | URL | undefined;
  /** The environment variables. @default those of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The handling of the program's stderr. @default 'capture' */
  readonly stderr?: StderrChoice | undefined;
  /** Milliseconds from the end of the program's input to SIGTERM; `Infinity` never sends it. @default 2000 */
  readonly exitGraceMs?: number | undefined;
  /** Milliseconds from SIGTERM to SIGKILL; `Infinity` never sends it. @default 2000 */
  readonly killGraceMs?: number | undefined;
  /** A signal that closes the process. */
  readonly signal?: AbortSignal | undefined;
}

/** The exit status of a process; one of the two members is `null`. */
export interface Exit {
  /** The exit code; `null` if a signal ended the process. */
  readonly code: number | null;
  /** The signal that ended the process. */
  readonly signal: NodeJS.Signals | null;
}

/** A program in a child process, with a channel to it. */
export interface LaunchedProcess {
  /** The channel over the program's stdin and stdout. */
  readonly channel: Channel;
  /** The identifier that the operating system gave the process. */
  readonly pid: number;
  /** Resolves when the process has exited. Its own children may run until `close`. */
  readonly exited: Promise<Exit>;
  /** The last 64 KiB of the program's stderr. */
  readonly stderr: string;
  /** Ends the program's input. If the program does not exit, terminates its process group with SIGTERM, then SIGKILL. */
  readonly close: () => Promise<Exit>;
}

/**
 * Starts a program, without a shell, in a process group of its own. On Windows, scripts (`npx.cmd`) require a shell and cannot be started;
 * start `node` with the path of the script.
 *
 * @throws ConnectionError `spawn-failed` if the program does not exist or cannot be started
 * @throws TypeError if an option is invalid
 * @throws the reason of the signal, after the process has exited
 * @example
 * const { channel, close } = await launchProcess('my-agent', ['--acp']);
 */
export async function launchProcess(
  command: string,
  args: readonly string[] = [],
  options: LaunchOptions = {},
): Promise<LaunchedProcess> {
  const { exitGraceMs = 2000, killGraceMs = 2000, stderr = 'capture', cwd, env, maxLineBytes, signal } = options;
  assertDurations({ exitGraceMs, killGraceMs }, 0);
  if (typeof stderr !== 'function') resolveChoice('stderr', stderr, ['capture', 'forward', 'ignore']);
  // Throws on an invalid limit before the process is started.
  new LineDecoder({ maxLineBytes });
  signal?.throwIfAborted();
  const child = await startProcess(command, args, { cwd, env });
  const group = new ProcessGroup(child);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, signal: by }));
  });
  const stderrTail = drainStderr(child.stderr, stderr);
  const channel = processChannel(child, { stderrTail, maxLineBytes });
  let ending: Promise<Exit> | undefined;
  const close = (): Promise<Exit> => {
    signal?.removeEventListener('abort', close);
    ending ??= end();
    return ending;
  };
  const end = async (): Promise<Exit> => {
    void channel.end();
    await within(exitGraceMs, exited);
    // The leader may have exited and left other processes.
    if (group.signal('SIGTERM') && !(await hasEnded(group, killGraceMs))) group.signal('SIGKILL');
    const exit = await exited;
    group.release();
    channel.destroy();
    // Processes outside the group may hold the streams open forever.
    child.stdout.destroy();
    child.stderr.destroy();
    return exit;
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
      return stderrTail();
    },
    close,
  };
}

type PipedProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** @throws ConnectionError `spawn-failed` */
async function startProcess(
  command: string,
  args: readonly string[],
  { cwd, env }: Pick<LaunchOptions, 'cwd' | 'env'>,
): Promise<PipedProcess> {
  const failed = (cause: unknown): ConnectionError => {
    const place = cwd === undefined ? '' : ` in ${cwd}`;
    const missing = cwd === undefined ? 'there is no such program' : 'there is no such program or folder';
    const reason = systemReason(cause, missing);
    return new ConnectionError('spawn-failed', `${command} could not be started${place}: ${reason}`, { cause });
  };
  let child: PipedProcess;
  try {
    child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      detached: HAS_GROUPS,
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
    });
  } catch (cause) {
    throw failed(cause);
  }
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.on('error', (cause) => reject(failed(cause)));
  });
  return child;
}

/** Milliseconds to wait for the exit status and the rest of stderr after the end of the output, for the error message. */
const EXIT_WAIT_MS = 1000;
/** The number of lines of stderr that an error quotes. */
const QUOTED_LINES = 5;

/**
 * Creates a channel over the standard streams of a process. It ends when the process exits, and reports the exit status.
 */
function processChannel(
  child: PipedProcess,
  { stderrTail, ...options }: ByteChannelOptions & { readonly stderrTail: () => string },
): Channel {
  const bytes = new ByteChannel(child.stdout, child.stdin, options);
  let exit: Exit | undefined;
  let awaitsExit = true;
  child.once('exit', (code, signal) => {
    exit = { code, signal };
    bytes.endSoon();
  });
  // The process has exited, and all of its streams have ended.
  child.once('close', () => {
    awaitsExit = false;
  });
  const start = (receiver: Receiver): void => {
    bytes.start({
      text: (text, isUnterminated) => receiver.text(text, isUnterminated),
      invalid: (reason, beginning) => receiver.invalid(reason, beginning),
      tooLong: (limit, beginning) => {
        awaitsExit = false;
        receiver.tooLong(limit, beginning);
      },
      ended: (error) => {
        const end = (): void => {
          clearTimeout(timer);
          child.off('close', end);
          receiver.ended(exit === undefined ? error : exitError(exit, stderrTail()));
        };
        const timer = setTimeout(end, EXIT_WAIT_MS);
        if (awaitsExit) child.once('close', end);
        else end();
      },
    });
  };
  const destroy = (): void => {
    awaitsExit = false;
    // A program that is still running must not get a broken pipe.
    bytes.drop();
  };
  return { ...bytes, start, destroy };
}

/** Returns the error for an exit status; `undefined` for exit code 0. */
function exitError({ code, signal }: Exit, stderr: string): ConnectionError | undefined {
  if (code === 0) return undefined;
  const status = signal === null ? `exit code ${code}` : signal;
  const last = stderr.trimEnd().split('\n').slice(-QUOTED_LINES).join('\n');
  return new ConnectionError(
    'closed',
    `The program exited: ${status}.${last === '' ? '' : ` Its stderr ends with:\n${last}`}`,
  );
}

/** Milliseconds between two checks: there is no event for the end of a process group. */
const POLL_MS = 20;

/** Waits for the end of a process group. @returns `true` if it ended in time; never if the system does not reap orphans */
async function hasEnded(group: ProcessGroup, timeoutMs: number): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; group.signal(0); ) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

/** The number of characters of stderr that are kept. */
const STDERR_LENGTH = 64 * 1024;

/**
 * Reads the stderr of a program, whatever the choice, so that the program does not block.
 *
 * Source: ACP, transports, "stdio": "Clients MAY capture, forward, or ignore this logging".
 *
 * @returns a function that returns the end of it
 */
export function drainStderr(stderr: Readable, choice: StderrChoice): () => string {
  const decoder = new StringDecoder('utf8');
  let kept = '';
  const take = (text: string): void => {
    if (text === '') return;
    kept += text;
    // Not for each chunk, which may be a single character.
    if (kept.length > 2 * STDERR_LENGTH) kept = kept.slice(-STDERR_LENGTH);
    if (choice === 'forward') process.stderr.write(text);
    else if (typeof choice === 'function') notifyListener(() => choice(text));
  };
  stderr.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
  stderr.on('end', () => take(decoder.end()));
  // An error means the end of stderr.
  stderr.on('error', () => {});
  return () => kept.slice(-STDERR_LENGTH);
}
