/** An agent on the standard streams of its process (ACP, transports, "stdio"). */
import process from 'node:process';
import { Writable } from 'node:stream';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../contract.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

export interface StdioOptions extends ConnectionOptions, ByteChannelOptions {
  /**
   * Whether what other code writes to stdout, `console.log` included, goes to stderr from now on: nothing but messages may stand on
   * stdout, to the end. @default true
   */
  readonly guard?: boolean | undefined;
}

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
  const { stdin, stdout } = process;
  const write = stdout.write.bind(stdout);
  // Ending stdout itself would break what else in the process writes to it later.
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => void write(chunk, done),
  });
  const connection = createConnection(byteChannel(stdin, output, options), options);
  // A reader that has gone is the end of the conversation, and no defect of the agent.
  stdout.on('error', (error) => output.destroy(error));
  if (options.guard !== false) stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write;
  void connection.closed.then(() => {
    // Who has not read by now what was said, never will; what waits for it would keep the process.
    if (stdout.writableLength > 0) process.exit();
  });
  return connection;
}
