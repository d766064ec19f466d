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

/** Options of {@link spawnAgent}. */
export interface SpawnOptions extends LaunchOptions, ConnectionOptions {}

/**
 * Starts an agent and connects to it.
 *
 * Source: ACP, transports, "stdio".
 *
 * @throws ConnectionError `spawn-failed` if the program does not exist or cannot be started
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
  // Rejects pending calls immediately; messages that were sent before are still written.
  const disconnect = (): void => void connection.close();
  options.signal?.addEventListener('abort', disconnect, { once: true });
  void closed.then(() => options.signal?.removeEventListener('abort', disconnect));
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
      disconnect();
      return agent.close();
    },
  };
}

/** Options of {@link serveStdio}. */
export interface StdioOptions extends ConnectionOptions, StdioChannelOptions {}

/**
 * Serves the process that started this one, over stdin and stdout. When stdin ends, running handlers can still respond; then the process exits
 * with code 0, unless something else keeps it alive. Responses that are not read are discarded after `graceMs`.
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
