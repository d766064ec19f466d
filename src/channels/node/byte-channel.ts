import type { Readable, Writable } from 'node:stream';
import { Queue } from '../../async/queue.js';
import { type Channel, type Receiver, WriteConfirmations } from '../channel.js';
import { LineDecoder, MAX_LINE_BYTES } from '../line-decoder.js';

export interface ByteChannelOptions {
  /** Limit of one line in bytes; a longer one ends the connection. @default 32 MiB */
  readonly maxLineBytes?: number | undefined;
}

/**
 * Makes a channel over byte streams: one JSON document per line, UTF-8, each line ended by LF (ACP, transports, "stdio"). The end of the
 * input does not stop the output.
 *
 * @throws TypeError if an option is invalid
 */
export function byteChannel(input: Readable, output: Writable, options: ByteChannelOptions = {}): Channel {
  return new ByteChannel(input, output, options);
}

/** Milliseconds without a byte after which a side that cannot go on counts as ended. */
const QUIET = 250;
/** Limit of these waits: a side that goes on for ever is not waited for. */
const LOOKS = 40;
/** Any of them ends the wait of a writer; a stream that is being ended emits no `drain`. */
const DRAINED = ['drain', 'finish', 'close', 'error'] as const;

/** Characters from which on lines are written at once. */
const JOINED = 1024 * 1024;

export class ByteChannel implements Channel {
  readonly maxTextBytes: number;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #decoder: LineDecoder;
  #receiver: Receiver | undefined;
  /** Received while paused: a pause may come in the middle of a chunk. */
  readonly #held = new Queue<() => void>();
  #isGiving = false;
  /** Lines of this turn: one write is much cheaper than many. */
  #lines = '';
  readonly #confirmations = new WriteConfirmations();
  #drained: Promise<void> | undefined;
  #fault: Error | undefined;
  #chunks = 0;
  #isExpectingEnd = false;
  #lookLater: NodeJS.Timeout | undefined;
  #isPaused = true;
  #isEnded = false;
  #isBroken = false;
  #isOver = false;

