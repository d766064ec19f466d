/** A channel over byte streams: stdio, pipes, sockets. */
import type { Readable, Writable } from 'node:stream';
import type { Channel, Receiver } from '../channel.js';
import { LineDecoder } from '../line-decoder.js';

export interface ByteChannelOptions {
  /** Most bytes of one line; a longer one ends the connection. @default 32 MiB */
  readonly maxLineBytes?: number | undefined;
}

/**
 * One JSON document a line, UTF-8, each line ended by LF (ACP, transports, "stdio"). The streams exist already: there is nothing to set
 * up. That the input has ended does not stop the output.
 *
 * @throws TypeError on options that are none
 */
export function byteChannel(input: Readable, output: Writable, options: ByteChannelOptions = {}): Channel {
  return new ByteChannel(input, output, options);
}

class ByteChannel implements Channel {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #decoder: LineDecoder;
  #receiver: Receiver | undefined;
  /** Lines of this turn: one write is much cheaper than many. */
  #lines = '';
  #drained: Promise<void> | undefined;
  #isEnded = false;
  #isBroken = false;
  #isOver = false;

  constructor(input: Readable, output: Writable, { maxLineBytes }: ByteChannelOptions) {
    this.#input = input;
    this.#output = output;
    this.#decoder = new LineDecoder({ maxLineBytes });
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    this.#input.on('data', this.#read);
    this.#input.once('end', () => {
      this.#decoder.end(this.#guarded);
      this.#over();
    });
    this.#input.once('error', (error) => this.#break(error));
    this.#input.once('close', () => this.#over());
    this.#output.on('error', (error) => this.#break(error));
    this.#output.once('close', () => {
      this.#isBroken = true;
    });
    // What ended or broke before says nothing more.
    if (this.#input.readableEnded || this.#input.destroyed)
      queueMicrotask(() => this.#over(this.#input.errored ?? undefined));
  };

  readonly send = (text: string): void => {
    if (this.#isBroken || this.#isEnded) return;
    if (this.#lines === '') queueMicrotask(this.#flush);
    this.#lines += `${text}\n`;
  };

  readonly ready = (): Promise<void> | undefined => {
    if (this.#lines.length > this.#output.writableHighWaterMark) this.#flush();
    if (this.#isBroken || !this.#output.writableNeedDrain) return undefined;
    // One for all who wait.
    this.#drained ??= new Promise((resolve) => {
      const done = (): void => {
        this.#drained = undefined;
        this.#output.off('drain', done).off('close', done).off('error', done);
        resolve();
      };
      this.#output.on('drain', done).on('close', done).on('error', done);
    });
    return this.#drained;
  };

  readonly backlog = (): number => this.#lines.length + this.#output.writableLength;

  readonly pause = (): void => {
    this.#input.pause();
  };

  readonly resume = (): void => {
    if (!this.#isOver) this.#input.resume();
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
    this.#isEnded = true;
    this.#lines = '';
    this.#input.destroy();
    this.#output.destroy();
    this.#over();
  };

  readonly #flush = (): void => {
    if (this.#lines === '' || this.#isBroken) return;
    const lines = this.#lines;
    this.#lines = '';
    this.#output.write(lines);
  };

  readonly #read = (chunk: Buffer | string): void => {
    if (!this.#isOver) this.#decoder.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, this.#guarded);
  };

  /** After a line that is too long nothing can be told apart. */
  readonly #guarded = {
    text: (text: string): void => this.#receiver!.text(text),
    garbage: (why: string): void => this.#receiver!.garbage(why),
    tooLong: (limit: number): void => {
      this.#receiver!.tooLong(limit);
      this.#input.pause();
      this.#over();
    },
  };

  #break(error: Error): void {
    this.#isBroken = true;
    this.#lines = '';
    this.#over(error);
  }

  #over(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#input.off('data', this.#read);
    this.#receiver?.ended(error);
  }
}
