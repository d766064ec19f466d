import process from 'node:process';
import { Writable } from 'node:stream';
import type { Channel, Receiver } from '../channel.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

/** Options of {@link stdioChannel}. */
export interface StdioChannelOptions extends ByteChannelOptions {
  /**
   * If true, all other writes to stdout, including those of `console.log`, go to stderr from now on: stdout may contain messages only.
   * @default true
   */
  readonly redirectStdout?: boolean | undefined;
}

/** Creates a channel over standard input and standard output: one JSON document per line. */
export function stdioChannel(options: StdioChannelOptions = {}): Channel {
  const { stdin, stdout } = process;
  const write = stdout.write.bind(stdout);
  // Ending stdout itself would make later writes of the process fail.
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => void write(chunk, done),
  });
  const bytes = byteChannel(stdin, output, options);
  // A reader that has exited ends the connection; it is not an error of the program.
  stdout.on('error', (error) => output.destroy(error));
  const start = (receiver: Receiver): void => {
    if (options.redirectStdout !== false)
      stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write;
    bytes.start(receiver);
  };
  return { ...bytes, start };
}

/** Exits if the other side has not read the output yet; otherwise the unread output would keep the process alive. */
export function exitIfUnread(): void {
  if (process.stdout.writableLength > 0) process.exit();
}
