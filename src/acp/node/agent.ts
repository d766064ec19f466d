import { type LaunchedProcess, type LaunchOptions, launchProcess } from '../../channels/node/process.js';
import { exitIfUnread, type StdioChannelOptions, stdioChannel } from '../../channels/node/stdio.js';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../types.js';

export {
  type Exit,
  type LaunchedProcess as AgentProcess,
  type LaunchOptions,
  launchProcess as launchAgent,
} from '../../channels/node/process.js';
/** A connection to an agent in a child process. */
export interface Agent extends Omit<Connection, 'close'>, Omit<LaunchedProcess, 'channel'> {}

export interface SpawnOptions extends LaunchOptions, ConnectionOptions {}

/**
 * Starts an agent and connects to it.
 *
 * Source: ACP, transports, "stdio".
 *
 * @throws ConnectionError `spawn-failed` if there is no such program, or it cannot be started
 * @throws TypeError if an option is invalid
 * @example
 * const agent = await spawnAgent('my-agent', ['--acp'], { handlers: { 'session/update': show } });
 * await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
 */
export async function spawnAgent(
  command: string,
  args: readonly string[] = [],
  options: SpawnOptions = {},
): Promise<Agent> {
  const agent = await launchProcess(command, args, options);
  let connection: Connection;
  try {
    connection = createConnection(agent.channel, options);
  } catch (error) {
    await agent.close();
    throw error;
  }
  const { request, notify, batch, closed } = connection;
  // Pending calls reject at once; sent messages are still written.
  const hangUp = (): void => void connection.close();
  options.signal?.addEventListener('abort', hangUp, { once: true });
  void closed.then(() => options.signal?.removeEventListener('abort', hangUp));
  return {
    request,
    notify,
    batch,
    closed,
    pid: agent.pid,
    exited: agent.exited,
    get stderr() {
      return agent.stderr;
    },
    close: () => {
      hangUp();
      return agent.close();
    },
  };
}

export interface StdioOptions extends ConnectionOptions, StdioChannelOptions {}

/**
 * Makes this process an agent of the process that started it. When stdin ends, running handlers are answered, and the process ends with
 * the exit code 0, since nothing of this keeps it alive any more. Answers that nobody reads are dropped after the grace.
 *
 * @throws TypeError if an option is invalid
 * @example
 * serveStdio({ handlers: { echo: (params) => params } });
 */
export function serveStdio(options: StdioOptions = {}): Connection {
  const connection = createConnection(stdioChannel(options), options);
  void connection.closed.then(exitIfUnread);
  return connection;
}
