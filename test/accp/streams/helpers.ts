/** Streams with a store, and the results of their readers. */
import { AccpError } from '../../../src/accp/errors.js';
import { Journal } from '../../../src/accp/store/journal.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import type { SessionStore } from '../../../src/accp/store/store.js';
import {
  createStreams,
  type StreamChunk,
  type Streams,
  type StreamsOptions,
} from '../../../src/accp/streams/streams.js';

export interface Receiver {
  readonly streams: Streams;
  readonly journal: Journal;
  /** The types of the logged events. */
  readonly events: readonly string[];
  /** The clock, in milliseconds. */
  readonly clock: { now: number };
}

export function receiver(options: Partial<StreamsOptions> = {}, store: SessionStore = memoryStore()): Receiver {
  const journal = new Journal(store.claim('s', 'a'), store.durable);
  const clock = { now: 1000 };
  const events: string[] = [];
  const streams = createStreams({ journal, now: () => clock.now, emit: (type) => events.push(type), ...options });
  return { streams, journal, events, clock };
}

export function chunk(index: number, more: Partial<StreamChunk> = {}): StreamChunk {
  return { index, data: `d${index}`, final: false, ...more };
}

/** The code of the AccpError that a step throws; `undefined` when it throws nothing. */
export function codeOf(step: () => void): string | undefined {
  try {
    step();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    return thrown.code;
  }
}

/** Returns the indexes of the chunks that a reader gets, and finally the code of the error, if there is one. */
export async function read(chunks: AsyncIterable<StreamChunk>): Promise<(number | string)[]> {
  const got: (number | string)[] = [];
  try {
    for await (const { index, data } of chunks) got.push(data === `d${index}` ? index : NaN);
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    got.push(thrown.code);
  }
  return got;
}
