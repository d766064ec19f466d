/** What is asked over a link, and what answers it. */
import type { Message, MessageInput } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import { Answers } from './answers.js';
import { type ChainedMessage, cancelOf, inChain, streamOf } from './chains.js';
import type { Inflow } from './inflow.js';
import type { RequestOptions } from './link-options.js';
import type { Outflow } from './outflow.js';

export class Requests {
  readonly #session: Session;
  readonly #outflow: Outflow;
  readonly #inflow: Inflow;
  readonly #answers = new Answers();
  /** Chains whose requests went out, as long as somebody waits for their answers. */
  readonly #said = new Set<string>();

  constructor(session: Session, outflow: Outflow, inflow: Inflow) {
    this.#session = session;
    this.#outflow = outflow;
    this.#inflow = inflow;
  }

  /** @returns whether somebody has waited for it, or has given it up */
  take(message: Message): boolean {
    return this.#answers.take(message);
  }

  fail(correlationId: string, error: Error): void {
    this.#answers.fail(correlationId, error);
  }

  failAll(error: Error): void {
    this.#answers.failAll(error);
  }

  async request(message: MessageInput | string, { signal }: RequestOptions = {}): Promise<Message> {
    signal?.throwIfAborted();
    const request = inChain(message);
    const cid = request.envelope.correlation_id;
    const answer = this.#wait(cid);
    const said = this.#outflow.sayInTurn(request, () => {
      // Who has given it up meanwhile does not want it to be sent.
      signal?.throwIfAborted();
      this.#said.add(cid);
    });
    said.catch((thrown) => this.#answers.fail(cid, thrown));
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
      const said = this.#outflow.sayInTurn(request, () => {
        // Who has left meanwhile does not want it to be sent.
        if (!this.#answers.has(cid)) throw new Left();
        this.#said.add(cid);
        this.#inflow.open(cid);
      });
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

  /** Nobody wants the answer any more: the other side is told, if it knows of the request. */
  #giveUp(request: ChainedMessage, reason: Error): void {
    const cid = request.envelope.correlation_id;
    if (this.#answers.giveUp(cid, reason) && this.#said.has(cid)) this.#cancel(request);
  }

  /** @throws TypeError where another one waits under that identifier: nobody could tell whose answer has come */
  #wait(cid: string): Promise<Message> {
    if (this.#answers.has(cid)) throw new TypeError(`A request waits under the correlation_id ${cid} already`);
    return this.#answers.wait(cid);
  }

  #cancel({ operation, envelope }: ChainedMessage): void {
    // Where it cannot be told, the connection has ended.
    this.#outflow.sayInTurn(cancelOf(operation, envelope.correlation_id)).catch(() => undefined);
  }
}

/** Whoever has read a stream has left it. */
class Left extends Error {}
