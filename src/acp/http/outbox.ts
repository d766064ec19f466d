import { Queue } from '../../async/queue.js';
import { serverSentEvent } from '../../channels/event-stream.js';

/** The response of a GET request, which transmits the events of one stream. */
export interface EventSink {
  /**
   * Writes text.
   *
   * @param done called when it is transmitted
   * @returns `false` if the next write should wait for {@link Outbox.drained}
   */
  readonly write: (text: string, done: () => void) => boolean;
  /** Returns the number of bytes that were written and are not transmitted. */
  readonly backlog: () => number;
  /** Ends the response. */
  readonly end: () => void;
  /** Breaks the connection of the response. */
  readonly destroy: () => void;
}

/** The outcome of {@link Outbox.attach}. */
export type Attached = 'attached' | 'busy' | 'unknown-event' | 'events-lost';

interface Event {
  readonly id: number;
  readonly text: string;
}

/** The messages of one stream: those that wait for a reader, and those that a reader may have missed. */
export class Outbox {
  readonly #waiting = new Queue<Event>();
  #waitingLength = 0;
  /** Events that were written, for a reader that continues. */
  readonly #written = new Queue<Event>();
  #writtenLength = 0;
  #lastId = 0;
  #sink: EventSink | undefined;
  #isFull = false;
  #hasEnded = false;
  readonly #replayLength: number;
  readonly #onProgress: () => void;

  /**
   * @param replayLength the maximum length of events that are kept after they were written; 0 keeps none, and events then have no identifiers
   * @param onProgress called when events were transmitted
   */
  constructor(replayLength: number, onProgress: () => void) {
    this.#replayLength = replayLength;
    this.#onProgress = onProgress;
  }

  /** Returns `true` if a reader is attached. */
  get isRead(): boolean {
    return this.#sink !== undefined;
  }

  /** The length of the messages that are not transmitted. */
  get backlog(): number {
    return this.#waitingLength + (this.#sink?.backlog() ?? 0);
  }

  /** Adds a message. */
  push(text: string): void {
    if (this.#hasEnded) return;
    this.#waiting.push({ id: ++this.#lastId, text });
    this.#waitingLength += text.length;
    this.pump();
  }

  /**
   * Attaches a reader.
   *
   * @param lastId the last event that the reader has read; `undefined` if it does not continue a stream
   */
  attach(sink: EventSink, lastId: number | undefined): Attached {
    if (this.#replayLength > 0) {
      const refusal = this.#rewind(lastId ?? 0);
      if (refusal !== undefined) return refusal;
      // The previous reader may not have noticed that its connection is lost.
      const previous = this.#sink;
      this.#sink = undefined;
      previous?.destroy();
    } else if (this.#sink !== undefined) return 'busy';
    this.#sink = sink;
    this.#isFull = false;
    return 'attached';
  }

  /** Moves the events after `lastId` back to those that wait. */
  #rewind(lastId: number): Attached | undefined {
    if (lastId > this.#lastId) return 'unknown-event';
    const firstWaiting = this.#waiting.first?.id ?? this.#lastId + 1;
    if (lastId >= firstWaiting) return 'unknown-event';
    const firstKept = this.#written.first?.id ?? firstWaiting;
    if (lastId + 1 < firstKept) return 'events-lost';
    const missed = this.#written.clear().filter(({ id }) => id > lastId);
    this.#writtenLength = 0;
    this.#waiting.unshift(missed);
    for (const { text } of missed) this.#waitingLength += text.length;
    return undefined;
  }

  /** Detaches a reader whose response has closed. */
  detach(sink: EventSink): boolean {
    if (this.#sink !== sink) return false;
    this.#sink = undefined;
    return true;
  }

  /** Continues after the reader has accepted what was written. */
  drained(): void {
    this.#isFull = false;
    this.pump();
  }

  /** Writes the waiting messages. */
  pump(): void {
    while (this.#sink !== undefined && !this.#isFull && this.#waiting.size > 0) this.#write(this.#waiting.take());
    if (this.#hasEnded && this.#waiting.size === 0) this.#sink?.end();
  }

  #write(event: Event): void {
    const { id, text } = event;
    this.#waitingLength -= text.length;
    if (this.#replayLength > 0) {
      this.#written.push(event);
      this.#writtenLength += text.length;
      while (this.#writtenLength > this.#replayLength) this.#writtenLength -= this.#written.take().text.length;
    }
    const written = serverSentEvent(text, this.#replayLength > 0 ? String(id) : undefined);
    this.#isFull = !this.#sink!.write(written, this.#onProgress);
  }

  /** Keeps the connection of the reader open through proxies. */
  comment(text: string): void {
    if (!this.#isFull) this.#sink?.write(text, this.#onProgress);
  }

  /** Ends the stream after the waiting messages. */
  end(): void {
    this.#hasEnded = true;
    this.pump();
  }

  /** Discards all messages and breaks the connection of the reader. */
  destroy(): void {
    this.#hasEnded = true;
    this.#waiting.clear();
    this.#written.clear();
    this.#waitingLength = 0;
    this.#writtenLength = 0;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.destroy();
  }
}
