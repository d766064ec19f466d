/** Requests that wait for what ends them. */
import { AccpError, type AccpErrorCode, ERROR_CODES } from '../../errors.js';
import type { Message } from '../../message/message.js';
import { ENDING_INTENTS } from '../../vocabulary.js';

interface Waiting {
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** Chains that are remembered after they were given up. */
const MAX_PAST = 1024;

export class Answers {
  readonly #waiting = new Map<string, Waiting>();
  /** Chains that were given up. */
  readonly #past = new Set<string>();

  /** Whether somebody waits already. */
  has(correlationId: string): boolean {
    return this.#waiting.has(correlationId);
  }

  /** @returns the message that ends the chain */
  wait(correlationId: string): Promise<Message> {
    // Its answer is wanted again.
    this.#past.delete(correlationId);
    return new Promise((resolve, reject) => {
      this.#waiting.set(correlationId, { resolve, reject });
    });
  }

  /** @returns whether somebody has waited for it, or has given it up */
  take(message: Message): boolean {
    const { intent, envelope } = message;
    const id = envelope.correlation_id;
    if (id !== undefined && this.#past.has(id) && ENDING_INTENTS.has(intent)) return this.#past.delete(id);
    const waiting = id === undefined || !ENDING_INTENTS.has(intent) ? undefined : this.#waiting.get(id);
    if (waiting === undefined) return false;
    this.#waiting.delete(id!);
    if (intent === 'fail' || intent === 'cancel') waiting.reject(failureOf(message));
    else waiting.resolve(message);
    return true;
  }

  /** @returns whether somebody has waited for it */
  fail(correlationId: string, error: Error): boolean {
    const waiting = this.#waiting.get(correlationId);
    this.#waiting.delete(correlationId);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /**
   * Nobody waits any more; what still comes to end the chain, nobody wants to know.
   *
   * @param reason rejects who has waited
   * @returns whether the chain was still open
   */
  giveUp(correlationId: string, reason?: Error): boolean {
    const waiting = this.#waiting.get(correlationId);
    if (waiting === undefined) return false;
    this.#waiting.delete(correlationId);
    this.#past.add(correlationId);
    if (this.#past.size > MAX_PAST) this.#past.delete(this.#past.values().next().value!);
    if (reason !== undefined) waiting.reject(reason);
    return true;
  }

  failAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.fail(id, error);
  }
}

/** What the other side has told of its failure (section 3.6). */
function failureOf({ agent, intent, payload }: Message): AccpError {
  const { code, message } = payload;
  return errorOf(agent, code, message ?? (intent === 'cancel' ? 'it was cancelled' : undefined));
}

/** An error of the other side, by what it has said. */
export function errorOf(agent: string, code: unknown, message: unknown): AccpError {
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as AccpErrorCode) : 'E9999';
  return new AccpError({ code: known, message: `${agent}: ${typeof message === 'string' ? message : 'it failed'}` });
}