  constructor(input: Readable, output: Writable, { maxLineBytes }: ByteChannelOptions) {
    this.#input = input;
    this.#output = output;
    this.#decoder = new LineDecoder({ maxLineBytes });
    this.maxTextBytes = maxLineBytes ?? MAX_LINE_BYTES;
    // A stream may break before it is started, and an error without a listener ends the process.
    input.on('error', (error) => {
      this.#fault ??= error;
      this.#break();
      if (this.#receiver !== undefined) this.#over();
    });
    output.on('error', (error) => {
      this.#fault ??= error;
      this.#break();
      this.endSoon();
    });
    output.once('close', () => this.#break());
    // Node drains the output of an ended process, read or not.
    input.on('resume', () => {
      if (this.#isPaused && !this.#isOver) input.pause();
    });
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    this.#input.on('data', this.#read);
    this.#input.once('end', () => {
      this.#decoder.end(this.#guarded);
      this.#tell(() => this.#over());
    });
    this.#input.once('close', () => this.#tell(() => this.#over()));
    // Streams that have ended or failed before emit nothing more.
    const { readableEnded, destroyed, errored } = this.#input;
    if (readableEnded || destroyed || errored !== null) queueMicrotask(() => this.#over());
    else if (this.#isExpectingEnd) this.#lookAgain(LOOKS);
    this.resume();
  };

  readonly send = (text: string): void => {
    if (this.#isBroken || this.#isEnded) return;
    if (this.#lines === '') queueMicrotask(this.#flush);
    this.#lines += `${text}\n`;
    this.#confirmations.sent();
    if (this.#lines.length > JOINED) this.#flush();
  };

  readonly ready = (): Promise<void> | undefined => {
    if (this.#lines.length > this.#output.writableHighWaterMark) this.#flush();
    if (this.#isBroken || !this.#output.writableNeedDrain) return undefined;
    // One promise for all callers.
    this.#drained ??= new Promise((resolve) => {
      const done = (): void => {
        this.#drained = undefined;
        for (const event of DRAINED) this.#output.off(event, done);
        resolve();
      };
      for (const event of DRAINED) this.#output.on(event, done);
    });
    return this.#drained;
  };

  readonly flushed = (): Promise<boolean> => {
    // A stream that has failed or was destroyed shows that before it emits `error` or `close`.
    if (this.#output.destroyed || this.#output.errored !== null) this.#break();
    return this.#isEnded && this.#output.writableFinished ? Promise.resolve(false) : this.#confirmations.wait();
  };

  readonly backlog = (): number => this.#lines.length + this.#output.writableLength;

  readonly pause = (): void => {
    this.#isPaused = true;
    this.#input.pause();
  };

  readonly resume = (): void => {
    if (this.#isOver) return;
    this.#isPaused = false;
    // The receiver may pause and resume meanwhile.
    if (this.#isGiving) return;
    this.#isGiving = true;
    while (this.#held.size > 0 && !this.#isPaused) this.#held.take()();
    this.#isGiving = false;
    if (!this.#isPaused && !this.#isOver) this.#input.resume();
  };

  readonly end = (): Promise<void> => {
    this.#flush();
    this.#isEnded = true;
    if (this.#isBroken || this.#output.writableFinished) return Promise.resolve();
    return new Promise((resolve) => {
      this.#output.once('close', resolve).once('error', () => resolve());
      this.#output.end(resolve);
    });
  };

  readonly destroy = (): void => {
    this.drop();
    this.#input.destroy();
  };

  /** As `destroy`, but input is still read and dropped, so that its writer does not run into a broken pipe. */
  drop(): void {
    this.#isEnded = true;
    this.#lines = '';
    this.#output.destroy();
    this.#over();
    this.#input.resume();
  }

  /**
   * The other side cannot go on, as it has ended or does not read any more; what it has sent before still counts. The channel ends when nothing
   * has come for a while, even if another process holds the stream open.
   */
  endSoon(): void {
    if (this.#isExpectingEnd || this.#isOver) return;
    this.#isExpectingEnd = true;
    if (this.#receiver !== undefined) this.#lookAgain(LOOKS);
  }

  #lookAgain(looks: number): void {
    const chunks = this.#chunks;
    const look = (): void => {
      if (this.#isOver) return;
      // While paused, data waits.
      const isQuiet = this.#chunks === chunks && !this.#isPaused;
      if (isQuiet || looks === 0) this.#over();
      else this.#lookAgain(this.#isPaused ? looks : looks - 1);
    };
    // A process that was busy all the time reads first.
    this.#lookLater = setTimeout(() => setImmediate(look), QUIET);
    // A channel that never resumes must not keep the process alive.
    if (this.#isPaused) this.#lookLater.unref();
  }

  readonly #flush = (): void => {
    if (this.#lines === '' || this.#isBroken) return;
    const lines = this.#lines;
    this.#lines = '';
    this.#output.write(lines, this.#confirmations.confirmation());
  };

  readonly #read = (chunk: Buffer | string): void => {
    this.#chunks++;
    this.#decoder.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, this.#guarded);
  };

  /** After `destroy`, the remaining lines of a chunk are dropped. After one that is too long, nothing can be split into lines. */
  readonly #guarded = {
    text: (text: string, isUnended?: boolean): void => {
      if (this.#isPaused) this.#held.push(() => this.#guarded.text(text, isUnended));
      else if (!this.#isOver) this.#receiver!.text(text, isUnended);
    },
    invalid: (why: string, beginning?: string): void => {
      this.#tell(() => {
        if (!this.#isOver) this.#receiver!.invalid(why, beginning);
      });
    },
    tooLong: (limit: number, beginning?: string): void => {
      this.#input.pause();
      this.#tell(() => {
        if (this.#isOver) return;
        this.#receiver!.tooLong(limit, beginning);
        this.#over();
      });
    },
  };

  /** Runs a step now, or after a pause, which may come in the middle of a chunk. */
  #tell(step: () => void): void {
    if (this.#isPaused && !this.#isOver) this.#held.push(step);
    else step();
  }

  #break(): void {
    this.#isBroken = true;
    this.#lines = '';
    this.#confirmations.break();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#lookLater);
    this.#input.off('data', this.#read);
    this.#receiver?.ended(this.#fault);
  }
}
