import { assertDurations } from '../../async/durations.js';
import { notifyListener } from '../../async/listeners.js';
import { afterUnref, everyUnref } from '../../async/timers.js';
import { BEGINNING, type Channel, type Receiver } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { beginningOf } from '../line-decoder.js';
import { type Acknowledgement, ackFrame, closeFrame, frameOf, MAX_HEADER_BYTES, numberedFrame } from './frame.js';
import { Input, type Item } from './input.js';
import { Output } from './output.js';

/** One connection on a message queue, which may lose, repeat and reorder messages. */
export interface QueueLink {
  /** The maximum length of a message in bytes; longer texts are sent in parts. */
  readonly maxMessageBytes: number;
  /** Publishes a message to the other side. */
  readonly publish: (message: Uint8Array) => void;
  /** Receives the messages of the other side, and the end of the connection to the queue. Called once. @returns a function that ends that */
  readonly subscribe: (receive: (message: Uint8Array) => void, closed: (error?: Error) => void) => () => void;
  /** Called when the channel has ended and nothing needs to be published for it. */
  readonly finished?: (() => void) | undefined;
}

/** Options of channels over message queues. */
export interface QueueChannelOptions {
  /** The maximum length of a text in bytes. @default 33554432 (32 MiB) */
  readonly maxTextBytes?: number | undefined;
  /** The number of messages that the other side may send before this side has read them, and that this side sends before an acknowledgement. @default 256 */
  readonly windowMessages?: number | undefined;
  /** The number of bytes in both cases, which the last message may exceed. @default 4194304 (4 MiB) */
  readonly windowBytes?: number | undefined;
  /** Milliseconds without a message to the other side before a heartbeat. @default 5000 */
  readonly heartbeatMs?: number | undefined;
  /** Milliseconds of silence, or without an acknowledgement, after which the other side is lost. @default 20000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds before a message that is not acknowledged is sent again; doubled with each repetition, up to 2000. @default 250 */
  readonly retransmitMs?: number | undefined;
}

/** The longest acknowledged interval: one acknowledgement serves all messages within it. */
const ACK_DELAY_MS = 5;
const MAX_RETRANSMIT_MS = 2000;
/** The smallest share of a message that is left for a text. */
const MIN_PART_BYTES = 64;

const DEFAULTS = {
  maxTextBytes: 32 * 1024 * 1024,
  windowMessages: 256,
  windowBytes: 4 * 1024 * 1024,
  heartbeatMs: 5000,
  timeoutMs: 20_000,
  retransmitMs: 250,
};

type Settings = Readonly<typeof DEFAULTS>;

/** Checks the options of a channel, and adds the defaults. @throws TypeError if an option is invalid */
export function queueSettings(options: QueueChannelOptions): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings = { ...DEFAULTS, ...given } as Settings;
  const { maxTextBytes, windowMessages, windowBytes, heartbeatMs, timeoutMs, retransmitMs } = settings;
  assertDurations({ heartbeatMs, timeoutMs, retransmitMs });
  for (const [name, value] of Object.entries({ maxTextBytes, windowMessages, windowBytes }))
    if (!(value >= 1)) throw new TypeError(`${name} must be a number >= 1; got ${value}`);
  return settings;
}

/**
 * Creates a channel over a message queue. Messages are numbered: repeated ones are dropped, reordered ones are put in order, and lost ones are
 * sent again. The channel ends with an error if the other side is silent, or does not acknowledge a message, for `timeoutMs`. Messages that
 * are not frames of the connection are ignored.
 *
 * @throws TypeError if an option is invalid
 */
export function queueChannel(link: QueueLink, options: QueueChannelOptions = {}): Channel {
  return new QueueChannel(link, queueSettings(options));
}

class QueueChannel implements Channel {
  readonly maxTextBytes: number;
  readonly #link: QueueLink;
  readonly #settings: Settings;
  readonly #partBytes: number;
  readonly #input: Input;
  readonly #output: Output;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #encoder = new TextEncoder();
  #receiver: Receiver | undefined;
  #isPaused = false;
  #isDelivering = false;
  #inputHasEnded = false;
  #outputHasEnded = false;
  /** Present once the connection is over: the answer to frames that still arrive. */
  #lastFrame: Uint8Array | undefined;
  #failure: Error | undefined;
  #heardAt = performance.now();
  #sentAt = 0;
  #silentTicks = 0;
  #retransmitMs: number;
  #cancelRetry: (() => void) | undefined;
  #cancelAck: (() => void) | undefined;
  readonly #stopHeartbeat: () => void;
  readonly #unsubscribe: () => void;
  #waiters: { readonly upTo: number; readonly settle: (isAccepted: boolean) => void }[] = [];
  #readyWaiters: (() => void)[] = [];

