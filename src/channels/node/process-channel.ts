/** A channel to a child process, which ends when the process does, and says how it has ended. */
import type { Channel, Receiver } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { ByteChannel, type ByteChannelOptions } from './byte-channel.js';
import type { PipedProcess } from './start-process.js';

/** How a process has ended: one of the two is `null`. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Milliseconds from the end of the output to that of the process and of its log: waiting for them says how it was. */
const EXIT_WAIT = 1000;
/** Lines of the log that an error quotes. */
const QUOTED = 5;

export interface ProcessChannelOptions extends ByteChannelOptions {
  /** The end of what the process has logged. */
  readonly logged: () => string;
}

/** One JSON document a line, on standard input and standard output. */
export function processChannel(child: PipedProcess, { logged, ...options }: ProcessChannelOptions): Channel {
  const bytes = new ByteChannel(child.stdout, child.stdin, options);
  let exit: Exit | undefined;
  let isWorthWaiting = true;
  child.once('exit', (code, signal) => {
    exit = { code, signal };
    bytes.endSoon();
  });
  // The process has ended, and so have all of its streams.
  child.once('close', () => {
    isWorthWaiting = false;
  });
  const start = (receiver: Receiver): void => {
    bytes.start({
      text: (text, isUnended) => receiver.text(text, isUnended),
      garbage: (why, beginning) => receiver.garbage(why, beginning),
      tooLong: (limit, beginning) => {
        isWorthWaiting = false;
        receiver.tooLong(limit, beginning);
      },
      ended: (error) => {
        const over = (): void => {
          clearTimeout(timer);
          child.off('close', over);
          receiver.ended(exit === undefined ? error : faultOf(exit, logged()));
        };
        const timer = setTimeout(over, EXIT_WAIT);
        if (isWorthWaiting) child.once('close', over);
        else over();
      },
    });
  };
  const destroy = (): void => {
    isWorthWaiting = false;
    // A program that still works when nobody listens any more must not die of that.
    bytes.drop();
  };
  const { maxTextBytes, send, ready, taken, backlog, pause, resume, end } = bytes;
  return { maxTextBytes, start, send, ready, taken, backlog, pause, resume, end, destroy };
}

/** Ending with 0 is how programs end that have done their work. */
function faultOf({ code, signal }: Exit, log: string): ConnectionError | undefined {
  if (code === 0) return undefined;
  const how = signal === null ? `exit code ${code}` : signal;
  const last = log.trimEnd().split('\n').slice(-QUOTED).join('\n');
  return new ConnectionError('closed', `The program has ended: ${how}.${last === '' ? '' : ` It logged:\n${last}`}`);
}
