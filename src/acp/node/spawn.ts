/** Agents as child processes (ACP, transports, "stdio": "The client launches the agent as a subprocess"). */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { resolveChoice } from '../../text/choice.js';
import type { Channel, Receiver } from '../channel.js';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../contract.js';
import { ConnectionError } from '../errors.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';
import { endWithHost, HAS_GROUPS, signalGroup } from './process-group.js';
import { drainStderr, type StderrChoice } from './stderr.js';

export interface LaunchOptions extends ByteChannelOptions {
  readonly cwd?: string | URL | undefined;
  /** @default that of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** What becomes of the agent's log. @default 'capture' */
  readonly stderr?: StderrChoice | undefined;
  /** Seconds that the agent has to end by itself once its input has ended, before SIGTERM. @default 2 */
  readonly exitGrace?: number | undefined;
  /** Seconds from SIGTERM to SIGKILL. @default 2 */
  readonly killGrace?: number | undefined;
  /** Aborting it closes the agent. */
  readonly signal?: AbortSignal | undefined;
}

/** How a process has ended: one of the two is `null`. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** An agent in a child process, and the channel to it. */
export interface AgentProcess {
  readonly channel: Channel;
  readonly pid: number;
  /** Resolves when the process has ended. What it started may still run, until `close`. */
  readonly exited: Promise<Exit>;
  /** The last 64 KiB that it has logged. */
  readonly stderr: string;
  /** Ends its input, and where it stays, the whole group of processes: by SIGTERM, then by SIGKILL. */
  readonly close: () => Promise<Exit>;
}

/** A connection to an agent in a child process. */
export interface Agent extends Omit<Connection, 'close'>, Omit<AgentProcess, 'channel'> {}

export interface SpawnOptions extends LaunchOptions, ConnectionOptions {}

/**
 * Starts an agent, without a shell, in a group of processes of its own.
 *
 * On Windows, programs that are scripts (`npx.cmd`) need a shell and cannot be started; start `node` with the script's path.
 *
 * @throws ConnectionError `spawn-failed` when there is no such program, or it cannot be started
 * @throws TypeError on options that are none
 * @example
 * const agent = await launchAgent('my-agent', ['--acp']);
 * client({ name: 'editor' }).connectWith(toStream(agent.channel), async (ctx) => { ... });
 */
export async function launchAgent(
  command: string,
  args: readonly string[] = [],
  options: LaunchOptions = {},
): Promise<AgentProcess> {
  const { exitGrace = 2, killGrace = 2, stderr = 'capture', cwd, env, signal } = options;
  for (const [name, value] of Object.entries({ exitGrace, killGrace }))
    if (!(value >= 0)) throw new TypeError(`${name} is a number of seconds from 0 on; got ${value}`);
  if (typeof stderr !== 'function') resolveChoice('stderr', stderr, ['capture', 'forward', 'ignore']);
  signal?.throwIfAborted();
  const child = await started(command, args, { cwd, env });
  const logged = drainStderr(child.stderr!, stderr);
  const release = endWithHost(child);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, signal: by }));
  });
  const bytes = byteChannel(child.stdout as Readable, child.stdin as Writable, options);
  const channel = endingWithProcess(bytes, child, { exited, logged });
  const closing = closer(child, { bytes, exited, exitGrace, killGrace });
  const close = async (): Promise<Exit> => {
    signal?.removeEventListener('abort', close);
    const exit = await closing();
    release();
    return exit;
  };
  signal?.addEventListener('abort', close, { once: true });
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

/**
 * Starts an agent and connects to it.
 *
 * Source: ACP, transports, "stdio".
 *
 * @throws ConnectionError `spawn-failed` when there is no such program, or it cannot be started
 * @throws TypeError on options that are none
 * @example
 * const agent = await spawnAgent('my-agent', ['--acp'], { handlers: { 'session/update': show } });
 * await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
 */
