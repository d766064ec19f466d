import { untilAborted } from '../../../async/abort.js';
import { notifyListener } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import { AccpError, type AccpErrorCode, ERROR_CODES } from '../../errors.js';
import type { Message, MessageInput } from '../../message/message.js';
import { tryParseFrame } from '../../parse.js';
import { chatMessage } from '../../profiles/profiles.js';
import { createIds } from '../../session/runtime.js';
import { partsOfSession, type Session } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import { ENDING_INTENTS } from '../../vocabulary.js';
import { hasErrorSchema, readHead, textOf } from '../frames.js';
import { LinkError, type RequestOptions } from './contract.js';
import type { Inflow } from './inflow.js';
import type { Outflow } from './outflow.js';

/** Chains that are remembered after they were given up. */
const MAX_PAST = 1024;

interface Waiting {
  readonly request: ChainedMessage;
  isSent: boolean;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

export class Requests {
  readonly #session: Session;
  readonly #outflow: Outflow;
  readonly #inflow: Inflow;
  /** Requests without an answer, by chain. */
  readonly #waiting = new Map<string, Waiting>();
  /** Chains that were given up. */
  readonly #past = new Set<string>();

  constructor(session: Session, outflow: Outflow, inflow: Inflow) {
    this.#session = session;
    this.#outflow = outflow;
    this.#inflow = inflow;
  }

