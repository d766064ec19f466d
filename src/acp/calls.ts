/** Calls of this side that wait for their answers. */
import { ConnectionError, RpcError } from './errors.js';
import type { ErrorObject, Id, ResponseMessage } from './message.js';

interface Waiting {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly batch: SentBatch | undefined;
}

/** A batch that was sent, as long as it has calls without an answer. */
interface SentBatch {
  readonly ids: Set<number>;
  /** Some of its calls have been answered, so the other side takes batches. */
  isAnswered: boolean;
}

export class Calls {
  readonly #waiting = new Map<Id, Waiting>();
  /** In the order in which they were sent. */
  readonly #batches = new Set<SentBatch>();
  #lastId = 0;

  /** Whether no call waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** An identifier for a call: a safe integer that no other call of this side has. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** The call waits for its answer from now on. */
  open(id: number, method: string): Promise<unknown> {
    return this.#open(id, method, undefined);
  }

  /** The calls of one batch, which travel together. */
  openBatch(calls: readonly { readonly id: number; readonly method: string }[]): Promise<unknown>[] {
    const batch: SentBatch = { ids: new Set(calls.map(({ id }) => id)), isAnswered: false };
    if (calls.length > 0) this.#batches.add(batch);
    return calls.map(({ id, method }) => this.#open(id, method, batch));
  }

  #open(id: number, method: string, batch: SentBatch | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject, batch });
    });
  }

  /** The method that the call of this identifier has asked for. */
  methodOf(id: Id | undefined): string | undefined {
    return id === undefined ? undefined : this.#waiting.get(id)?.method;
  }

  /** @returns whether it was the answer to a call */
  answer(response: ResponseMessage): boolean {
    const waiting = this.#take(response.id);
    if (waiting === undefined) return false;
    if ('error' in response) waiting.reject(errorOf(response.error));
    else waiting.resolve(response.result);
    return true;
  }

  /** A call is over without an answer that could be read. @returns whether there was such a call */
  drop(id: Id | undefined, error: Error): boolean {
    const waiting = id === undefined ? undefined : this.#take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /**
   * An error that names no call came by itself: it is what a side that takes no batches says to one, so the oldest batch of which
   * nothing was answered is what it is about.
   *
   * @returns whether there was one
   */
  refuseBatch(error: ErrorObject): boolean {
    for (const batch of this.#batches) {
      if (batch.isAnswered) continue;
      const cause = errorOf(error);
      const refused = new ConnectionError('batches-refused', `The other side refuses batches: ${error.message}`, {
        cause,
      });
      this.#dropAll(batch, refused);
      return true;
    }
    return false;
  }

  /**
   * The array that answers a batch has come, and it holds errors that name no call: they are about those calls of the batch that it
   * does not answer.
   *
   * @param batch of one of the calls that it does answer, as {@link batchOf} gave it before they were over
   * @returns whether there were such calls
   */
  refuseRest(batch: object | undefined, error: ErrorObject): boolean {
    const sent = batch as SentBatch | undefined;
    if (sent === undefined || sent.ids.size === 0) return false;
    this.#dropAll(sent, errorOf(error));
    return true;
  }

  /** The one that was sent first of those that wait. */
  get oldestBatch(): object | undefined {
    return this.#batches.values().next().value;
  }

  /** The batch that a call is of, if any. */
  batchOf(id: Id): object | undefined {
    return this.#waiting.get(id)?.batch;
  }

  /** Nothing will be answered any more. */
  end(error: Error): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#batches.clear();
    for (const { reject } of all) reject(error);
  }

  #dropAll(batch: SentBatch, error: Error): void {
    for (const id of [...batch.ids]) this.#take(id)?.reject(error);
  }

  #take(id: Id): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    const { batch } = waiting;
    if (batch !== undefined) {
      batch.isAnswered = true;
      batch.ids.delete(id as number);
      if (batch.ids.size === 0) this.#batches.delete(batch);
    }
    return waiting;
  }
}

function errorOf({ code, message, data }: ErrorObject): RpcError {
  return new RpcError(code, message, data);
}
