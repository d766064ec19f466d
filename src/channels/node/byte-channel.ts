import type { Readable, Writable } from 'node:stream';
import { Queue } from '../../async/queue.js';
import { afterUnref } from '../../async/timers.js';
import { type Channel, type Receiver, WriteConfirmations } from '../channel.js';
import { LineDecoder, MAX_LINE_BYTES, oneLine } from '../line-decoder.js';

/** Options of channels over byte streams. */
export interface ByteChannelOptions {
  /** The maximum length of a line in bytes; a longer one ends the connection. @default 33_554_432 */
  readonly maxLineBytes?: number | undefined;
}

/**
 * Creates a channel over byte streams: one JSON document per line, in UTF-8, ended by LF. The output stays open after the end of the input.
 *
 * Source: ACP, transports, "stdio".
 *
 * @throws TypeError if an option is invalid
 */
export function byteChannel(input: Readable, output: Writable, options: ByteChannelOptions = {}): Channel {
  return new ByteChannel(input, output, options);
}

/** The output of a byte channel that is not one text per line. */
export interface Framing {
  /** Encloses one text. */
  readonly frame: (text: string) => string;
  /** Written before the end of the output. */
  readonly ending: string;
}

const LINES: Framing = { frame: (text) => `${oneLine(text)}\n`, ending: '' };

/** Milliseconds without input after which a side that has exited or stopped reading counts as ended. */
const IDLE_MS = 250;
/** The maximum number of these waits, for a side that never stops sending. */
const MAX_WAITS = 40;
/** Milliseconds for which a side that sent a text too long may still send, so that it receives the answer. */
const LINGER_MS = 2000;
/** Events that end the wait of a writer; a stream that is ending emits no `drain`. */
const DRAINED = ['drain', 'finish', 'close', 'error'] as const;

/** The number of deliveries after which other work of the process has its turn: a chunk of the system may have a million of them. */
const MAX_AT_ONCE = 1000;
/** Lines of at least this many characters in total are written immediately. */
const MAX_BATCHED = 1024 * 1024;

/** A channel over byte streams. */
export class ByteChannel implements Channel {
  readonly maxTextBytes: number;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #decoder: LineDecoder;
  readonly #framing: Framing;
  #receiver: Receiver | undefined;
  /** Deliveries that wait for `resume`: a pause may occur in the middle of a chunk. */
  readonly #deferred = new Queue<() => void>();
  #isDelivering = false;
  /** Lines of the current microtask: one write is much cheaper than many. */
  #lines = '';
  readonly #confirmations = new WriteConfirmations();
  #drained: Promise<void> | undefined;
  #failure: Error | undefined;
  #chunks = 0;
  #isExpectingEnd = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #isPaused = true;
  /** `true` until the next turn of the event loop, after many texts. */
  #isYielding = false;
  #atOnce = 0;
  #isEnded = false;
  #isBroken = false;
  #hasFinished = false;
  /** `true` after a text that was too long: the input continues, and is discarded. */
  #isDiscarding = false;

