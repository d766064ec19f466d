/** An agent on the standard streams of its process (ACP, transports, "stdio"). */
import { leaveUnread, type StdioChannelOptions, stdioChannel } from '../../channels/node/stdio.js';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../contract.js';

export interface StdioOptions extends ConnectionOptions, StdioChannelOptions {}

/**
 * Makes this process an agent: the other side is whoever started it. When stdin ends, what is being worked on is answered, and as
 * nothing of this keeps the process alive any more, it ends with the exit code 0. Answers that nobody reads are dropped after the
 * grace.
 *
 * @throws TypeError on options that are none
 * @example
 * serveStdio({ handlers: { echo: (params) => params } });
 */
export function serveStdio(options: StdioOptions = {}): Connection {
  const connection = createConnection(stdioChannel(options), options);
  void connection.closed.then(leaveUnread);
  return connection;
}
