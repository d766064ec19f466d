/** Agents as child processes (ACP, transports, "stdio": "The client launches the agent as a subprocess"). */
import { type LaunchedProcess, type LaunchOptions, launchProcess } from '../../channels/node/process.js';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../contract.js';

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
  const agent = await launchProcess(command, args, options);
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
