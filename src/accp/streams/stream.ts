/** One received stream: the check and storage of its chunks, and the iterator of its reader. */

import { AccpError, type AccpErrorCode, type AccpErrorDetails, accpError } from '../errors.js';
import { copyJson, type Json, Reference } from '../message/json.js';
import type { Collection, Journal } from '../store/journal.js';

/** A chunk of a stream (draft-benzing-accp-00, section 10.4). */
export interface StreamChunk {
  /** The index of the chunk, which starts at 0. */
  readonly index: number;
  /** The number of chunks; absent if the sender does not know it. */
  readonly total?: number | undefined;
  /** The content of the chunk. */
  readonly data: Json;
  /** `true` if it is the last chunk. */
  readonly final: boolean;
}

export interface Stream {
  readonly cid: string;
  /** The sender; `null` while there is only a reader. */
  agent: string | null;
  /** The index of the first chunk not yet read. */
  next: number;
  /** The number of chunks; `null` until a total or the final chunk is received. */
  count: number | null;
  final: boolean;
  /** The highest unread index; -1 for none. */
  highest: number;
  /** The reason for which the stream will not be complete. Chunks before the first gap can still be read. */
  failure: Failure | null;
  /** The received indexes from `next`, with the lengths of their data; 0 for the delivered chunk. */
  readonly waiting: Map<number, number>;
  /** `true` if the reader has the chunk `next` and has not requested the following one. */
  isDelivered: boolean;
  /** The time of the latest chunk, or of the first read, in milliseconds since 1970; `null` until the clock is read. */
  activeAt: number | null;
  reader: Reader | null;
  /** The error that follows the received chunks if the sender has disconnected. */
  disconnectError: Error | null;
}

export interface Failure {
  readonly code: AccpErrorCode;
  readonly message: string;
  readonly details: NonNullable<AccpErrorDetails['details']>;
}

type Ending = 'read' | 'failed' | 'abandoned';

type StreamRecord = Readonly<Pick<Stream, 'agent' | 'next' | 'count' | 'final' | 'failure'>>;

/** A chunk in the journal; its key contains the rest. */
type ChunkRecord = readonly [data: Json, total: number | null, final: boolean];

/** The maximum number of ended streams that are stored, so that their late chunks do not open new streams. */
const MAX_ENDED = 4096;

export function newStream(cid: string, activeAt: number | null): Stream {
  return {
    cid,
    agent: null,
    next: 0,
    count: null,
    final: false,
    highest: -1,
    failure: null,
    waiting: new Map(),
    isDelivered: false,
    activeAt,
    reader: null,
    disconnectError: null,
  };
}

export function isComplete({ final, next, waiting, count }: Stream): boolean {
  return final && next + waiting.size === count;
}

export function firstMissing({ next, waiting }: Stream): number {
  let index = next;
  while (waiting.has(index)) index++;
  return index;
}

export function errorOf({ code, message, details }: Failure): AccpError {
  return new AccpError({ code, message, details });
}

/** The received streams and their unread chunks, in the journal. */
export class StreamBuffer {
  readonly #records: Collection<StreamRecord>;
  readonly #chunks: Collection<ChunkRecord>;
  readonly #ended: Collection<Ending>;
  readonly streams = new Map<string, Stream>();
  #characters = 0;

  constructor(journal: Journal) {
    this.#records = journal.collection('streams');
    this.#chunks = journal.collection('stream-chunks');
    this.#ended = journal.collection('streams-ended');
    for (const [cid, record] of this.#records.entries()) {
      this.streams.set(cid, { ...newStream(cid, null), ...record });
    }
    for (const [key, [data]] of this.#chunks.entries()) {
      const colon = key.indexOf(':');
      const index = Number(key.slice(0, colon));
      const stream = this.streams.get(key.slice(colon + 1))!;
      this.#add(stream, index, data);
      stream.highest = Math.max(stream.highest, index);
    }
  }

  get characters(): number {
    return this.#characters;
  }

  get size(): number {
    return this.#records.size;
  }

  endingOf(cid: string): Ending | undefined {
    return this.#ended.get(cid);
  }

  save({ cid, agent, next, count, final, failure }: Stream): void {
    if (agent !== null) this.#records.set(cid, { agent, next, count, final, failure });
  }

  /** Stores a copy of a chunk. */
  put(stream: Stream, { index, data, total, final }: StreamChunk): void {
    this.#add(stream, index, data);
    this.#chunks.set(`${index}:${stream.cid}`, [copyJson(data), total ?? null, final]);
  }

  /** Returns a copy of a waiting chunk, which counts as delivered. */
  deliver(stream: Stream, index: number): StreamChunk {
    const [data, total, final] = this.#chunks.get(`${index}:${stream.cid}`)!;
    this.#characters -= stream.waiting.get(index)!;
    stream.waiting.set(index, 0);
    return { index, ...(total === null ? {} : { total }), data: copyJson(data), final };
  }

  remove(stream: Stream, index: number): void {
    this.#characters -= stream.waiting.get(index) ?? 0;
    stream.waiting.delete(index);
    this.#chunks.delete(`${index}:${stream.cid}`);
  }

