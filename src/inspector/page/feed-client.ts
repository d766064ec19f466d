/** The state of the page: the messages of the feed, and the connection to the server. */
import type { FeedRecord } from '../feed.js';
import { Activity } from './activity.js';
import { type Message, rowOf } from './message.js';

/** The description of the source, which the feed begins with. */
export interface Hello {
  readonly source: string;
  readonly protocol: string;
  readonly allowSend: boolean;
  readonly dropped: number;
}

/** The state of the connection to the server. */
export type Status = 'connecting' | 'live' | 'lost' | 'refused';

/** The answer of the server to a message to send. */
export type SendResult = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** More messages than this are removed from the page, oldest first. */
const MAX_MESSAGES = 100_000;
const SPARE = 10_000;
const RETRY_MS = 1000;
const TOKEN_KEY = 'pegwire-inspector-token';

/** The state of the page. Components are rendered at most once per frame. */
export class FeedClient {
  messages: readonly Message[] = [];
  activity = new Activity();
  hello: Hello | undefined;
  status: Status = 'connecting';
  /** The number of messages that the replay shows; `undefined` for all. */
  limit: number | undefined;
  /** Increases when messages were removed, so that positions in the list have changed. */
  removed = 0;
  #token: string;
  #last = 0;
  #listeners = new Set<() => void>();
  #isScheduled = false;
  /** The activity is that of so many messages. */
  #collected = 0;

  constructor() {
    const given = /[#&]token=([^&]*)/.exec(location.hash)?.[1];
    if (given !== undefined) {
      // The address can be shared or seen; the token must not be in it.
      history.replaceState(null, '', location.pathname);
      sessionStorage.setItem(TOKEN_KEY, decodeURIComponent(given));
    }
    this.#token = sessionStorage.getItem(TOKEN_KEY) ?? '';
  }

  /** Uses another token. */
  retryWith(token: string): void {
    sessionStorage.setItem(TOKEN_KEY, token);
    this.#token = token;
    void this.run();
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const call = (): void => {
      if (!this.#isScheduled) return;
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    };
    requestAnimationFrame(call);
    // A hidden page has no frames.
    setTimeout(call, 250);
  }

  /** Reads the feed until the server refuses it, and connects again when it is lost. */
  async run(): Promise<void> {
    for (;;) {
      try {
        this.#set('connecting');
        const response = await this.#fetch(`api/feed?after=${this.#last}`);
        if (response.status === 401 || response.status === 403) return this.#set('refused');
        if (response.ok && response.body !== null) await this.#read(response.body);
      } catch {
        // The server has gone.
      }
      this.#set('lost');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    let isFirst = true;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (line === '') continue;
        if (isFirst) this.#welcome(JSON.parse(line) as Hello);
        else this.#add(JSON.parse(line) as FeedRecord[]);
        isFirst = false;
        // The page stays responsive while a long log arrives.
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
  }

  #welcome(hello: Hello): void {
    this.hello = hello;
    this.#set('live');
  }

  #add(records: readonly FeedRecord[]): void {
    // A server that was started again counts from 1.
    if (records[0]!.n <= this.#last) {
      this.clear();
      this.activity = new Activity();
    }
    this.#last = records.at(-1)!.n;
    const all = this.messages as Message[];
    for (const record of records) all.push(rowOf(record));
    if (all.length > MAX_MESSAGES + SPARE) {
      this.removed += all.length - MAX_MESSAGES;
      this.messages = all.slice(-MAX_MESSAGES);
      this.#collected = Math.max(0, this.#collected - (all.length - MAX_MESSAGES));
    }
    this.changed();
  }

  /** Removes all messages from the page; later ones are shown. */
  clear(): void {
    this.limit = undefined;
    this.collect();
    this.#collected = 0;
    this.removed += this.messages.length;
    this.messages = [];
    this.changed();
  }

  /** Shows only the first messages; `undefined` shows all. */
  show(limit: number | undefined): void {
    this.limit = limit === undefined || limit >= this.messages.length ? undefined : Math.max(0, limit);
    this.changed();
  }

  /** The number of messages that are shown. */
  get shown(): number {
    return Math.min(this.limit ?? this.messages.length, this.messages.length);
  }

  /** Collects the activity of the messages that are shown. */
  collect(): Activity {
    if (this.shown < this.#collected && this.limit !== undefined) {
      this.activity = new Activity();
      this.#collected = 0;
    }
    for (; this.#collected < this.shown; this.#collected++) this.activity.add(this.messages[this.#collected]!);
    return this.activity;
  }

  #set(status: Status): void {
    this.status = status;
    this.changed();
  }

  #fetch(path: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}` };
    return body === undefined
      ? fetch(path, { headers })
      : fetch(path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
  }

  /** Returns the JSON Schemas of the messages of ARCP. */
  async schemas(): Promise<Readonly<Record<string, unknown>>> {
    const response = await this.#fetch('api/schemas');
    return response.ok ? ((await response.json()) as Readonly<Record<string, unknown>>) : {};
  }

  /** Returns the number of tokens of a text; `undefined` if the server does not answer. */
  async tokens(text: string): Promise<{ tokens: number; encoding: string; exact: boolean } | undefined> {
    try {
      const response = await this.#fetch('api/tokens', { text });
      return response.ok
        ? ((await response.json()) as { tokens: number; encoding: string; exact: boolean })
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** Sends a message over a connection. */
  async send(session: string, side: 'client' | 'server', text: string): Promise<SendResult> {
    try {
      const response = await this.#fetch('api/send', { session, side, text });
      if (response.ok) return { ok: true };
      const { error } = (await response.json()) as { error?: { message?: string } };
      return { ok: false, message: error?.message ?? `The server answered with status ${response.status}` };
    } catch {
      return { ok: false, message: 'The server cannot be reached' };
    }
  }
}
