import { Queue } from '../async/queue.js';
import { nextTurn } from '../async/timers.js';
import type { Channel, Receiver } from './channel.js';

/**
 * Makes both ends of a channel in memory: for agents in the same process, and for tests. What one end sends, the other gets in order, never
 * within the same call.
 *
 * @example
 * const [here, there] = memoryChannels();
 */
export function memoryChannels(): [Channel, Channel] {
  const one = new End();
  const other = new End();
  one.connect(other);
  other.connect(one);
  return [one, other];
}

class End implements Channel {
  #other!: End;
  #receiver: Receiver | undefined;
  #isPaused = false;
  /** Received and not delivered yet; `null` is the end. */
  readonly #arrived = new Queue<string | null>();
  #characters = 0;
  #isDelivering = false;
  #hasEnded = false;
  #isOver = false;
  #wake: (() => void)[] = [];

  connect(other: End): void {
    this.#other = other;
  }

  readonly start = (receiver: Receiver): void => {
    this.#receiver = receiver;
    this.#deliver();
  };

  readonly send = (text: string): void => {
    if (!this.#hasEnded) this.#other.#take(text);
  };

  readonly ready = (): Promise<void> | undefined => {
    const other = this.#other;
    if (other.#arrived.size === 0 || other.#isOver) return undefined;
    return new Promise((resolve) => other.#wake.push(resolve));
  };

  readonly flushed = async (): Promise<boolean> => {
    await this.ready();
    return !(this.#hasEnded || this.#other.#isOver);
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
    this.#over();
  };

  #end(): void {
    if (!this.#hasEnded) this.#other.#take(null);
    this.#hasEnded = true;
  }

  #take(text: string | null): void {
    if (this.#isOver) return;
    this.#arrived.push(text);
    this.#characters += text?.length ?? 0;
    this.#deliver();
  }

  #deliver(): void {
    if (this.#isDelivering || this.#isPaused || this.#receiver === undefined || this.#arrived.size === 0) return;
    this.#isDelivering = true;
    nextTurn(() => {
      this.#isDelivering = false;
      // What comes meanwhile waits for another turn, so that the receiver can pause.
      for (let left = this.#arrived.size; left > 0 && !this.#isPaused && !this.#isOver; left--)
        this.#tell(this.#arrived.take());
      if (this.#arrived.size === 0) this.#emptied();
      else this.#deliver();
    });
  }

  #tell(text: string | null): void {
    if (text === null) {
      this.#over();
      return;
    }
    this.#characters -= text.length;
    this.#receiver!.text(text);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#arrived.clear();
    this.#characters = 0;
    this.#emptied();
    this.#receiver?.ended();
  }

  #emptied(): void {
    for (const resolve of this.#wake.splice(0)) resolve();
  }
}
