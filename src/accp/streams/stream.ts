/** One stream on its way from its sender to its reader, and where it is kept. */
import { AccpError, type AccpErrorDetails } from '../errors/accp-error.js';
import type { AccpErrorCode } from '../errors/codes.js';
import type { Json } from '../message/json.js';
import { copyOf } from '../message/plain.js';
import type { Collection, Journal } from '../store/journal.js';
import { charactersOf } from './characters.js';
import type { StreamChunk } from './chunk.js';
import type { Reader } from './reader.js';

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
export type Ending = 'read' | 'failed' | 'left';

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
