/** The position of a client, saved periodically. */
import type { MessageType } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import type { Cursor, CursorStore } from './types.js';

/** Messages that a runtime does not store, so that a client cannot resume after them. */
const TRANSIENT: ReadonlySet<MessageType> = new Set([
  'session.accepted',
  'ping',
  'pong',
  'ack',
  'nack',
  'job.heartbeat',
  'backpressure',
]);

const SAVE_INTERVAL_MS = 100;

export class CursorWriter {
  readonly #store: CursorStore | undefined;
  readonly #onError: (error: unknown) => void;
  #cursor: Partial<Cursor>;
  #save: ReturnType<typeof setTimeout> | undefined;

  constructor(store: CursorStore | undefined, cursor: Cursor | undefined, onError: (error: unknown) => void) {
    this.#store = store;
    this.#cursor = cursor ?? {};
    this.#onError = onError;
  }

  get position(): Partial<Cursor> {
    return this.#cursor;
  }

  update(to: Partial<Cursor>): void {
    this.#cursor = { ...this.#cursor, ...to };
    if (this.#store !== undefined) this.#save ??= setTimeout(() => void this.saveNow(), SAVE_INTERVAL_MS);
  }

  advance(message: Envelope): void {
    // The position is one in the session. Messages of a job of another session have positions of their own.
    const isForeign = message.session_id !== undefined && message.session_id !== this.#cursor.sessionId;
    if (!isForeign && !isTransient(message)) this.update({ lastMessageId: message.id });
  }

  async saveNow(): Promise<void> {
    clearTimeout(this.#save);
    this.#save = undefined;
    const { sessionId, resumeToken, lastMessageId } = this.#cursor;
    if (sessionId === undefined) return;
    try {
      await this.#store?.save({ sessionId, resumeToken, lastMessageId });
    } catch (error) {
      this.#onError(error);
    }
  }
}

function isTransient(message: Envelope): boolean {
  if (message.type === 'event.emit') return message.payload.name === 'arcp.inventory.changed';
  if (message.type === 'job.accepted') return message.payload.duplicate === true;
  // The refusal of a stream of the client. Streams of the runtime belong to a job or a call.
  if (message.type === 'stream.error') return message.job_id === undefined && message.correlation_id === undefined;
  return TRANSIENT.has(message.type);
}
