/** What is asked over a link, and what answers it. */
import { notifyListener } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import { AccpError } from '../../errors.js';
import type { Message, MessageInput } from '../../message/message.js';
import { partsOfSession, type Session } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import { Answers } from './answers.js';
import { type ChainedMessage, cancelOf, inChain, streamOf } from './chains.js';
import type { Inflow } from './inflow.js';
import type { RequestOptions } from './link-options.js';
import type { Outflow } from './outflow.js';
import type { Refusal } from './refusal.js';

export class Requests {
  readonly #session: Session;
  readonly #outflow: Outflow;
  readonly #inflow: Inflow;
  readonly #answers = new Answers();
  /** Requests that went out and wait for their answers, by their chains. */
  readonly #said = new Map<string, ChainedMessage>();

  constructor(session: Session, outflow: Outflow, inflow: Inflow) {
    this.#session = session;
    this.#outflow = outflow;
    this.#inflow = inflow;
  }

  /** Those that went out and wait for their answers. */
  get waiting(): readonly ChainedMessage[] {
    return [...this.#said.values()];
  }

  /** @returns whether somebody has waited for it, or has given it up */
  take(message: Message): boolean {
    return this.#answers.take(message);
  }

  /** The answer is overdue: the other side is to stop, and must not begin after a reconnection. */
  overdue(correlationId: string, error: Error): void {
    const request = this.#said.get(correlationId);
    if (request === undefined) this.#answers.fail(correlationId, error);
    else this.#giveUp(request, error);
  }

  /** @returns whether somebody has waited for what was refused */
  refused({ cid, error }: Refusal): boolean {
    return cid !== undefined && this.#answers.fail(cid, error);
  }

  /** Cancels all pending requests on the wire: the link is closed, and the other side would continue to work on them. */
  cancelAll(reason: Error): void {
    partsOfSession(this.#session).streams.cut(reason);
    for (const { operation, envelope } of this.#said.values()) {
      this.#answers.fail(envelope.correlation_id, reason);
      notifyListener(() => this.#outflow.say(cancelOf(operation, envelope.correlation_id)));
    }
  }

  /** The connection has ended: what has come of streams is still read. */
  failAll(error: Error): void {
    partsOfSession(this.#session).streams.cut(error);
    this.#answers.failAll(error);
  }

  async request(message: MessageInput | string, { signal }: RequestOptions = {}): Promise<Message> {
    signal?.throwIfAborted();
    const request = inChain(message);
    const cid = request.envelope.correlation_id;
    const answer = this.#wait(cid);
    this.#say(request).catch((thrown) => this.#answers.fail(cid, thrown));
    const abort = (): void => this.#giveUp(request, signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await answer;
    } finally {
      this.#said.delete(cid);
      signal?.removeEventListener('abort', abort);
    }
  }

  stream(message: MessageInput | string, { signal }: RequestOptions = {}): AsyncIterable<StreamChunk> {
    const request = inChain(message);
    const chunks = this.#chunks(request, signal);
    const leave = (): void => this.#giveUp(request, new Left());
    const left: AsyncGenerator<StreamChunk, void, undefined> = {
      next: () => chunks.next(),
      // A generator would first wait for its next chunk.
      return: () => {
        leave();
        return chunks.return();
      },
      throw: (thrown) => {
        leave();
        return chunks.throw(thrown);
      },
      [Symbol.asyncIterator]: () => left,
    };
    return left;
  }

  async *#chunks(
    request: ChainedMessage,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamChunk, void, undefined> {
    signal?.throwIfAborted();
    const cid = request.envelope.correlation_id;
    const end = this.#wait(cid);
    const abort = (): void => this.#giveUp(request, signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const said = this.#say(request, () => this.#inflow.open(cid));
      // It ends as soon as somebody leaves, even if it was never sent.
      await Promise.race([said, end]);
      for await (const chunk of streamOf(this.#session.stream(cid), end)) {
        this.#inflow.read(cid);
        yield chunk;
      }
    } catch (thrown) {
      if (!(thrown instanceof Left)) throw thrown;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#inflow.close(cid);
      // The end of a chain may come after the last chunk.
      this.#answers.giveUp(cid);
      this.#said.delete(cid);
    }
  }

  /** Sends a request, unless it is given up before its turn comes. The time for an answer includes the wait for a connection. */
  async #say(request: ChainedMessage, begun?: () => void): Promise<void> {
    const cid = request.envelope.correlation_id;
    const { timeout } = partsOfSession(this.#session).options;
    const stop = after(timeout === 0 ? Number.POSITIVE_INFINITY : timeout * 1000, () =>
      this.#giveUp(request, unanswered(timeout)),
    );
    try {
      await this.#outflow.sayInTurn(request, () => {
        if (!this.#answers.has(cid)) throw new Left();
        this.#said.set(cid, request);
        begun?.();
      });
    } finally {
      stop();
    }
  }

  /** The answer is not wanted any more: the other side is told if it may know of the request, which is not sent again. */
  #giveUp(request: ChainedMessage, reason: Error): void {
    const cid = request.envelope.correlation_id;
    if (!this.#answers.giveUp(cid, reason) || !this.#said.has(cid)) return;
    notifyListener(() => partsOfSession(this.#session).chains.cancel(cid));
    this.#cancel(request);
  }

  /** @throws TypeError where another one waits under that identifier: nobody could tell whose answer has come */
  #wait(cid: string): Promise<Message> {
    if (this.#answers.has(cid)) throw new TypeError(`A request waits under the correlation_id ${cid} already`);
    return this.#answers.wait(cid);
  }

  #cancel({ operation, envelope }: ChainedMessage): void {
    // Where it cannot be told, the connection has ended.
    this.#outflow.sayUrgently(cancelOf(operation, envelope.correlation_id)).catch(() => undefined);
  }
}

function unanswered(timeout: number): AccpError {
  return new AccpError({
    code: 'E3001',
    message: `The request could not be sent within ${timeout} s.`,
  });
}

/** Whoever has read a stream has left it. */
class Left extends Error {}
