/** A message bus in this process that loses, repeats and reorders messages by a seed. */
import { ConnectionError } from '../../../src/channels/errors.js';
import type { MessageBus } from '../../../src/channels/queue/dial.js';
import { createRandom } from '../../../src/text/random.js';

export interface Faults {
  /** The shares of messages that are lost, repeated, and delayed so that later ones overtake them. */
  readonly lose?: number;
  readonly repeat?: number;
  readonly reorder?: number;
  /** Changes each message before it is delivered. */
  readonly change?: (subject: string, message: Uint8Array) => Uint8Array;
}

export class FakeBus implements MessageBus {
  readonly maxMessageBytes: number;
  faults: Faults;
  /** `true` while all messages are lost. */
  isDown = false;
  counts = { lost: 0, repeated: 0, reordered: 0, published: 0 };
  readonly #random;
  readonly #subscribers = new Map<string, Set<(message: Uint8Array) => void>>();
  readonly #shared = new Map<string, Set<(message: Uint8Array) => void>>();
  readonly #closed = new Set<(error?: Error) => void>();

  constructor(seed: number, faults: Faults = {}, maxMessageBytes = 64 * 1024) {
    this.#random = createRandom(seed);
    this.faults = faults;
    this.maxMessageBytes = maxMessageBytes;
  }

  get subscriptions(): number {
    return [...this.#subscribers.values(), ...this.#shared.values()].reduce((sum, { size }) => sum + size, 0);
  }

  readonly publish = (subject: string, message: Uint8Array): void => {
    if (message.length > this.maxMessageBytes) throw new Error('the message is too long');
    const { lose = 0, repeat = 0, reorder = 0 } = this.faults;
    this.counts.published++;
    if (this.isDown || this.#random.next() < lose) {
      this.counts.lost++;
      return;
    }
    const copies = this.#random.next() < repeat ? 2 : 1;
    this.counts.repeated += copies - 1;
    for (let copy = 0; copy < copies; copy++) {
      const isLate = this.#random.next() < reorder;
      if (isLate) this.counts.reordered++;
      if (isLate) setTimeout(() => this.#deliver(subject, message), this.#random.integer(1, 10));
      else setImmediate(() => this.#deliver(subject, message));
    }
  };

  readonly subscribe: MessageBus['subscribe'] = async (subject, receive, { isShared = false } = {}) => {
    const all = isShared ? this.#shared : this.#subscribers;
    const receivers = all.get(subject) ?? new Set();
    all.set(subject, receivers.add(receive));
    return () => {
      receivers.delete(receive);
      if (receivers.size === 0) all.delete(subject);
    };
  };

  readonly onClosed = (listener: (error?: Error) => void): (() => void) => {
    this.#closed.add(listener);
    return () => this.#closed.delete(listener);
  };

  /** Ends the connection to the bus. */
  close(): void {
    this.isDown = true;
    for (const listener of [...this.#closed]) listener(new ConnectionError('closed', 'The bus was closed'));
  }

  #deliver(subject: string, message: Uint8Array): void {
    if (this.isDown) return;
    const delivered = this.faults.change?.(subject, message) ?? message;
    for (const receive of [...(this.#subscribers.get(subject) ?? [])]) receive(delivered);
    const shared = [...(this.#shared.get(subject) ?? [])];
    if (shared.length > 0) this.#random.pick(shared)(delivered);
  }
}

/** Gives each numbered frame the number in which it arrives, so that a loss or a repetition has no trace. */
export function withoutNumbers(): NonNullable<Faults['change']> {
  const counts = new Map<string, number>();
  return (subject, message) => {
    const text = new TextDecoder().decode(message);
    const [, kind, rest] = /^(text|part|end) \d+ (.*)$/s.exec(text) ?? [];
    if (kind === undefined) return message;
    const number = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, number);
    return new TextEncoder().encode(`${kind} ${number} ${rest}`);
  };
}
