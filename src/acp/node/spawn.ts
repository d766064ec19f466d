/** Agents as child processes (ACP, transports, "stdio": "The client launches the agent as a subprocess"). */
import { resolveChoice } from '../../text/choice.js';
import type { Channel } from '../channel.js';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../contract.js';
import { LineDecoder } from '../line-decoder.js';
import type { ByteChannelOptions } from './byte-channel.js';
import { endProcess } from './end-process.js';
import { type Exit, processChannel } from './process-channel.js';
import { ProcessGroup } from './process-group.js';
import { startProcess } from './start-process.js';
import { drainStderr, type StderrChoice } from './stderr.js';

export type { Exit };

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
 * @throws what the signal was aborted with, once the process has ended
 * @example
 * const agent = await launchAgent('my-agent', ['--acp']);
 * client({ name: 'editor' }).connectWith(toStream(agent.channel), async (ctx) => { ... });
 */
export async function launchAgent(
  command: string,
  args: readonly string[] = [],
  options: LaunchOptions = {},
): Promise<AgentProcess> {
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
  // Calls that wait reject at once; what was sent is still written.
  const hangUp = (): void => void connection.close();
  options.signal?.addEventListener('abort', hangUp, { once: true });
  void closed.then(() => options.signal?.removeEventListener('abort', hangUp));
  return {
    ...{ request, notify, batch, closed },
    ...{ pid: agent.pid, exited: agent.exited },
    get stderr() {
      return agent.stderr;
    },
    close: () => {
      hangUp();
      return agent.close();
    },
  };
}
