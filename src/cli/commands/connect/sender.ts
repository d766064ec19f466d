/** Ways to send to an endpoint, and the answers that are waited for. */
import { isUpkeep } from '../../../accp/bindings/frames.js';
import type { Message } from '../../../accp/message/message.js';
import { after } from '../../../async/timers.js';
import { count } from '../../io/report.js';
import type { Outgoing } from './messages.js';
import type { Received } from './received.js';

/** One way to send to an endpoint. */
export interface Sender {
  /**
   * Sends it. When it resolves, the next may be sent.
   *
   * @throws PegwireError for what cannot be sent; the connection goes on
   * @throws UsageError `unreachable` where the endpoint cannot be reached
   */
  readonly send: (outgoing: Outgoing) => Promise<void>;
  /** Rejects with a UsageError when the connection has ended by itself. */
  readonly broken: Promise<never>;
  /** Waits for outstanding answers, and ends the connection. */
  readonly end: () => Promise<void>;
  /** Ends the connection at once. */
  readonly stop: () => Promise<void>;
}

export interface SenderOptions {
  readonly url: string;
  readonly agent: string;
  readonly token: string | undefined;
  /** Seconds without a frame after which answers are given up. */
  readonly timeout: number;
}

/** What shows the token. */
export function headersOf({ token }: SenderOptions): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Nothing ever. */
export const NEVER: Promise<never> = new Promise(() => {});

/** A sender that waits for outstanding answers before it ends, unless the connection ends first. */
export function lastingSender(
  connection: Pick<Sender, 'send' | 'broken' | 'stop'>,
  outstanding: Outstanding,
  { timeout }: SenderOptions,
  received: Received,
): Sender {
  const { broken, stop } = connection;
  // Only looked at while something is waited for.
  broken.catch(() => undefined);
  return {
    ...connection,
    end: async () => {
      const left = await Promise.race([outstanding.wait(timeout), broken]).finally(() => outstanding.stop());
      if (left > 0) await received.unanswered(`${count(left, 'request')} had no answer within ${timeout} s.`);
      await stop();
    },
  };
}

/** Intents that end a chain of requests (draft-benzing-accp-00, Table 7). */
const ENDS: ReadonlySet<string> = new Set(['done', 'end', 'fail', 'cancel']);

/** Requests whose answers are to come, where answers come at any time. */
export class Outstanding {
  /** Correlation identifiers, by the identifiers of the messages. */
  readonly #open = new Map<string, string>();
  #arrived: () => void = () => {};
  #stop: () => void = () => {};

  asked(msgId: string, correlationId: string): void {
    this.#open.set(msgId, correlationId);
  }

  /** It was not sent. */
  forget(msgId: string): void {
    this.#open.delete(msgId);
  }

  /** A frame came. What is no message may still be one of those that are waited for: the wait begins anew. */
  arrived(message: Message | null): void {
    if (message !== null && ENDS.has(message.intent) && !isUpkeep(message)) this.#settle(message);
    this.#arrived();
  }

  #settle({ envelope: { correlation_id: cid, causation_id: aid } }: Message): void {
    for (const [msgId, correlationId] of this.#open)
      if (correlationId === cid || (cid === undefined && msgId === aid)) this.#open.delete(msgId);
  }

  /**
   * Waits until all have been answered.
   *
   * @param seconds without a frame, after which no more is waited
   * @returns how many were not
   */
  async wait(seconds: number): Promise<number> {
    while (this.#open.size > 0) if (!(await this.#next(seconds))) break;
    return this.#open.size;
  }

  /** Nobody waits any more: a timer would keep the process. */
  stop(): void {
    this.#stop();
  }

  /** @returns whether a frame came in time */
  #next(seconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#stop = after(seconds * 1000, () => resolve(false));
      this.#arrived = () => {
        this.#stop();
        resolve(true);
      };
    });
  }
}
