import { Queue } from '../async/queue.js';
import { nextTurn } from '../async/timers.js';
import type { Channel, Receiver } from './channel.js';

/**
 * Creates both ends of a channel in memory, for agents in the same process and for tests. One end receives asynchronously, in order, what the
 * other sends.
 *
 * @example
 * const [here, there] = memoryChannels();
 */
export function memoryChannels(): [Channel, Channel] {
  const one = new ChannelEnd();
  const other = new ChannelEnd();
  one.connect(other);
  other.connect(one);
  return [one, other];
}

class ChannelEnd implements Channel {
  #other!: ChannelEnd;
  #receiver: Receiver | undefined;
  #isPaused = false;
  /** Texts that are received and not yet delivered; `null` is the end. */
  readonly #received = new Queue<string | null>();
  #characters = 0;
  #isDelivering = false;
  #hasEnded = false;
  #hasFinished = false;
  #drainListeners: (() => void)[] = [];

  connect(other: ChannelEnd): void {
    this.#other = other;
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    this.#deliver();
  };

  readonly send = (text: string): void => {
    if (!this.#hasEnded) this.#other.#receive(text);
  };

  readonly ready = (): Promise<void> | undefined => {
    const other = this.#other;
    if (other.#received.size === 0 || other.#hasFinished || this.#hasFinished) return undefined;
    return new Promise((resolve) => other.#drainListeners.push(resolve));
  };

  readonly flushed = async (): Promise<boolean> => {
    await this.ready();
    return !(this.#hasEnded || this.#other.#hasFinished);
  };

  readonly backlog = (): number => this.#other.#characters;

  readonly pause = (): void => {
    this.#isPaused = true;
  };

  readonly resume = (): void => {
    this.#isPaused = false;
    this.#deliver();
  };

  readonly end = async (): Promise<void> => {
    this.#end();
    await this.ready();
  };

  readonly destroy = (): void => {
    this.#end();
    this.#finish();
  };

  #end(): void {
    if (!this.#hasEnded) this.#other.#receive(null);
    this.#hasEnded = true;
  }

  #receive(text: string | null): void {
    if (this.#hasFinished) return;
    this.#received.push(text);
    this.#characters += text?.length ?? 0;
    this.#deliver();
  }

  #deliver(): void {
    if (this.#isDelivering || this.#isPaused || this.#receiver === undefined || this.#received.size === 0) return;
    this.#isDelivering = true;
    nextTurn(() => {
      this.#isDelivering = false;
      // Texts that arrive meanwhile wait for the next iteration, so that the receiver can pause.
      for (let count = this.#received.size; count > 0 && !this.#isPaused && !this.#hasFinished; count--)
        this.#deliverOne(this.#received.take());
      if (this.#received.size === 0) this.#notifyDrained();
      else this.#deliver();
    });
  }

  #deliverOne(text: string | null): void {
    if (text === null) {
      this.#finish();
      return;
    }
    this.#characters -= text.length;
    this.#receiver!.text(text);
  }

  #finish(): void {
    if (this.#hasFinished) return;
    this.#hasFinished = true;
    this.#received.clear();
    this.#characters = 0;
    this.#notifyDrained();
    // This end no longer waits for the other to read.
    this.#other.#notifyDrained();
    this.#receiver?.ended();
  }

  #notifyDrained(): void {
    for (const resolve of this.#drainListeners.splice(0)) resolve();
  }
}