  /** Removes a stream, except for the way in which it ended. */
  end(stream: Stream, ending: Ending): void {
    for (const index of [...stream.waiting.keys()]) this.remove(stream, index);
    this.streams.delete(stream.cid);
    this.#records.delete(stream.cid);
    this.#ended.set(stream.cid, ending);
    if (this.#ended.size > MAX_ENDED) this.#ended.takeOldest();
  }

  #add(stream: Stream, index: number, data: Json): void {
    const characters = charactersOf(data);
    stream.waiting.set(index, characters);
    this.#characters += characters;
  }
}

/** Returns the estimated length of a value as JSON; escaped characters count once. */
export function charactersOf(value: Json): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (value instanceof Reference) return value.path.length + 3;
  // Brackets and separators.
  let sum = 2;
  if (Array.isArray(value)) {
    for (const item of value) sum += charactersOf(item) + 1;
    return sum;
  }
  for (const [key, item] of Object.entries(value)) sum += key.length + charactersOf(item) + 4;
  return sum;
}

export type Step =
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk }
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'done' };

interface Reader {
  readonly chunks: AsyncIterableIterator<StreamChunk>;
  readonly isWaiting: () => boolean;
  /** Delivers steps; call it when one may be available. */
  readonly wake: () => void;
}

interface PendingRead {
  readonly resolve: (result: IteratorResult<StreamChunk>) => void;
  readonly reject: (error: Error) => void;
}

const END: IteratorResult<StreamChunk> = { done: true, value: undefined };

/**
 * Creates the iterator of a reader.
 *
 * @param take returns the next step, or `null` to wait; `requested` is false after `wake`
 * @param abandon is called if the reader ends the loop early
 */
export function createReader(take: (requested: boolean) => Step | null, abandon: () => void): Reader {
  const waiting: PendingRead[] = [];
  let over = false;

  function finish(): void {
    over = true;
    for (const { resolve } of waiting.splice(0)) resolve(END);
  }

  function deliver(requested: boolean): void {
    while (waiting.length > 0) {
      const step = take(requested);
      if (step === null) return;
      // Removed first, since the reads after it end with the stream.
      const { resolve, reject } = waiting.shift()!;
      if (step.kind === 'chunk') {
        resolve({ done: false, value: step.chunk });
        continue;
      }
      if (step.kind === 'error') reject(step.error);
      else resolve(END);
      finish();
    }
  }

  const chunks: AsyncIterableIterator<StreamChunk> = {
    next() {
      if (over) return Promise.resolve(END);
      return new Promise((resolve, reject) => {
        const call: PendingRead = { resolve, reject };
        waiting.push(call);
        try {
          deliver(true);
        } catch (thrown) {
          const at = waiting.indexOf(call);
          if (at >= 0) waiting.splice(at, 1);
          throw thrown;
        }
      });
    },
    async return() {
      if (!over) {
        finish();
        abandon();
      }
      return END;
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { chunks, isWaiting: () => waiting.length > 0, wake: () => deliver(false) };
}

interface Progress extends Pick<Stream, 'next' | 'count' | 'final' | 'highest'> {
  readonly waiting: { readonly has: (index: number) => boolean };
}

/** Checks a chunk and returns the number of chunks, if known. Throws AccpError E3002 for a repeated index, E1004 for contradictions. */
export function checkChunk(stream: Progress, { index, total, final }: StreamChunk): number | null {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw invalidChunk('chunk_index', 'the index of a chunk must be a non-negative integer');
  }
  if (total !== undefined && (!Number.isSafeInteger(total) || total < 1)) {
    throw invalidChunk('total_chunks', 'the number of chunks must be a positive integer');
  }
  if (index < stream.next || stream.waiting.has(index)) {
    throw accpError('E3002', 'payload.chunk_index', `chunk ${index} of this stream was received before`);
  }
  if (final && stream.final) {
    throw invalidChunk('is_final', `the final chunk was received before, with the index ${stream.count! - 1}`);
  }
  const count = total ?? stream.count;
  if (total !== undefined && stream.count !== null && total !== stream.count) {
    throw invalidChunk('total_chunks', `the stream has ${stream.count} chunks; got ${total}`);
  }
  if (count !== null && index >= count) {
    throw invalidChunk(
      'chunk_index',
      `the stream has ${count} chunks, so the last index is ${count - 1}; got ${index}`,
    );
  }
  if (count !== null && final && index !== count - 1) {
    throw invalidChunk(
      'is_final',
      `the stream has ${count} chunks, so the final one has the index ${count - 1}; got ${index}`,
    );
  }
  const known = final ? index + 1 : count;
  if (known !== null && stream.highest >= known) {
    throw invalidChunk(
      final ? 'is_final' : 'total_chunks',
      `a chunk with the higher index ${stream.highest} was received before`,
    );
  }
  return known;
}

function invalidChunk(key: string, message: string): AccpError {
  return accpError('E1004', `payload.${key}`, message);
}
