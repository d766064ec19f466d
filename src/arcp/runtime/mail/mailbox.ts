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
  #reading: Promise<void> | undefined;
  #isPending = false;

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

  /** Reads and handles all messages that have been sent so far. */
  read(): Promise<void> {
    this.#isPending = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The end of the reading; `undefined` if there is none. */
  get reading(): Promise<void> | undefined {
    return this.#reading;
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

  async #readAll(): Promise<void> {
    while (this.#isPending) {
      this.#isPending = false;
      await this.#readPage();
    }
  }

  async #readPage(): Promise<void> {
    const { store, worker, onError } = this.#options;
    const page = await store.listRecords(mailboxOf(worker), { limit: PAGE });
    if (page.length === 0) return;
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
    if (page.length === PAGE && handled.length > 0) this.#isPending = true;
  }
}
