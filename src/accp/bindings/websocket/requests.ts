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
    let isSaid = false;
    const said = this.#outflow.sayInTurn(request, () => {
      // Who has given it up meanwhile does not want it to be sent.
      signal?.throwIfAborted();
      isSaid = true;
    });
    said.catch((thrown) => this.#answers.fail(cid, thrown));
    const abort = (): void => {
      if (this.#answers.giveUp(cid, signal!.reason) && isSaid) this.#cancel(request);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await answer;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async *stream(message: MessageInput | string): AsyncGenerator<StreamChunk, void, undefined> {
    const request = inChain(message);
    const cid = request.envelope.correlation_id;
    const end = this.#wait(cid);
    // Whoever reads is told.
    end.catch(() => undefined);
    let isOver = false;
    try {
      await this.#outflow.sayInTurn(request, () => this.#inflow.open(cid));
      for await (const chunk of streamOf(this.#session.stream(cid), end)) {
        this.#inflow.read(cid);
        yield chunk;
      }
      isOver = true;
    } catch (thrown) {
      isOver = true;
      throw thrown;
    } finally {
      this.#inflow.close(cid);
      if (this.#answers.giveUp(cid) && !isOver) this.#cancel(request);
    }
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
