import { type ChildProcessByStdio, spawn } from 'node:child_process';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { within } from '../../async/abort.js';
import { notifyListener } from '../../async/listeners.js';
import { resolveChoice } from '../../text/limits.js';
import { systemReason } from '../../text/system-reason.js';
import type { Channel, Receiver } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { LineDecoder } from '../line-decoder.js';
import { ByteChannel, type ByteChannelOptions } from './byte-channel.js';
import { HAS_GROUPS, ProcessGroup } from './process-group.js';

/** How to handle stderr of a program: keep its end (64 KiB), write it to this process's stderr, drop it, or pass it to a function. */
type StderrChoice = 'capture' | 'forward' | 'ignore' | ((text: string) => void);

export interface LaunchOptions extends ByteChannelOptions {
  readonly cwd?: string | URL | undefined;
  /** @default that of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** How to handle stderr of the program. @default 'capture' */
  readonly stderr?: StderrChoice | undefined;
  /** Milliseconds from the end of the program's input to SIGTERM; `Infinity` never sends it. @default 2000 */
  readonly exitGraceMs?: number | undefined;
  /** Milliseconds from SIGTERM to SIGKILL; `Infinity` never sends it. @default 2000 */
  readonly killGraceMs?: number | undefined;
  /** Aborting it closes the process. */
  readonly signal?: AbortSignal | undefined;
}

/** The end of a process: one of the two is `null`. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program in a child process, and the channel to it. */
export interface LaunchedProcess {
  readonly channel: Channel;
  readonly pid: number;
  /** Resolves when the process has ended. Its own children may still run, until `close`. */
  readonly exited: Promise<Exit>;
  /** The last 64 KiB of its stderr. */
  readonly stderr: string;
  /** Ends its input, and if it does not end, the whole group of processes: by SIGTERM, then by SIGKILL. */
  readonly close: () => Promise<Exit>;
}

/**
 * Starts a program, without a shell, in a group of processes of its own. On Windows, programs that are scripts (`npx.cmd`) need a shell and
 * cannot be started; start `node` with the script's path.
 *
 * @throws ConnectionError `spawn-failed` if there is no such program, or it cannot be started
 * @throws TypeError if an option is invalid
 * @throws the reason of the signal, once the process has ended
 * @example
 * const { channel, close } = await launchProcess('my-agent', ['--acp']);
 */
export async function launchProcess(
  command: string,
  args: readonly string[] = [],
  options: LaunchOptions = {},
): Promise<LaunchedProcess> {
  const { exitGraceMs = 2000, killGraceMs = 2000, stderr = 'capture', cwd, env, maxLineBytes, signal } = options;
  for (const [name, value] of Object.entries({ exitGraceMs, killGraceMs }))
    if (!(value >= 0)) throw new TypeError(`${name} must be a non-negative number of milliseconds; got ${value}`);
  if (typeof stderr !== 'function') resolveChoice('stderr', stderr, ['capture', 'forward', 'ignore']);
  // Throws on an invalid limit before there is a process.
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
    ending ??= end();
    return ending;
  };
  const end = async (): Promise<Exit> => {
    void channel.end();
    await within(exitGraceMs, exited);
    // The leader may have ended and have left others behind.
    if (group.signal('SIGTERM') && !(await hasGone(group, killGraceMs))) group.signal('SIGKILL');
    const exit = await exited;
    group.release();
    channel.destroy();
    // Processes outside of the group may hold them open for ever.
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
      return logged();
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
    const where = cwd === undefined ? '' : ` in ${cwd}`;
    const missing = cwd === undefined ? 'there is no such program' : 'there is no such program or folder';
    const why = systemReason(cause, missing);
    return new ConnectionError('spawn-failed', `${command} could not be started${where}: ${why}`, { cause });
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

/** Milliseconds from the end of the output to that of the process and of its log, which explain the end. */
const EXIT_WAIT = 1000;
/** Lines of the log that an error quotes. */
const QUOTED = 5;

/**
 * Makes a channel on the standard streams of a process, which ends when the process does, and reports how.
 *
 * @param logged returns the end of its stderr
 */
function processChannel(
  child: PipedProcess,
  { logged, ...options }: ByteChannelOptions & { readonly logged: () => string },
): Channel {
  const bytes = new ByteChannel(child.stdout, child.stdin, options);
  let exit: Exit | undefined;
  let isWorthWaiting = true;
  child.once('exit', (code, signal) => {
    exit = { code, signal };
    bytes.endSoon();
  });
  // The process has ended, and so have all of its streams.
  child.once('close', () => {
    isWorthWaiting = false;
  });
  const start = (receiver: Receiver): void => {
    bytes.start({
      text: (text, isUnended) => receiver.text(text, isUnended),
      invalid: (why, beginning) => receiver.invalid(why, beginning),
      tooLong: (limit, beginning) => {
        isWorthWaiting = false;
        receiver.tooLong(limit, beginning);
      },
      ended: (error) => {
        const over = (): void => {
          clearTimeout(timer);
          child.off('close', over);
          receiver.ended(exit === undefined ? error : faultOf(exit, logged()));
        };
        const timer = setTimeout(over, EXIT_WAIT);
        if (isWorthWaiting) child.once('close', over);
        else over();
      },
    });
  };
  const destroy = (): void => {
    isWorthWaiting = false;
    // A program that still works must not die of a broken pipe.
    bytes.drop();
  };
  return { ...bytes, start, destroy };
}

/** A program that has done its work exits with 0. */
function faultOf({ code, signal }: Exit, log: string): ConnectionError | undefined {
  if (code === 0) return undefined;
  const how = signal === null ? `exit code ${code}` : signal;
  const last = log.trimEnd().split('\n').slice(-QUOTED).join('\n');
  return new ConnectionError('closed', `The program has ended: ${how}.${last === '' ? '' : ` It logged:\n${last}`}`);
}

/** Milliseconds between two checks: a group does not report its end. */
const LOOK = 20;

/** @returns whether all of the group have ended in time; if nobody reaps orphans, they never have */
async function hasGone(group: ProcessGroup, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; group.signal(0); ) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  return true;
}

const KEPT = 64 * 1024;

/**
 * Reads stderr of a program, in every case.
 *
 * Source: ACP, transports, "stdio": "Clients MAY capture, forward, or ignore this logging".
 *
 * @returns returns the end of it, which errors quote
 */
export function drainStderr(stderr: Readable, choice: StderrChoice): () => string {
  const decoder = new StringDecoder('utf8');
  let kept = '';
  const take = (text: string): void => {
    if (text === '') return;
    kept += text;
    // Not for each piece, which may be one character.
    if (kept.length > 2 * KEPT) kept = kept.slice(-KEPT);
    if (choice === 'forward') process.stderr.write(text);
    else if (typeof choice === 'function') notifyListener(() => choice(text));
  };
  stderr.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
  stderr.on('end', () => take(decoder.end()));
  // A broken pipe has no more data.
  stderr.on('error', () => {});
  return () => kept.slice(-KEPT);
}
