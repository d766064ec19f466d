/** An agent on the standard streams of its process (ACP, transports, "stdio"). */
import process from 'node:process';
import { Writable } from 'node:stream';
import { createConnection } from '../connection.js';
import type { Connection, ConnectionOptions } from '../contract.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

export interface StdioOptions extends ConnectionOptions, ByteChannelOptions {
  /**
   * Whether what other code writes to stdout, `console.log` included, goes to stderr while the agent runs: nothing but messages may
   * stand on stdout. @default true
   */
  readonly guard?: boolean | undefined;
}

/**
 * Makes this process an agent: the other side is whoever started it. When stdin ends, what is being worked on is answered, and as
 * nothing of this keeps the process alive any more, it ends with the exit code 0.
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
  // A reader that has gone is the end of the conversation, and no defect of the agent.
  const broken = (error: Error): void => void output.destroy(error);
  stdout.on('error', broken);
  const release = options.guard === false ? (): void => {} : divert();
  const connection = createConnection(byteChannel(stdin, output, options), options);
  void connection.closed.then(() => {
    release();
    stdout.off('error', broken);
  });
  return connection;
}

/** Sends what is written to stdout to stderr. @returns ends that */
function divert(): () => void {
  const { stdout, stderr } = process;
  const own = Object.getOwnPropertyDescriptor(stdout, 'write');
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return () => {
    if (own === undefined) Reflect.deleteProperty(stdout, 'write');
    else Object.defineProperty(stdout, 'write', own);
  };
}
