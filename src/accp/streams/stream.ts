/** One received stream: its chunks, their checks and storage, and the reader's iterator. */

import { AccpError, type AccpErrorCode, type AccpErrorDetails, accpError } from '../errors.js';
import { copyOf, type Json, Reference } from '../message/json.js';
import type { Collection, Journal } from '../store/journal.js';

/** One piece of a stream (draft-benzing-accp-00, section 10.4). */
export interface StreamChunk {
  readonly index: number;
  /** The number of chunks, if the sender knows it. */
  readonly total?: number | undefined;
  readonly data: Json;
  readonly final: boolean;
}

export interface Stream {
  readonly cid: string;
  /** Its sender; `null` while there is only a reader. */
  agent: string | null;
  /** The index of the first chunk not yet read. */
  next: number;
  /** The number of chunks, once known from a total or the final chunk. */
  count: number | null;
  final: boolean;
  /** The highest unread index; -1 for none. */
  highest: number;
  /** The reason it will not be complete. Chunks before the first gap can still be read. */
  failure: Failure | null;
  /** Received indexes from `next`, with the characters of their data; 0 for the chunk in hand. */
  readonly waiting: Map<number, number>;
  /** Whether the reader has the chunk `next` and has not asked for the following one. */
  inHand: boolean;
  /** Time of the latest chunk, or of the first read, in milliseconds since 1970; `null` until the clock is read. */
  at: number | null;
  reader: Reader | null;
  /** The error behind the received chunks, if its sender has disconnected. */
  cut: Error | null;
}

export interface Failure {
  readonly code: AccpErrorCode;
  readonly message: string;
  readonly details: NonNullable<AccpErrorDetails['details']>;
}

type Ending = 'read' | 'failed' | 'left';

type StreamRecord = Readonly<Pick<Stream, 'agent' | 'next' | 'count' | 'final' | 'failure'>>;

/** A chunk in the journal; its key has the rest. */
type ChunkRecord = readonly [data: Json, total: number | null, final: boolean];

/** Ended streams that are remembered, so that their late chunks do not open new streams. */
const MAX_ENDED = 4096;

export function newStream(cid: string, at: number | null): Stream {
  return {
    cid,
    agent: null,
    next: 0,
    count: null,
    final: false,
    highest: -1,
    failure: null,
    waiting: new Map(),
    inHand: false,
    at,
    reader: null,
    cut: null,
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

export class Shelf {
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
      this.#hold(stream, index, data);
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
    this.#hold(stream, index, data);
    this.#chunks.set(`${index}:${stream.cid}`, [copyOf(data), total ?? null, final]);
  }

  /** Returns a copy of a waiting chunk, which is in hand then. */
  handOut(stream: Stream, index: number): StreamChunk {
    const [data, total, final] = this.#chunks.get(`${index}:${stream.cid}`)!;
    this.#characters -= stream.waiting.get(index)!;
    stream.waiting.set(index, 0);
    return { index, ...(total === null ? {} : { total }), data: copyOf(data), final };
  }

  remove(stream: Stream, index: number): void {
    this.#characters -= stream.waiting.get(index) ?? 0;
    stream.waiting.delete(index);
    this.#chunks.delete(`${index}:${stream.cid}`);
  }

  /** Forgets all of a stream but how it ended. */
  end(stream: Stream, ending: Ending): void {
    for (const index of [...stream.waiting.keys()]) this.remove(stream, index);
    this.streams.delete(stream.cid);
    this.#records.delete(stream.cid);
    this.#ended.set(stream.cid, ending);
    if (this.#ended.size > MAX_ENDED) this.#ended.takeOldest();
  }

  #hold(stream: Stream, index: number, data: Json): void {
    const characters = charactersOf(data);
    stream.waiting.set(index, characters);
    this.#characters += characters;
  }
}

/** Estimates the length of a value as JSON; escaped characters count once. */
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
  /** To be called when a step may be available. */
  readonly wake: () => void;
}

interface Waiting {
  readonly resolve: (result: IteratorResult<StreamChunk>) => void;
  readonly reject: (error: Error) => void;
}

const END: IteratorResult<StreamChunk> = { done: true, value: undefined };

/** `take` returns the next step, or `null` to wait; `asked` is false after `wake`. `leave` is called when the loop is left early. */
export function createReader(take: (asked: boolean) => Step | null, leave: () => void): Reader {
  const waiting: Waiting[] = [];
  let over = false;

  function finish(): void {
    over = true;
    for (const { resolve } of waiting.splice(0)) resolve(END);
  }

  function hand(asked: boolean): void {
    while (waiting.length > 0) {
      const step = take(asked);
      if (step === null) return;
      // Remove it before all else: those behind it end with the stream.
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
        const call: Waiting = { resolve, reject };
        waiting.push(call);
        try {
          hand(true);
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
        leave();
      }
      return END;
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { chunks, isWaiting: () => waiting.length > 0, wake: () => hand(false) };
}

interface Progress extends Pick<Stream, 'next' | 'count' | 'final' | 'highest'> {
  readonly waiting: { readonly has: (index: number) => boolean };
}

/** Returns the number of chunks, if known. Throws AccpError E3002 for a repeated index, E1004 for contradictions. */
export function checkChunk(stream: Progress, { index, total, final }: StreamChunk): number | null {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw unfit('chunk_index', 'the index of a chunk is a whole number from 0 on');
  }
  if (total !== undefined && (!Number.isSafeInteger(total) || total < 1)) {
    throw unfit('total_chunks', 'the number of chunks is a whole number from 1 on');
  }
  if (index < stream.next || stream.waiting.has(index)) {
    throw accpError('E3002', 'payload.chunk_index', `chunk ${index} of this stream has come before`);
  }
  if (final && stream.final) {
    throw unfit('is_final', `the final chunk has come, with the index ${stream.count! - 1}; there is no second`);
  }
  const count = total ?? stream.count;
  if (total !== undefined && stream.count !== null && total !== stream.count) {
    throw unfit('total_chunks', `the stream has ${stream.count} chunks by what came before, not ${total}`);
  }
  if (count !== null && index >= count) {
    throw unfit('chunk_index', `the stream has ${count} chunks, so its last index is ${count - 1}, and not ${index}`);
  }
  if (count !== null && final && index !== count - 1) {
    throw unfit('is_final', `the stream has ${count} chunks, so the final one is ${count - 1}, and not ${index}`);
  }
  const told = final ? index + 1 : count;
  if (told !== null && stream.highest >= told) {
    throw unfit(final ? 'is_final' : 'total_chunks', `a chunk with the index ${stream.highest} has come before`);
  }
  return told;
}

function unfit(key: string, message: string): AccpError {
  return accpError('E1004', `payload.${key}`, message);
}
