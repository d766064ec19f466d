/** Outgoing messages, and the interface of senders. */
import { isUpkeep, readHead } from '../../../accp/bindings/frames.js';
import { createCodec } from '../../../accp/codec/codec.js';
import type { Loss, Message, MessageInput } from '../../../accp/message/message.js';
import { chatMessage } from '../../../accp/profiles/profiles.js';
import { isIdentifier } from '../../../accp/session/envelope.js';
import { createSession } from '../../../accp/session/session.js';
import { after } from '../../../async/timers.js';
import { PegwireError } from '../../../text/errors.js';
import { notJson } from '../../io/exact-json.js';
import { count } from '../../io/report.js';
import { readMessage } from '../../session/message-input.js';
import { messageOf } from '../../session/results.js';
import type { Received } from './received.js';

export type Outgoing =
  | { readonly kind: 'frame'; readonly frame: string }
  | { readonly kind: 'message'; readonly message: MessageInput; readonly losses: readonly Loss[] };

const READING = { refs: false, keepEnvelope: false };

/** Reads a frame, a JSON message or a chat message, depending on the first character. @throws PegwireError if it is invalid */
export function readOutgoing(line: string): Outgoing {
  const text = line.trim();
  if (text.startsWith('@')) return { kind: 'frame', frame: text };
  if (!/^[{"]/.test(text)) return { kind: 'message', message: chatMessage(text, { role: 'user' }), losses: [] };
  try {
    const { message: read, losses } = readMessage(text, READING);
    const message = typeof read === 'string' ? chatMessage(read, { role: 'user' }) : read;
    return { kind: 'message', message, losses };
  } catch (thrown) {
    if (thrown instanceof PegwireError || !(thrown instanceof SyntaxError)) throw thrown;
    throw notJson(
      thrown,
      text,
      'write a message such as {"intent":"req","operation":"find","payload":{"query":"cats"}}',
    );
  }
}

/** Reports whether a message requires an answer. */
export function requiresAnswer({ intent }: { readonly intent: string }): boolean {
  return intent === 'req' || intent === 'qry';
}

const codec = createCodec({ state: false, dialect: 'lenient' });

/** Decodes a frame without its session; `null` for a part of a message, or if the session is required. */
export function messageOfFrame(frame: string): Message | null {
  const head = readHead(frame);
  if (head === null) return null;
  const id = head.sid !== undefined && isIdentifier(head.sid) ? head.sid : undefined;
  const session = createSession({ agent: 'reader', id, sequence: 'sender', firstSequence: head.seq });
  try {
    return messageOf(codec.decode(frame, session));
  } finally {
    session.close();
  }
}

export interface Sender {
  /** Sends a message. @throws PegwireError if the message cannot be sent @throws UsageError if the endpoint is unreachable */
  readonly send: (outgoing: Outgoing) => Promise<void>;
  /** Rejects with a UsageError if the connection is lost. */
  readonly broken: Promise<never>;
  /** Waits for outstanding answers, then closes. */
  readonly end: () => Promise<void>;
  /** Closes at once. */
  readonly stop: () => Promise<void>;
}

export interface SenderOptions {
  readonly url: string;
  readonly agent: string;
  readonly token: string | undefined;
  /** Milliseconds without a frame before waiting ends. */
  readonly timeoutMs: number;
}

/** Returns the HTTP headers of a request. */
export function headersOf({ token }: SenderOptions): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** A promise that never settles. */
export const NEVER: Promise<never> = new Promise(() => {});

/** Creates a sender over a connection, whose `end` waits for outstanding answers. */
export function connectionSender(
  connection: Pick<Sender, 'send' | 'broken' | 'stop'>,
  outstanding: Outstanding,
  { timeoutMs }: SenderOptions,
  received: Received,
): Sender {
  const { broken, stop } = connection;
  // Observed only while waiting.
  broken.catch(() => undefined);
  return {
    ...connection,
    end: async () => {
      const unanswered = await Promise.race([outstanding.wait(timeoutMs), broken]).finally(() => outstanding.stop());
      if (unanswered > 0)
        await received.unanswered(`${count(unanswered, 'request')} not answered within ${timeoutMs / 1000} s.`);
      await stop();
    },
  };
}

/** Intents that end a chain (draft-benzing-accp-00, Table 7). */
const ENDS: ReadonlySet<string> = new Set(['done', 'end', 'fail', 'cancel']);

/** The requests that have not been answered. */
export class Outstanding {
  /** Correlation identifiers by message identifier. */
  readonly #open = new Map<string, string>();
  #onFrame: () => void = () => {};
  #stop: () => void = () => {};

  /** Adds a request. */
  add(msgId: string, correlationId: string): void {
    this.#open.set(msgId, correlationId);
  }

  /** Removes a request. */
  remove(msgId: string): void {
    this.#open.delete(msgId);
  }

  /** Handles a received frame. Any frame restarts the timeout, since it may be part of an answer. */
  receive(message: Message | null): void {
    if (message !== null && ENDS.has(message.intent) && !isUpkeep(message)) this.#settle(message);
    this.#onFrame();
  }

  #settle({ envelope: { correlation_id: cid, causation_id: aid } }: Message): void {
    for (const [msgId, correlationId] of this.#open)
      if (correlationId === cid || (cid === undefined && msgId === aid)) this.#open.delete(msgId);
  }

  /** Waits until all requests are answered, or no frame arrives within the timeout. @returns the number of unanswered requests */
  async wait(timeoutMs: number): Promise<number> {
    while (this.#open.size > 0) if (!(await this.#next(timeoutMs))) break;
    return this.#open.size;
  }

  /** Clears the timer, which would keep the process alive. */
  stop(): void {
    this.#stop();
  }

  /** Waits for a frame. @returns `false` after the timeout */
  #next(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#stop = after(timeoutMs, () => resolve(false));
      this.#onFrame = () => {
        this.#stop();
        resolve(true);
      };
    });
  }
}
