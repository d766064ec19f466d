/** The mailbox of this runtime. */
import { deferred } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import type { ArcpStore, RecordChange } from '../../store/store.js';
import { type Mail, mailboxOf, mailTo, type Reply } from './mail.js';

const PAGE = 256;

interface MailboxOptions {
  readonly store: ArcpStore;
  readonly worker: string;
  readonly onError: (error: unknown) => void;
}

export class Mailbox {
  readonly worker: string;
  readonly #options: MailboxOptions;
  readonly #waiters = new Map<string, (reply: Reply) => void>();
  /** Handles a message. If it rejects, the message is handled again later. */
  #handle: (mail: Mail) => Promise<void> = async () => undefined;
  #current: Promise<void> | undefined;
  /** A reading that begins after the current one. */
  #next: Promise<void> | undefined;

  constructor(options: MailboxOptions) {
    this.#options = options;
    this.worker = options.worker;
  }

  onMail(handle: (mail: Mail) => Promise<void>): void {
    this.#handle = handle;
  }

  async send(worker: string, mail: Mail): Promise<void> {
    await this.#options.store.commit({ records: [mailTo(worker, mail)] });
  }

  /** Reads and handles all messages that were sent before the call. */
  read(): Promise<void> {
    if (this.#current === undefined) return this.#begin();
    // The reading under way may have passed some of them.
    this.#next ??= this.#current.catch(() => undefined).then(() => this.#current ?? this.#begin());
    return this.#next;
  }

  /** The end of the readings that are under way or requested; `undefined` if there is none. */
  get reading(): Promise<void> | undefined {
    return this.#next ?? this.#current;
  }

  /** Waits for the reply to a message; call it before the message is sent. @returns `undefined` if there was none in time */
  async reply(id: string, timeoutMs: number): Promise<Reply | undefined> {
    const { promise, resolve } = deferred<Reply | undefined>();
    const cancel = after(timeoutMs, () => resolve(undefined));
    this.#waiters.set(id, resolve);
    try {
      return await promise;
    } finally {
      cancel();
      this.#waiters.delete(id);
    }
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    this.#current = this.#readAll();
    return this.#current;
  }

  async #readAll(): Promise<void> {
    try {
      while (await this.#readPage());
    } finally {
      this.#current = undefined;
    }
  }

  /** Reads and handles some messages. @returns `true` if there may be more */
  async #readPage(): Promise<boolean> {
    const { store, worker, onError } = this.#options;
    const page = await store.listRecords(mailboxOf(worker), { limit: PAGE });
    if (page.length === 0) return false;
    const handled: RecordChange[] = [];
    for (const { scope, key, value } of page) {
      try {
        const mail = JSON.parse(value) as Mail;
        if (mail.kind === 'reply') this.#waiters.get(mail.id)?.(mail);
        else await this.#handle(mail);
        handled.push({ scope, key, value: null });
      } catch (error) {
        onError(error);
      }
    }
    if (handled.length > 0) await store.commit({ records: handled });
    return page.length === PAGE && handled.length > 0;
  }
}