export async function spawnAgent(
  command: string,
  args: readonly string[] = [],
  options: SpawnOptions = {},
): Promise<Agent> {
  const agent = await launchAgent(command, args, options);
  let connection: Connection;
  try {
    connection = createConnection(agent.channel, options);
  } catch (error) {
    await agent.close();
    throw error;
  }
  const { request, notify, batch, closed } = connection;
  return {
    ...{ request, notify, batch, closed },
    ...{ pid: agent.pid, exited: agent.exited },
    get stderr() {
      return agent.stderr;
    },
    close: async () => {
      // Calls that wait reject at once; what was sent is still written.
      void connection.close();
      return agent.close();
    },
  };
}

async function started(
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string | URL | undefined; readonly env: NodeJS.ProcessEnv | undefined },
): Promise<ChildProcess> {
  const failed = (cause: unknown): ConnectionError => {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new ConnectionError('spawn-failed', `${command} could not be started: ${why}`, { cause });
  };
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      ...{ stdio: 'pipe', shell: false, detached: HAS_GROUPS, windowsHide: true },
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

/** Milliseconds for what a process has written to arrive after it has ended: others may hold its output open for ever. */
const LAST_WORDS = 250;
/** Lines of the log that an error quotes. */
const QUOTED = 5;

/** The channel ends when the process does, and its end says how. */
function endingWithProcess(
  bytes: Channel,
  child: ChildProcess,
  { exited, logged }: { readonly exited: Promise<Exit>; readonly logged: () => string },
): Channel {
  const start = (receiver: Receiver): void => {
    let isOver = false;
    const over = (error?: Error): void => {
      if (isOver) return;
      isOver = true;
      receiver.ended(error);
    };
    let exit: Exit | undefined;
    bytes.start({
      ...receiver,
      ended: (error) => {
        // Output ends a moment before the process does: waiting for that says how it was.
        if (exit !== undefined) over(error ?? faultOf(exit, logged()));
        else
          setTimeout(
            () => over(error ?? (exit === undefined ? undefined : faultOf(exit, logged()))),
            LAST_WORDS,
          ).unref();
      },
    });
    void exited.then((how) => {
      exit = how;
      if (child.stdout!.readableEnded || child.stdout!.destroyed) over(faultOf(how, logged()));
      else setTimeout(() => over(faultOf(how, logged())), LAST_WORDS);
    });
  };
  return { ...channelOf(bytes), start };
}

function channelOf({ send, ready, backlog, pause, resume, end, destroy }: Channel): Omit<Channel, 'start'> {
  return { send, ready, backlog, pause, resume, end, destroy };
}

/** Ending with 0 is how agents end. */
function faultOf({ code, signal }: Exit, log: string): ConnectionError | undefined {
  if (code === 0) return undefined;
  const how = signal === null ? `exit code ${code}` : signal;
  const last = log.trimEnd().split('\n').slice(-QUOTED).join('\n');
  return new ConnectionError('closed', `The agent has ended: ${how}.${last === '' ? '' : ` It logged:\n${last}`}`);
}

function closer(
  child: ChildProcess,
  {
    bytes,
    exited,
    exitGrace,
    killGrace,
  }: {
    readonly bytes: Channel;
    readonly exited: Promise<Exit>;
    readonly exitGrace: number;
    readonly killGrace: number;
  },
): () => Promise<Exit> {
  let closing: Promise<Exit> | undefined;
  const close = async (): Promise<Exit> => {
    void bytes.end();
    await within(exited, exitGrace);
    // The leader may have ended and have left others behind.
    if (signalGroup(child, 'SIGTERM') && !(await groupEnds(child, killGrace))) signalGroup(child, 'SIGKILL');
    const exit = await exited;
    bytes.destroy();
    child.stderr!.destroy();
    return exit;
  };
  return () => {
    closing ??= close();
    return closing;
  };
}

/** Milliseconds between two looks: a group does not say when it ends. */
const LOOK = 20;

/** @returns whether all of the group have ended in time; where nobody reaps orphans, they never have */
async function groupEnds(child: ChildProcess, seconds: number): Promise<boolean> {
  for (const end = Date.now() + seconds * 1000; signalGroup(child, 0); ) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  return true;
}

async function within(promise: Promise<unknown>, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
