/** One received stream: its chunks, their checks, where they are kept, and the iterator that its reader has. */

import { AccpError, type AccpErrorCode, type AccpErrorDetails } from '../errors.js';
import { copyOf, type Json, Reference } from '../message/json.js';
import type { Collection, Journal } from '../store/journal.js';

/** One piece of a stream (draft-benzing-accp-00, section 10.4). */
export interface StreamChunk {
  /** From 0. */
  readonly index: number;
  /** How many chunks the stream has, where the sender knows. */
  readonly total?: number | undefined;
  readonly data: Json;
  /** Whether it is the last one. */
  readonly final: boolean;
}

export interface Stream {
  readonly cid: string;
  /** Its sender; `null` as long as there is only a reader. */
  agent: string | null;
  /** The index of the first chunk that the reader is not done with. */
  next: number;
  /** How many chunks it has, once that was told by a total or by the final chunk. */
  count: number | null;
  /** Whether the final chunk has come. */
  final: boolean;
  /** The highest index that has come and was not read; -1 for none. */
  highest: number;
  /** Why it will not be complete. The chunks in front of the first gap can still be read. */
  failure: Failure | null;
  /** The indexes from `next` on that have come, with the characters of their data; 0 for what the reader has in hand. */
  readonly waiting: Map<number, number>;
  /** Whether the reader has the chunk `next`, and has not yet asked for the one after. */
  inHand: boolean;
  /** When the latest chunk came, or reading began: seconds since 1970. `null` until the clock is looked at. */
  at: number | null;
  reader: Reader | null;
  /** What its reader gets behind what has come, where its sender has gone. */
  cut: Error | null;
}

/** An error as it is kept. */
export interface Failure {
  readonly code: AccpErrorCode;
  readonly message: string;
  readonly details: NonNullable<AccpErrorDetails['details']>;
}

/** How a stream ended: read to its end, failed, or left by its reader. */
type Ending = 'read' | 'failed' | 'left';

/** A stream in the journal. */
interface StreamRecord {
  readonly agent: string;
  readonly next: number;
  readonly count: number | null;
  readonly final: boolean;
  readonly failure: Failure | null;
}

/** A chunk in the journal; what it lacks is in its key. */
type ChunkRecord = readonly [data: Json, total: number | null, final: boolean];

/** Ended streams that are remembered, so that their late chunks are told from new streams. */
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

/** Whether all chunks have come. */
export function isComplete({ final, next, waiting, count }: Stream): boolean {
  return final && next + waiting.size === count;
}

/** The first index that has not come. */
export function firstMissing({ next, waiting }: Stream): number {
  let index = next;
  while (waiting.has(index)) index++;
  return index;
}

export function errorOf({ code, message, details }: Failure): AccpError {
  return new AccpError({ code, message, details });
}

/** The streams of a journal. */
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

  /** Characters of all chunks that no reader has taken. */
  get characters(): number {
    return this.#characters;
  }

  /** How many streams have a sender. */
  get size(): number {
    return this.#records.size;
  }

  endingOf(cid: string): Ending | undefined {
    return this.#ended.get(cid);
  }

  /** Keeps what has changed about a stream, its chunks apart. */
  save({ cid, agent, next, count, final, failure }: Stream): void {
    if (agent !== null) this.#records.set(cid, { agent, next, count, final, failure });
  }

  /** Keeps a copy of a chunk: whoever brought it may go on with it. */
  put(stream: Stream, { index, data, total, final }: StreamChunk): void {
    this.#hold(stream, index, data);
    this.#chunks.set(`${index}:${stream.cid}`, [copyOf(data), total ?? null, final]);
  }

  /** A copy of a chunk that waits, for its reader, who may do with it as they like. It is in hand now. */
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

/** About the length of a value as JSON: what has to be escaped counts once. */
export function charactersOf(value: Json): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (value instanceof Reference) return value.path.length + 3;
  // Brackets, and what separates members.
  let sum = 2;
  if (Array.isArray(value)) {
    for (const item of value) sum += charactersOf(item) + 1;
    return sum;
  }
  for (const [key, item] of Object.entries(value)) sum += key.length + charactersOf(item) + 4;
  return sum;
}

/** What there is for a reader. */
export type Step =
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk }
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'done' };

interface Reader {
  readonly chunks: AsyncIterableIterator<StreamChunk>;
  /** Whether a chunk is asked for. */
  readonly isWaiting: () => boolean;
  /** Has to be called when there may be a step for who waits. */
  readonly wake: () => void;
}

/** A call of `next` that waits. */
interface Waiting {
  readonly resolve: (result: IteratorResult<StreamChunk>) => void;
  readonly reject: (error: Error) => void;
}

const END: IteratorResult<StreamChunk> = { done: true, value: undefined };

/**
 * @param take the next step, or `null` when it has to be waited for; called once for each step that is handed over. Is told
 *   whether the reader asks, as opposed to somebody who has woken it. What it throws, who asks is told; nothing is over then
 * @param leave called when the loop over the chunks is left before its end
 */
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
      // Out of the queue before anything else: what waits behind it ends with the stream.
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

/** What chunks are checked against. */
interface Progress extends Pick<Stream, 'next' | 'count' | 'final' | 'highest'> {
  /** The indexes beyond `next` that have come. */
  readonly waiting: { readonly has: (index: number) => boolean };
}

/**
 * @returns how many chunks the stream has, as far as is known with this one
 * @throws AccpError E3002 for an index that has come before; E1004 for one that is none, and for a chunk that
 *   contradicts what was told of the length of the stream
 */
export function checkChunk(stream: Progress, { index, total, final }: StreamChunk): number | null {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw unfit('chunk_index', 'the index of a chunk is a whole number from 0 on');
  }
  if (total !== undefined && (!Number.isSafeInteger(total) || total < 1)) {
    throw unfit('total_chunks', 'the number of chunks is a whole number from 1 on');
  }
  if (index < stream.next || stream.waiting.has(index)) {
    throw new AccpError({
      code: 'E3002',
      path: 'payload.chunk_index',
      message: `chunk ${index} of this stream has come before`,
    });
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
  return new AccpError({ code: 'E1004', path: `payload.${key}`, message });
}
