/** A reader of the events of one session, at its own pace. */
import { after } from '../../../async/timers.js';
import type { StoredEvent } from '../../store/store.js';
import type { EventBus, EventLog, Subscriber } from './log.js';

/** Events may be large, and those that are not taken are read again. */
const PAGE = 32;
const RETRY_MS = 500;

interface CursorOptions {
  readonly log: EventLog;
  readonly bus: EventBus;
  readonly sessionId: string;
  /** Called with each event, in order. It may pause the cursor. */
  readonly take: (event: StoredEvent) => void;
  readonly onError: (error: unknown) => void;
}

/** Reads all events from the first one. Those that are committed in this process while it is up to date arrive without a read of the store. */
export class LogCursor implements Subscriber {
  readonly #options: CursorOptions;
  readonly #unsubscribe: () => void;
  #last = 0;
  #isBehind = false;
  #isReading = false;
  #isPaused = false;
  #isStopped = false;

  constructor(options: CursorOptions) {
    this.#options = options;
    this.#unsubscribe = options.bus.subscribe(options, this);
    this.#fallBehind();
  }

  readonly onEvent = (event: StoredEvent, isGap: boolean): void => {
    if (isGap || this.#isBehind || this.#isReading || this.#isPaused) this.#fallBehind();
    else this.#take(event);
  };

  readonly onTransient = (): void => {};

  readonly onExternalCommit = (): void => this.#fallBehind();

  /** Leaves further events in the store. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isBehind) void this.#read();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
  }

  #fallBehind(): void {
    this.#isBehind = true;
    void this.#read();
  }

  #take(event: StoredEvent): void {
    // A read may have found it before its commit was answered.
    if (event.sequence <= this.#last) return;
    this.#last = event.sequence;
    this.#options.take(event);
  }

  get #isHeld(): boolean {
    return this.#isPaused || this.#isStopped;
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { log, sessionId, onError } = this.#options;
    try {
      while (this.#isBehind && !this.#isHeld) {
        // Events committed while reading are found by the next read.
        this.#isBehind = false;
        const events = await log.store.readEvents({ sessionId, after: this.#last, limit: PAGE });
        const next = events.findIndex((event) => this.#isHeld || void this.#take(event));
        if (next >= 0 || events.length === PAGE) this.#isBehind = true;
      }
    } catch (error) {
      this.#isBehind = true;
      onError(error);
      after(RETRY_MS, () => void this.#read());
    } finally {
      this.#isReading = false;
    }
  }
}
