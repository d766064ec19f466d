/** The feed of an inspector: the last messages that were seen, in order, and the connections that carry them. Portable. */
import { notifyListener } from '../async/listeners.js';

/** The side that sent a message: `log` if a log does not record it. */
export type Side = 'client' | 'server' | 'log';

/** A message, or an event of a connection. */
export interface FeedRecord {
  /** The position in the feed, counted from 1. */
  readonly n: number;
  /** Milliseconds since 1970; 0 if it is unknown. */
  readonly t: number;
  /** The side that sent it. */
  readonly side: Side;
  /** The connection or session that carried it, or an empty string. */
  readonly session: string;
  /** The text of the message; the description of an event. */
  readonly text: string;
  /** `message`, or an event of the connection. */
  readonly kind?: 'opened' | 'closed' | 'note' | undefined;
  /** The length of the whole text, in UTF-16 code units, if it was cut. */
  readonly length?: number | undefined;
  /** `true` if the inspector sent the message. */
  readonly isOwn?: boolean | undefined;
  /** `true` for the opening of a connection on which the inspector can send. */
  readonly canSend?: boolean | undefined;
  /** The error that a check of the message found. */
  readonly verdict?: { readonly code: string; readonly message: string } | undefined;
}

/** A record to add. */
export type NewRecord = Omit<FeedRecord, 'n' | 't' | 'length' | 'verdict'> & { readonly t?: number | undefined };

/**
 * The reason why a message cannot be sent.
 *
 * - `unknown-connection`: the connection does not exist
 * - `connection-closed`: the connection has ended
 * - `wrong-side`: messages of this side cannot be sent over the connection
 * - `unreachable`: the other side cannot be reached
 */
export type SendRefusal = 'unknown-connection' | 'connection-closed' | 'wrong-side' | 'unreachable';

/** Sends a message over a connection as one of its sides, and records it. @returns the reason why it cannot */
export type Inject = (
  text: string,
  side: 'client' | 'server',
) => SendRefusal | undefined | Promise<SendRefusal | undefined>;

/** A connection whose messages are recorded. */
export interface Line {
  /** The name in the records. */
  readonly session: string;
  /** Records a message. */
  readonly record: (side: Side, text: string) => void;
  /** Records an event. */
  readonly note: (side: Side, text: string) => void;
  /** Records the end of the connection, after which nothing can be sent. */
  readonly close: (reason?: string) => void;
}

/** Options of {@link Feed}. */
export interface FeedOptions {
  /** The maximum number of records; the oldest are removed. @default 100000 */
  readonly maxRecords?: number | undefined;
  /** The maximum length of all texts, in UTF-16 code units. @default 67108864 */
  readonly maxLength?: number | undefined;
  /** Longer texts are cut, in UTF-16 code units. @default 1048576 */
  readonly maxTextLength?: number | undefined;
  /** Checks a message. @default no check */
  readonly check?: ((text: string) => FeedRecord['verdict']) | undefined;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** The last messages of all connections. Readers continue after the last position that they have read. */
export class Feed {
  readonly #options: { readonly [K in keyof Omit<FeedOptions, 'check'>]-?: NonNullable<FeedOptions[K]> } & Pick<
    FeedOptions,
    'check'
  >;
  readonly #listeners = new Set<() => void>();
  readonly #lines = new Map<string, { readonly inject: Inject | undefined; isOpen: boolean }>();
  /** The records; those before `#start` are removed, and their memory is reclaimed in batches. */
  #records: FeedRecord[] = [];
  #start = 0;
  #length = 0;
  #last = 0;
  #names = 0;

  constructor(options: FeedOptions = {}) {
    const { maxRecords = 100_000, maxLength = 2 ** 26, maxTextLength = 2 ** 20, check, now = Date.now } = options;
    this.#options = { maxRecords, maxLength, maxTextLength, check, now };
  }

  /** The position of the last record; 0 without records. */
  get last(): number {
    return this.#last;
  }

  /** The number of removed records. */
  get dropped(): number {
    return this.#last - (this.#records.length - this.#start);
  }

  /** Adds a record. */
  add({ t = this.#options.now(), text, ...rest }: NewRecord): void {
    const { maxRecords, maxLength, maxTextLength, check } = this.#options;
    const verdict = rest.kind === undefined ? check?.(text) : undefined;
    const isCut = text.length > maxTextLength;
    const record: FeedRecord = {
      n: ++this.#last,
      t,
      ...rest,
      text: isCut ? text.slice(0, maxTextLength) : text,
      ...(isCut ? { length: text.length } : {}),
      ...(verdict === undefined ? {} : { verdict }),
    };
    this.#records.push(record);
    this.#length += record.text.length;
    while (this.#records.length - this.#start > maxRecords || (this.#length > maxLength && record !== this.#first))
      this.#length -= this.#records[this.#start++]!.text.length;
    if (this.#start > 1024 && this.#start > this.#records.length / 2) {
      this.#records = this.#records.slice(this.#start);
      this.#start = 0;
    }
    for (const listener of this.#listeners) notifyListener(listener);
  }

  get #first(): FeedRecord {
    return this.#records[this.#start]!;
  }

  /** Returns at most `limit` records after a position, of at most about `maxLength` UTF-16 code units. */
  after(position: number, limit: number, maxLength = Number.POSITIVE_INFINITY): readonly FeedRecord[] {
    const from = this.#start + Math.max(0, position - this.dropped);
    const found: FeedRecord[] = [];
    let length = 0;
    for (let at = from; at < this.#records.length && found.length < limit && length < maxLength; at++) {
      const record = this.#records[at]!;
      found.push(record);
      length += record.text.length;
    }
    return found;
  }

  /** Calls a listener after each record. @returns a function that ends the calls */
  watch(listener: () => void): () => void {
    // The same function may be added twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /**
   * Adds a connection.
   *
   * @param about describes the connection
   * @param inject sends messages over it. @default none can be sent
   * @param session the name of the connection. @default `c1`, `c2`, ...
   */
  open(about: string, inject?: Inject, session = `c${++this.#names}`): Line {
    const line = { inject, isOpen: true };
    this.#lines.set(session, line);
    const add = (side: Side, text: string, kind?: FeedRecord['kind']): void =>
      this.add({ side, session, text, ...(kind === undefined ? {} : { kind }) });
    this.add({ side: 'log', session, text: about, kind: 'opened', ...(inject === undefined ? {} : { canSend: true }) });
    return {
      session,
      record: (side, text) => add(side, text),
      note: (side, text) => add(side, text, 'note'),
      close: (reason = '') => {
        if (!line.isOpen) return;
        line.isOpen = false;
        add('log', reason, 'closed');
        // The names of closed connections only give a better error.
        if (this.#lines.size > MAX_LINES) this.#lines.delete(session);
      },
    };
  }

  /** Sends a message over a connection. @returns the reason why it cannot be sent; `undefined` if it was sent */
  async send(session: string, side: 'client' | 'server', text: string): Promise<SendRefusal | undefined> {
    const line = this.#lines.get(session);
    if (line === undefined) return 'unknown-connection';
    if (!line.isOpen) return 'connection-closed';
    return line.inject === undefined ? 'wrong-side' : line.inject(text, side);
  }

  /** Records a message that the inspector sends. */
  own(session: string, side: Side, text: string): void {
    this.add({ side, session, text, isOwn: true });
  }
}

const MAX_LINES = 4096;
