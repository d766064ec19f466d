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
import type { FlowControl } from './flow-control.js';
import type { SendQueue } from './send-queue.js';

/** The maximum number of abandoned chains that are remembered. */
const MAX_ABANDONED = 1024;

interface PendingRequest {
  readonly request: CorrelatedMessage;
  isSent: boolean;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

export class Requests {
  readonly #session: Session;
  readonly #sendQueue: SendQueue;
  readonly #flowControl: FlowControl;
  /** Requests without an answer, by `correlation_id`. */
  readonly #pending = new Map<string, PendingRequest>();
  /** The `correlation_id`s of abandoned requests. */
  readonly #abandoned = new Set<string>();

  constructor(session: Session, sendQueue: SendQueue, flowControl: FlowControl) {
    this.#session = session;
    this.#sendQueue = sendQueue;
    this.#flowControl = flowControl;
  }

  /** Sent requests without an answer. */
  get pending(): readonly CorrelatedMessage[] {
    return [...this.#pending.values()].filter(({ isSent }) => isSent).map(({ request }) => request);
  }

  /** Settles the request that a message answers. @returns `true` if the request is pending or was abandoned */
  settle(message: Message): boolean {
    const { intent, envelope } = message;
    const id = envelope.correlation_id;
    if (id === undefined || !ENDING_INTENTS.has(intent)) return false;
    if (this.#abandoned.delete(id)) return true;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (intent === 'fail' || intent === 'cancel') pending?.reject(failureOf(message));
    else pending?.resolve(message);
    return pending !== undefined;
  }

  /** Rejects a request. The peer has to stop its work, and must not begin it after a reconnection. */
  timedOut(correlationId: string, error: Error): void {
    if (this.#pending.get(correlationId)?.isSent === true) this.#abandon(correlationId, error);
    else this.#fail(correlationId, error);
  }

  /** Rejects the request that the peer refused outside of the session. @returns `true` if it was pending */
  reject({ cid, error }: Refusal): boolean {
    return cid !== undefined && this.#fail(cid, error);
  }

  cancelAll(reason: Error): void {
    partsOfSession(this.#session).streams.disconnect(reason);
    for (const request of this.pending) {
      this.#fail(request.envelope.correlation_id, reason);
      notifyListener(() => this.#sendQueue.sendNow(cancelOf(request)));
    }
  }

  /** Rejects all requests. Chunks that have arrived can still be read. */
  failAll(error: Error): void {
    partsOfSession(this.#session).streams.disconnect(error);
    for (const id of [...this.#pending.keys()]) this.#fail(id, error);
  }

  async request(message: MessageInput | string, { signal }: RequestOptions = {}): Promise<Message> {
    signal?.throwIfAborted();
    const request = withCorrelationId(message);
    const cid = request.envelope.correlation_id;
    const answer = this.#register(request);
    this.#send(request).catch((thrown) => this.#fail(cid, thrown));
    const abort = (): void => this.#abandon(cid, signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await answer;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  stream(message: MessageInput | string, { signal }: RequestOptions = {}): AsyncIterable<StreamChunk> {
    const request = withCorrelationId(message);
    const chunks = this.#chunks(request, signal);
    const abandon = (): void => this.#abandon(request.envelope.correlation_id, new AbandonedError());
    const iterator: AsyncGenerator<StreamChunk, void, undefined> = {
      next: () => chunks.next(),
      // A generator would first wait for its next chunk.
      return: () => {
        abandon();
        return chunks.return();
      },
      throw: (thrown) => {
        abandon();
        return chunks.throw(thrown);
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  async *#chunks(
    request: CorrelatedMessage,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamChunk, void, undefined> {
    signal?.throwIfAborted();
    const cid = request.envelope.correlation_id;
    const end = this.#register(request);
    const abort = (): void => this.#abandon(cid, signal!.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const sent = this.#send(request, () => this.#flowControl.openStream(cid));
      // The stream ends when the reader leaves, even if the request was never sent.
      await Promise.race([sent, end]);
      for await (const chunk of streamOf(this.#session.stream(cid), end)) {
        this.#flowControl.chunkRead(cid);
        yield chunk;
      }
    } catch (thrown) {
      if (!(thrown instanceof AbandonedError)) throw thrown;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#flowControl.closeStream(cid);
      // The end of a chain may arrive after the last chunk.
      this.#forget(cid);
    }
  }

  /** Sends a request unless it is abandoned first. The time for an answer includes the wait for a connection. */
  async #send(request: CorrelatedMessage, onSend?: () => void): Promise<void> {
    const cid = request.envelope.correlation_id;
    const { timeoutMs } = partsOfSession(this.#session).options;
    const timeoutError = new AccpError({
      code: 'E3001',
      message: `The request could not be sent within ${timeoutMs} ms.`,
    });
    const stop = after(timeoutMs, () => this.#abandon(cid, timeoutError));
    try {
      await this.#sendQueue.sendInOrder(request, () => {
        const pending = this.#pending.get(cid);
        if (pending === undefined) throw new AbandonedError();
        pending.isSent = true;
        onSend?.();
      });
    } finally {
      stop();
    }
  }

  /** Waits for the message that ends a chain. @throws TypeError if another request of the chain is pending */
  #register(request: CorrelatedMessage): Promise<Message> {
    const cid = request.envelope.correlation_id;
    if (this.#pending.has(cid))
      throw new TypeError(`A request with the correlation_id ${cid} is already pending; use another one`);
    // The chain is used again.
    this.#abandoned.delete(cid);
    return new Promise((resolve, reject) => {
      this.#pending.set(cid, { request, isSent: false, resolve, reject });
    });
  }

  /** Rejects a request. @returns `true` if it was pending */
  #fail(cid: string, error: Error): boolean {
    const pending = this.#pending.get(cid);
    this.#pending.delete(cid);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** Rejects a request. If it was sent, it is cancelled at the peer and not sent again. */
  #abandon(cid: string, reason: Error): void {
    const pending = this.#forget(cid);
    if (pending === undefined) return;
    pending.reject(reason);
    if (!pending.isSent) return;
    notifyListener(() => partsOfSession(this.#session).chains.cancel(cid));
    // If it cannot be sent, the connection has ended.
    this.#sendQueue.sendUrgently(cancelOf(pending.request)).catch(() => undefined);
  }

  /** Forgets a request. A message that still ends its chain is ignored. */
  #forget(cid: string): PendingRequest | undefined {
    const pending = this.#pending.get(cid);
    if (pending === undefined) return undefined;
    this.#pending.delete(cid);
    this.#abandoned.add(cid);
    if (this.#abandoned.size > MAX_ABANDONED) this.#abandoned.delete(this.#abandoned.values().next().value!);
    return pending;
  }
}

/** The reason for which a request that nothing waits for any more is rejected; it never reaches the caller. */
class AbandonedError extends Error {}

/** Returns the failure that the peer reports (section 3.6). */
function failureOf({ agent, intent, payload }: Message): AccpError {
  const { code, message } = payload;
  return errorOf(agent, code, message ?? (intent === 'cancel' ? 'the request was cancelled' : undefined));
}

function errorOf(agent: string, code: unknown, message: unknown): AccpError {
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as AccpErrorCode) : 'E9999';
  return new AccpError({
    code: known,
    message: `${agent}: ${typeof message === 'string' ? message : 'the request failed'}`,
  });
}

export interface CorrelatedMessage extends MessageInput {
  readonly envelope: NonNullable<MessageInput['envelope']> & { readonly correlation_id: string };
}

const freshId = createIds();

/** Gives a request a `correlation_id`. Without one, its answers would name its `mid`, which changes when the request is sent again. */
function withCorrelationId(message: MessageInput | string): CorrelatedMessage {
  const { envelope, ...rest } = typeof message === 'string' ? chatMessage(message) : message;
  return { ...rest, envelope: { ...envelope, correlation_id: envelope?.correlation_id ?? freshId() } };
}

function cancelOf({ operation, envelope }: CorrelatedMessage): MessageInput {
  return { intent: 'cancel', operation, envelope: { correlation_id: envelope.correlation_id } };
}

/**
 * Yields the chunks of a stream. A failure of its chain ends it at once, and so does a plain answer before the first chunk.
 *
 * @param end the message that ends the chain
 */
async function* streamOf(
  stream: AsyncIterable<StreamChunk>,
  end: Promise<Message>,
): AsyncGenerator<StreamChunk, void, undefined> {
  const ended = new AbortController();
  let hasChunks = false;
  let failure: { readonly thrown: unknown } | undefined;
  end.then(
    ({ intent }) => {
      if (intent === 'done' && !hasChunks) ended.abort();
    },
    (thrown: unknown) => {
      // After the end of a link, the chunks that have arrived are read first; they may be the whole stream.
      if (thrown instanceof LinkError) return;
      failure = { thrown };
      ended.abort();
    },
  );
  for await (const chunk of untilAborted(stream, ended.signal, () => undefined)) {
    hasChunks = true;
    yield chunk;
  }
  if (failure !== undefined) throw failure.thrown;
}

interface Refusal {
  readonly cid: string | undefined;
  readonly error: AccpError;
}

/**
 * Reads an error frame with which a binding rejects a frame outside of the session (draft-benzing-accp-00, sections 3.6 and 11); returns
 * `null` for any other frame. Each of them has the number 1.
 *
 * @param peer the agent that answers in the session
 */
export function refusalOutsideSession(frame: string, session: Session, peer: string | undefined): Refusal | null {
  if (!hasErrorSchema(frame)) return null;
  const head = readHead(frame);
  if (head === null || head.sid !== undefined || head.seq !== 1 || head.agent === peer) return null;
  if (session.peers.has(head.agent) || partsOfSession(session).delivery.expected(head.agent) > 1) return null;
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  const payload = parsed.ok ? parsed.value.payload : null;
  return { cid: head.cid, error: errorOf(head.agent, textOf(payload, 'code'), textOf(payload, 'msg')) };
}