  constructor(input: Readable, output: Writable, { maxLineBytes }: ByteChannelOptions, framing = LINES) {
    this.#framing = framing;
    this.#input = input;
    this.#output = output;
    this.#decoder = new LineDecoder({ maxLineBytes });
    this.maxTextBytes = maxLineBytes ?? MAX_LINE_BYTES;
    // A stream may fail before `start`, and an error event without a listener ends the process.
    input.on('error', (error) => {
      this.#failure ??= error;
      this.#break();
      if (this.#receiver !== undefined) this.#finish();
    });
    output.on('error', (error) => {
      this.#failure ??= error;
      this.#break();
      this.endSoon();
    });
    output.once('close', () => this.#break());
    // Node resumes the output of an exited process by itself.
    input.on('resume', () => {
      if (this.#isHeld && !this.#hasFinished) input.pause();
    });
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    this.#input.on('data', this.#read);
    this.#input.once('end', () => {
      this.#decoder.end(this.#receiverGuard);
      this.#deliver(() => this.#finish());
    });
    this.#input.once('close', () => this.#deliver(() => this.#finish()));
    // Streams that have already ended or failed emit no more events.
    const { readableEnded, destroyed, errored } = this.#input;
    if (readableEnded || destroyed || errored !== null) queueMicrotask(() => this.#finish());
    else if (this.#isExpectingEnd) this.#waitUntilIdle(MAX_WAITS);
    this.resume();
  };

  readonly send = (text: string): void => {
    if (this.#isBroken || this.#isEnded) return;
    if (this.#lines === '') queueMicrotask(this.#flush);
    this.#lines += this.#framing.frame(text);
    this.#confirmations.sent();
    if (this.#lines.length > MAX_BATCHED) this.#flush();
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
    // A stream that failed or was destroyed has that state before it emits `error` or `close`.
    if (this.#output.destroyed || this.#output.errored !== null) this.#break();
    return this.#isEnded && this.#output.writableFinished ? Promise.resolve(false) : this.#confirmations.wait();
  };

  readonly backlog = (): number => this.#lines.length + this.#output.writableLength;

  readonly pause = (): void => {
    this.#isPaused = true;
    this.#input.pause();
  };

  readonly resume = (): void => {
    if (this.#hasFinished) return;
    this.#isPaused = false;
    // The receiver may pause and resume during delivery.
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    while (this.#deferred.size > 0 && !this.#isHeld) this.#deferred.take()();
    this.#isDelivering = false;
    if (!this.#isHeld && !this.#hasFinished) this.#input.resume();
  };

  readonly end = (): Promise<void> => {
    if (!this.#isEnded) this.#lines += this.#framing.ending;
    this.#flush();
    this.#isEnded = true;
    if (this.#isBroken || this.#output.writableFinished) return this.#discarded();
    return new Promise<void>((resolve) => {
      this.#output.once('close', resolve).once('error', () => resolve());
      this.#output.end(resolve);
    }).then(() => this.#discarded());
  };

  /** Resolves when the discarded input has ended. A socket that is closed before resets its connection, and the other side loses the answer. */
  #discarded(): Promise<void> {
    const input = this.#input;
    if (!this.#isDiscarding || this.#isBroken || input.readableEnded || input.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = afterUnref(LINGER_MS, resolve);
      const done = (): void => {
        cancel();
        resolve();
      };
      input.once('end', done).once('close', done);
    });
  }

  readonly destroy = (): void => {
    this.drop();
    this.#input.destroy();
  };

  /** Destroys the channel, but reads and discards the input, so that its writer does not get a broken pipe. */
  drop(): void {
    this.#isEnded = true;
    this.#break();
    this.#output.destroy();
    this.#finish();
    this.#input.resume();
  }

  /**
   * Ends the channel after the other side exited or stopped reading. Input that it sent before is still delivered; the channel ends when there
   * is no more for a while, even if another process holds the stream open.
   */
  endSoon(): void {
    if (this.#isExpectingEnd || this.#hasFinished) return;
    this.#isExpectingEnd = true;
    if (this.#receiver !== undefined) this.#waitUntilIdle(MAX_WAITS);
  }

  #waitUntilIdle(waits: number): void {
    const chunks = this.#chunks;
    const check = (): void => {
      if (this.#hasFinished) return;
      // A paused stream has no events, although data may wait.
      const isIdle = this.#chunks === chunks && !this.#isHeld;
      if (isIdle || waits === 0) this.#finish();
      else this.#waitUntilIdle(this.#isPaused ? waits : waits - 1);
    };
    // Reads first, in case this process was busy all the time.
    this.#idleTimer = setTimeout(() => setImmediate(check), IDLE_MS);
    // A channel that never resumes must not keep the process alive.
    if (this.#isPaused) this.#idleTimer.unref();
  }

  readonly #flush = (): void => {
    if (this.#lines === '' || this.#isBroken) return;
    const lines = this.#lines;
    this.#lines = '';
    const confirm = this.#confirmations.confirmation();
    this.#output.write(lines, (error) => {
      // Node reports success for writes that a destroyed socket discarded.
      if (this.#output.destroyed) this.#break();
      confirm(error);
    });
  };

  readonly #read = (chunk: Buffer | string): void => {
    this.#chunks++;
    this.#decoder.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, this.#receiverGuard);
  };

  /** Passes input to the receiver, except after the end of the channel. */
  readonly #receiverGuard = {
    text: (text: string, isUnterminated?: boolean): void => {
      if (this.#isHeld) this.#deferred.push(() => this.#receiverGuard.text(text, isUnterminated));
      else if (!this.#hasFinished) {
        this.#receiver!.text(text, isUnterminated);
        this.#count();
      }
    },
    invalid: (reason: string, beginning?: string): void => {
      this.#deliver(() => {
        if (!this.#hasFinished) this.#receiver!.invalid(reason, beginning);
        this.#count();
      });
    },
    tooLong: (limit: number, beginning?: string): void => {
      this.#input.pause();
      this.#deliver(() => {
        if (this.#hasFinished) return;
        this.#receiver!.tooLong(limit, beginning);
        this.#finish();
        this.#isDiscarding = true;
        this.#input.resume();
      });
    },
  };

  get #isHeld(): boolean {
    return this.#isPaused || this.#isYielding;
  }

  /** Counts a delivery, and gives way to other work after many. */
  #count(): void {
    if (++this.#atOnce < MAX_AT_ONCE) return;
    this.#atOnce = 0;
    this.#isYielding = true;
    this.#input.pause();
    setImmediate(() => {
      this.#isYielding = false;
      if (!this.#isPaused) this.resume();
    });
  }

  /** Runs a delivery now, or later while the channel is paused. */
  #deliver(deliver: () => void): void {
    if (this.#isHeld && !this.#hasFinished) this.#deferred.push(deliver);
    else deliver();
  }

  #break(): void {
    this.#isBroken = true;
    this.#lines = '';
    this.#confirmations.break();
  }

  #finish(): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    clearTimeout(this.#idleTimer);
    this.#input.off('data', this.#read);
    this.#receiver?.ended(this.#failure);
  }
}