  /** Sent requests without an answer. */
  get waiting(): readonly ChainedMessage[] {
    return [...this.#waiting.values()].filter(({ isSent }) => isSent).map(({ request }) => request);
  }

  /** @returns whether a request waits for it, or was given up */
  take(message: Message): boolean {
    const { intent, envelope } = message;
    const id = envelope.correlation_id;
    if (id === undefined || !ENDING_INTENTS.has(intent)) return false;
    if (this.#past.delete(id)) return true;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (intent === 'fail' || intent === 'cancel') waiting?.reject(failureOf(message));
    else waiting?.resolve(message);
    return waiting !== undefined;
  }

  /** The other side has to stop, and must not begin after a reconnection. */
  overdue(correlationId: string, error: Error): void {
    if (this.#waiting.get(correlationId)?.isSent === true) this.#giveUp(correlationId, error);
    else this.#fail(correlationId, error);
  }

  /** @returns whether a request waited under the chain */
  refused({ cid, error }: Refusal): boolean {
    return cid !== undefined && this.#fail(cid, error);
  }

  cancelAll(reason: Error): void {
    partsOfSession(this.#session).streams.cut(reason);
    for (const request of this.waiting) {
      this.#fail(request.envelope.correlation_id, reason);
      notifyListener(() => this.#outflow.say(cancelOf(request)));
    }
  }

  /** Chunks that have come can still be read. */
  failAll(error: Error): void {
    partsOfSession(this.#session).streams.cut(error);
    for (const id of [...this.#waiting.keys()]) this.#fail(id, error);
  }

  async request(message: MessageInput | string, { signal }: RequestOptions = {}): Promise<Message> {
    signal?.throwIfAborted();
    const request = inChain(message);
    const cid = request.envelope.correlation_id;
    const answer = this.#wait(request);
    this.#say(request).catch((thrown) => this.#fail(cid, thrown));
    const abort = (): void => this.#giveUp(cid, signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await answer;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  stream(message: MessageInput | string, { signal }: RequestOptions = {}): AsyncIterable<StreamChunk> {
    const request = inChain(message);
    const chunks = this.#chunks(request, signal);
    const leave = (): void => this.#giveUp(request.envelope.correlation_id, new Left());
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
    const end = this.#wait(request);
    const abort = (): void => this.#giveUp(cid, signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const said = this.#say(request, () => this.#inflow.open(cid));
      // It ends when the reader leaves, even if it was never sent.
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
      this.#forget(cid);
    }
  }

  /** Sends a request, unless it is given up before its turn comes. The time for an answer includes the wait for a connection. */
  async #say(request: ChainedMessage, begun?: () => void): Promise<void> {
    const cid = request.envelope.correlation_id;
    const { timeoutMs } = partsOfSession(this.#session).options;
    const late = new AccpError({ code: 'E3001', message: `The request could not be sent within ${timeoutMs} ms.` });
    const stop = after(timeoutMs, () => this.#giveUp(cid, late));
    try {
      await this.#outflow.sayInTurn(request, () => {
        const waiting = this.#waiting.get(cid);
        if (waiting === undefined) throw new Left();
        waiting.isSent = true;
        begun?.();
      });
    } finally {
      stop();
    }
  }

  /** @throws TypeError if another request waits under the identifier */
  #wait(request: ChainedMessage): Promise<Message> {
    const cid = request.envelope.correlation_id;
    if (this.#waiting.has(cid)) throw new TypeError(`A request waits under the correlation_id ${cid} already`);
    // Its answer is wanted again.
    this.#past.delete(cid);
    return new Promise((resolve, reject) => {
      this.#waiting.set(cid, { request, isSent: false, resolve, reject });
    });
  }

  /** @returns whether a request waited */
  #fail(cid: string, error: Error): boolean {
    const waiting = this.#waiting.get(cid);
    this.#waiting.delete(cid);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /** Cancels at the other side if the request was sent; it is not sent again. */
  #giveUp(cid: string, reason: Error): void {
    const waiting = this.#forget(cid);
    if (waiting === undefined) return;
    waiting.reject(reason);
    if (!waiting.isSent) return;
    notifyListener(() => partsOfSession(this.#session).chains.cancel(cid));
    // If it cannot be sent, the connection has ended.
    this.#outflow.sayUrgently(cancelOf(waiting.request)).catch(() => undefined);
  }

  /** A message that still ends the chain is ignored. */
  #forget(cid: string): Waiting | undefined {
    const waiting = this.#waiting.get(cid);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(cid);
    this.#past.add(cid);
    if (this.#past.size > MAX_PAST) this.#past.delete(this.#past.values().next().value!);
    return waiting;
  }
}

class Left extends Error {}

/** The failure that the other side reports (section 3.6). */
function failureOf({ agent, intent, payload }: Message): AccpError {
  const { code, message } = payload;
  return errorOf(agent, code, message ?? (intent === 'cancel' ? 'it was cancelled' : undefined));
}

function errorOf(agent: string, code: unknown, message: unknown): AccpError {
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as AccpErrorCode) : 'E9999';
  return new AccpError({ code: known, message: `${agent}: ${typeof message === 'string' ? message : 'it failed'}` });
}

export interface ChainedMessage extends MessageInput {
  readonly envelope: NonNullable<MessageInput['envelope']> & { readonly correlation_id: string };
}

const freshId = createIds();

/** Gives a request a chain of its own. Without one, its answers would name its `mid`, and a request that is sent again gets another. */
function inChain(message: MessageInput | string): ChainedMessage {
  const { envelope, ...rest } = typeof message === 'string' ? chatMessage(message) : message;
  return { ...rest, envelope: { ...envelope, correlation_id: envelope?.correlation_id ?? freshId() } };
}

function cancelOf({ operation, envelope }: ChainedMessage): MessageInput {
  return { intent: 'cancel', operation, envelope: { correlation_id: envelope.correlation_id } };
}

/**
 * Yields the chunks of a stream until its chain ends otherwise: by a failure, which ends it at once, or by a plain answer.
 *
 * @param end the message that ends the chain
 */
async function* streamOf(
  stream: AsyncIterable<StreamChunk>,
  end: Promise<Message>,
): AsyncGenerator<StreamChunk, void, undefined> {
  const over = new AbortController();
  let isBegun = false;
  let failure: { readonly thrown: unknown } | undefined;
  end.then(
    ({ intent }) => {
      if (intent === 'done' && !isBegun) over.abort();
    },
    (thrown: unknown) => {
      // After the end of a connection, the chunks that have come are read first, and may be the whole stream.
      if (thrown instanceof LinkError) return;
      failure = { thrown };
      over.abort();
    },
  );
  for await (const chunk of untilAborted(stream, over.signal, () => undefined)) {
    isBegun = true;
    yield chunk;
  }
  if (failure !== undefined) throw failure.thrown;
}

interface Refusal {
  readonly cid: string | undefined;
  readonly error: AccpError;
}

/**
 * Reads an error frame by which a binding refuses a frame outside of the session (draft-benzing-accp-00, sections 3.6 and 11); returns `null`
 * for any other frame. Each of them has number 1.
 *
 * @param peer the agent that answers in the session
 */
export function refusalOutside(frame: string, session: Session, peer: string | undefined): Refusal | null {
  if (!hasErrorSchema(frame)) return null;
  const head = readHead(frame);
  if (head === null || head.sid !== undefined || head.seq !== 1 || head.agent === peer) return null;
  if (session.peers.has(head.agent) || partsOfSession(session).delivery.expected(head.agent) > 1) return null;
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  const payload = parsed.ok ? parsed.value.payload : null;
  return { cid: head.cid, error: errorOf(head.agent, textOf(payload, 'code'), textOf(payload, 'msg')) };
}
