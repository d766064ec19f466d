import { Queue } from '../../async/queue.js';
import { serverSentEvent } from '../../channels/event-stream.js';

/** The response of a GET request, which transmits the events of one stream. */
export interface EventSink {
  /**
   * Writes text.
   *
   * @param done called when it is transmitted, or with `false` if it is lost
   * @returns `false` if the next write should wait for {@link Outbox.drained}
   */
  readonly write: (text: string, done: (isTransmitted: boolean) => void) => boolean;
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

/** Receives the changes of an {@link Outbox}. */
export interface OutboxObserver {
  /** Called when the backlog has changed by so much. */
  readonly changed: (difference: number) => void;
  /** Called when an event was transmitted for the first time. */
  readonly transmitted: () => void;
}

/** The messages of one stream: those that wait for a reader, and those that a reader may have missed. */
export class Outbox {
  readonly #waiting = new Queue<Event>();
  #waitingLength = 0;
  /** Events that were written, for a reader that continues. */
  readonly #written = new Queue<Event>();
  #writtenLength = 0;
  /** The length of the events that the present reader was sent, and that are not transmitted. */
  #unsentLength = 0;
  #lastId = 0;
  /** The last event that is transmitted to the present reader, and to any. */
  #transmittedId = 0;
  #newestId = 0;
  #sink: EventSink | undefined;
  #isFull = false;
  #hasEnded = false;
  readonly #replayLength: number;
  readonly #observer: OutboxObserver;

  /**
   * @param replayLength the maximum length of events that are kept after they were written; 0 keeps none, and events then have no identifiers
   */
  constructor(replayLength: number, observer: OutboxObserver) {
    this.#replayLength = replayLength;
    this.#observer = observer;
  }

  /** Returns `true` if a reader is attached. */
  get isRead(): boolean {
    return this.#sink !== undefined;
  }

  /** Returns `true` if it has ended, and all events are transmitted. */
  get isDone(): boolean {
    return this.#hasEnded && this.#transmittedId === this.#lastId;
  }

  /** Adds a message. */
  push(text: string): void {
    if (this.#hasEnded) return;
    this.#waiting.push({ id: ++this.#lastId, text });
    this.#addWaiting(text.length);
    this.pump();
  }

  /**
   * Attaches a reader.
   *
   * @param lastId the last event that the reader has read, or 0; `undefined` if it does not continue a stream
   */
  attach(sink: EventSink, lastId: number | undefined): Attached {
    if (this.#sink !== undefined && (lastId === undefined || this.#replayLength === 0)) return 'busy';
    if (this.#replayLength > 0) {
      const refusal = this.#rewind(lastId ?? 0);
      if (refusal !== undefined) return refusal;
      // The previous reader may not have noticed that its connection is lost.
      const previous = this.#sink;
      this.#leave();
      previous?.destroy();
    }
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
    this.#transmittedId = lastId;
    for (const { text } of missed) this.#addWaiting(text.length);
    return undefined;
  }

  #addWaiting(length: number): void {
    this.#waitingLength += length;
    this.#observer.changed(length);
  }

  #addUnsent(length: number): void {
    this.#unsentLength += length;
    this.#observer.changed(length);
  }

  /** Forgets the reader, and what it was sent. */
  #leave(): void {
    this.#sink = undefined;
    this.#addUnsent(-this.#unsentLength);
  }

  /** Detaches a reader whose response has closed. */
  detach(sink: EventSink): boolean {
    if (this.#sink !== sink) return false;
    this.#leave();
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
    if (!this.#hasEnded || this.#waiting.size > 0) return;
    this.#sink?.end();
    // The agent does not wait for what an ended response still has to transmit.
    this.#addUnsent(-this.#unsentLength);
  }

  #write(event: Event): void {
    const { id, text } = event;
    const sink = this.#sink!;
    this.#addUnsent(text.length);
    this.#addWaiting(-text.length);
    if (this.#replayLength > 0) {
      this.#written.push(event);
      this.#writtenLength += text.length;
    }
    const written = serverSentEvent(text, this.#replayLength > 0 ? String(id) : undefined);
    this.#isFull = !sink.write(written, (isTransmitted) => {
      if (isTransmitted && this.#sink === sink) this.#transmitted(event);
    });
  }

  #transmitted({ id, text }: Event): void {
    this.#transmittedId = id;
    this.#addUnsent(-Math.min(text.length, this.#unsentLength));
    this.#trim();
    if (id <= this.#newestId) return;
    this.#newestId = id;
    this.#observer.transmitted();
  }

  /** Discards the oldest events that are transmitted, but never the newest one: it may be on its way, however long it is. */
  #trim(): void {
    while (
      this.#writtenLength > this.#replayLength &&
      this.#written.size > 1 &&
      this.#written.first!.id <= this.#transmittedId
    )
      this.#writtenLength -= this.#written.take().text.length;
  }

  /** Keeps the connection of the reader open through proxies. */
  comment(text: string): void {
    if (!this.#isFull) this.#sink?.write(text, () => undefined);
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
    this.#addWaiting(-this.#waitingLength);
    this.#writtenLength = 0;
    const sink = this.#sink;
    this.#leave();
    sink?.destroy();
  }
}