  constructor(link: QueueLink, settings: Settings) {
    const { maxTextBytes, heartbeatMs, retransmitMs } = settings;
    this.maxTextBytes = maxTextBytes;
    this.#link = link;
    this.#settings = settings;
    this.#retransmitMs = retransmitMs;
    this.#partBytes = Math.max(MIN_PART_BYTES, link.maxMessageBytes - MAX_HEADER_BYTES);
    this.#input = new Input({ ...settings, maxFrameBytes: link.maxMessageBytes });
    this.#output = new Output(settings, (frame) => this.#publish(numberedFrame(frame, this.#report())));
    this.#stopHeartbeat = everyUnref(heartbeatMs, () => this.#beat());
    this.#unsubscribe = link.subscribe(
      (message) => this.#receive(message),
      (error) => this.#break(error ?? new ConnectionError('closed', 'The connection to the message queue has ended')),
    );
    this.#publish(ackFrame('ask', this.#report()));
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    queueMicrotask(() => this.#deliver());
  };

  readonly send = (text: string): void => {
    if (this.#outputHasEnded || this.#lastFrame !== undefined) return;
    const bytes = this.#encoder.encode(text);
    const size = this.#partBytes;
    let from = 0;
    for (; bytes.length - from > size; from += size) this.#output.push('part', bytes.subarray(from, from + size));
    this.#output.push('text', from === 0 ? bytes : bytes.subarray(from));
    this.#retryLater();
  };

  readonly ready = (): Promise<void> | undefined => {
    if (!this.#output.isWaiting) return undefined;
    return new Promise((resolve) => this.#readyWaiters.push(resolve));
  };

  readonly flushed = (): Promise<boolean> => {
    if (this.#lastFrame !== undefined) return Promise.resolve(false);
    if (this.#output.isEmpty) return Promise.resolve(true);
    const upTo = this.#output.lastNumber;
    return new Promise((settle) => this.#waiters.push({ upTo, settle }));
  };

  readonly backlog = (): number => this.#output.backlog;

  readonly pause = (): void => {
    this.#isPaused = true;
  };

  readonly resume = (): void => {
    this.#isPaused = false;
    this.#deliver();
  };

  readonly end = async (): Promise<void> => {
    if (!this.#outputHasEnded && this.#lastFrame === undefined) {
      this.#outputHasEnded = true;
      this.#output.push('end', new Uint8Array(0));
      this.#retryLater();
    }
    await this.flushed();
  };

  readonly destroy = (): void => {
    this.#close(closeFrame(''));
    this.#input.clear();
    this.#endInput();
  };

  #receive(message: Uint8Array): void {
    const frame = frameOf(message);
    if (frame === undefined) return;
    if (this.#lastFrame !== undefined) {
      // A close is not answered: both sides would repeat it.
      if (frame.kind !== 'close' && frame.kind !== 'ack') this.#publish(this.#lastFrame);
      return;
    }
    this.#heardAt = performance.now();
    if (frame.kind === 'close') {
      const reason = frame.reason === '' ? '' : `: ${frame.reason}`;
      this.#break(new ConnectionError('closed', `The other side has closed the connection${reason}`), frame.reason);
      return;
    }
    if (!this.#acknowledged(frame.ack)) return;
    if (frame.kind === 'ask') this.#acknowledge();
    else if ('number' in frame) {
      this.#input.add(frame);
      this.#acknowledgeLater();
      this.#deliver();
    }
  }

  #acknowledged(ack: Acknowledgement): boolean {
    const before = this.#output.backlog;
    if (!this.#output.acknowledge(ack)) return false;
    if (this.#output.backlog < before) this.#retransmitMs = this.#settings.retransmitMs;
    const isDone = ({ upTo }: { readonly upTo: number }): boolean => upTo < ack.next;
    if (this.#waiters.length > 0) {
      const done = this.#waiters.filter(isDone);
      this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter));
      for (const { settle } of done) settle(true);
    }
    if (!this.#output.isWaiting) for (const resolve of this.#readyWaiters.splice(0)) resolve();
    this.#finishIfDone();
    return true;
  }

  #deliver(): void {
    if (this.#isDelivering || this.#receiver === undefined) return;
    this.#isDelivering = true;
    while (!this.#isPaused && !this.#inputHasEnded) {
      const item = this.#input.take();
      if (item === undefined) break;
      this.#deliverOne(this.#receiver, item);
    }
    this.#isDelivering = false;
    if (this.#lastFrame !== undefined) {
      if (!this.#isPaused) this.#endInput();
    } else if (this.#input.shouldReport) this.#acknowledge();
  }

  #deliverOne(receiver: Receiver, item: Item): void {
    if (item.kind === 'end') {
      this.#endInput();
      this.#finishIfDone();
    } else if (item.kind === 'tooLong') {
      receiver.tooLong(this.maxTextBytes, beginningOf(item.bytes.subarray(0, BEGINNING)));
      this.#close(closeFrame('the text is too long'));
      this.#endInput();
    } else {
      const text = this.#decode(item.bytes);
      if (text === undefined) receiver.invalid('the text is not UTF-8', beginningOf(item.bytes));
      else receiver.text(text);
    }
  }

  #decode(bytes: Uint8Array): string | undefined {
    try {
      return this.#utf8.decode(bytes);
    } catch {
      return undefined;
    }
  }

  /** Reports the end of the input, once. */
  #endInput(): void {
    if (this.#inputHasEnded || this.#receiver === undefined) return;
    this.#inputHasEnded = true;
    this.#receiver.ended(this.#failure);
  }

  /** Ends the connection when both sides have everything. */
  #finishIfDone(): void {
    if (this.#inputHasEnded && this.#outputHasEnded && this.#output.isEmpty)
      this.#close(ackFrame('ack', this.#report()));
  }

  #break(error: Error, reason = error.message): void {
    if (this.#lastFrame !== undefined) return;
    this.#failure = error;
    this.#close(closeFrame(reason));
    this.#deliver();
  }

  /** Ends the connection, and answers later frames for a while, since the last one may be lost. */
  #close(lastFrame: Uint8Array): void {
    if (this.#lastFrame !== undefined) return;
    this.#publish(lastFrame);
    this.#lastFrame = lastFrame;
    this.#stopHeartbeat();
    this.#cancelRetry?.();
    this.#cancelAck?.();
    this.#output.clear();
    for (const { settle } of this.#waiters.splice(0)) settle(false);
    for (const resolve of this.#readyWaiters.splice(0)) resolve();
    afterUnref(this.#settings.timeoutMs, this.#unsubscribe);
    notifyListener(() => this.#link.finished?.());
  }

  #report(): Acknowledgement {
    this.#cancelAck?.();
    this.#cancelAck = undefined;
    return this.#input.report();
  }

  #acknowledge(): void {
    this.#publish(ackFrame('ack', this.#report()));
  }

  /** Acknowledges after a moment, unless a text does so before. */
  #acknowledgeLater(): void {
    this.#cancelAck ??= afterUnref(ACK_DELAY_MS, () => {
      this.#cancelAck = undefined;
      if (this.#lastFrame === undefined) this.#acknowledge();
    });
  }

  #publish(message: Uint8Array): void {
    this.#sentAt = performance.now();
    try {
      this.#link.publish(message);
    } catch (cause) {
      // Later, since a caller of `send` does not expect the end of the channel before it returns.
      const error = new ConnectionError('closed', 'A message could not be published', { cause });
      queueMicrotask(() => this.#break(error));
    }
  }

  #retryLater(): void {
    if (this.#output.isEmpty || this.#lastFrame !== undefined) return;
    this.#cancelRetry ??= afterUnref(this.#retransmitMs, () => {
      this.#cancelRetry = undefined;
      const unacknowledgedMs = this.#output.retry(performance.now() - this.#retransmitMs);
      if (unacknowledgedMs > this.#settings.timeoutMs) {
        this.#break(new ConnectionError('closed', 'A message was lost: the other side does not acknowledge it'));
        return;
      }
      // The credits may have been lost.
      if (this.#output.isWaiting) this.#publish(ackFrame('ask', this.#report()));
      this.#retransmitMs = Math.min(2 * this.#retransmitMs, Math.max(MAX_RETRANSMIT_MS, this.#settings.retransmitMs));
      this.#retryLater();
    });
  }

  #beat(): void {
    const now = performance.now();
    // At the first beat after this process was stopped, messages may wait to be read.
    this.#silentTicks = now - this.#heardAt > this.#settings.timeoutMs ? this.#silentTicks + 1 : 0;
    if (this.#silentTicks > 1) this.#break(new ConnectionError('closed', 'The other side does not answer'));
    else if (now - this.#sentAt >= this.#settings.heartbeatMs / 2) this.#publish(ackFrame('ask', this.#report()));
  }
}
