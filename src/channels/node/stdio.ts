/** The channel on the standard streams of this process: the other side is whoever started it. */
import process from 'node:process';
import { Writable } from 'node:stream';
import type { Channel } from '../channel.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';

export interface StdioChannelOptions extends ByteChannelOptions {
  /**
   * Whether what other code writes to stdout, `console.log` included, goes to stderr from now on: nothing but messages may stand on
   * stdout, to the end. @default true
   */
  readonly guard?: boolean | undefined;
}

/** One JSON document a line, on standard input and standard output. */
export function stdioChannel(options: StdioChannelOptions = {}): Channel {
  const { stdin, stdout } = process;
  const write = stdout.write.bind(stdout);
  // Ending stdout itself would break what else in the process writes to it later.
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => void write(chunk, done),
  });
  const { maxTextBytes, start, send, ready, taken, backlog, pause, resume, end, destroy } = byteChannel(
    stdin,
    output,
    options,
  );
  // A reader that has gone is the end of the conversation, and no defect of the program.
  stdout.on('error', (error) => output.destroy(error));
  return {
    maxTextBytes,
    start: (receiver) => {
      if (options.guard !== false) stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write;
      start(receiver);
    },
    send,
    ready,
    taken,
    backlog,
    pause,
    resume,
    end,
    destroy,
  };
}

/** Ends the process where somebody has not read what was said: who has not by now never will, and it would keep the process. */
export function exitIfUnread(): void {
  if (process.stdout.writableLength > 0) process.exit();
}
