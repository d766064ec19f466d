/** Sessions that process the corpus, round after round, with new identifiers in each. */

import {
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type DecodeOutcome,
  type MessageInput,
  type Session,
  type SessionOptions,
} from '../../src/accp/codec/index.js';
import { createIds } from '../../src/accp/session/runtime.js';
import { flat } from '../../src/bench/workload.js';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { asInput, type CorpusMessage, corpusMessages, isStream } from './corpus.js';

/** Returns a function that returns the corpus with new identifiers at each call. */
export function createRounds(messages: readonly CorpusMessage[] = corpusMessages()): () => MessageInput[] {
  const freshId = createIds();
  let version = 0;
  return () => {
    const ids = new Map<string, string>();
    const idOf = (id: string): string => {
      let known = ids.get(id);
      if (known === undefined) {
        known = freshId();
        ids.set(id, known);
      }
      return known;
    };
    return messages.map((message) => asInput(message, idOf, message.operation === 'state' ? ++version : 0));
  };
}

export interface Endpoint {
  readonly codec: Codec;
  readonly session: Session;
}

/** Creates a codec and a session as the benchmarks use them: with any text, and exact token counts. */
export function createEndpoint(
  counter: TokenCounter,
  codecOptions: CodecOptions = {},
  sessionOptions: Partial<SessionOptions> = {},
): Endpoint {
  return {
    codec: createCodec({ text: 'transliterate', counter, ...codecOptions }),
    session: createSession({ agent: 'bench', id: 'sprint14-auth', ...sessionOptions }),
  };
}

/** Lets two sides exchange their announcements, which compact frames require. */
export function announce(a: Endpoint, b: Endpoint): void {
  const deliver = (frames: readonly string[], from: Endpoint, to: Endpoint): void => {
    for (const frame of frames) {
      const outcome = to.codec.decode(frame, to.session);
      if (outcome.outcome !== 'message') throw refusal(outcome);
      deliver(outcome.replies, to, from);
    }
  };
  deliver(a.codec.announce(a.session).frames, a, b);
}

/** Encodes one round, into at least as many frames. */
export function encodeRound({ codec, session }: Endpoint, round: readonly MessageInput[]): string[] {
  const frames: string[] = [];
  for (const message of round) for (const frame of codec.encode(message, session).frames) frames.push(frame);
  return frames;
}

/** The frames of one round, in memory of their own, as from a socket. */
export interface Batch {
  readonly frames: readonly string[];
  /** The streams of the batch, and the number of chunks of each. */
  readonly streams: ReadonlyMap<string, number>;
}

/** Makes batches that a session can decode in sequence. @param reader the only reader of compact batches */
export function createBatches(counter: TokenCounter, reader?: Endpoint): () => Batch {
  const endpoint = createEndpoint(counter, { state: false, compact: reader !== undefined });
  if (reader !== undefined) announce(endpoint, reader);
  const messages = corpusMessages();
  const rounds = createRounds(messages);
  return () => {
    const round = rounds();
    const streams = new Map<string, number>();
    for (const [index, message] of messages.entries()) {
      const cid = round[index]!.envelope!.correlation_id;
      if (isStream(message)) streams.set(cid!, (streams.get(cid!) ?? 0) + 1);
    }
    return { frames: encodeRound(endpoint, round).map(flat), streams };
  };
}

/** Reads the streams of a later batch: the chunks, and the end after them. */
export function readStreams({ session }: Endpoint, { streams }: Batch): void {
  for (const [cid, chunks] of streams) {
    const reader = session.stream(cid)[Symbol.asyncIterator]();
    for (let chunk = 0; chunk <= chunks; chunk++) void reader.next();
  }
}

/**
 * Decodes a batch.
 *
 * @throws Error if a frame is rejected
 */
export function decodeBatch({ codec, session }: Endpoint, { frames }: Batch): number {
  let messages = 0;
  for (let index = 0; index < frames.length; index++) {
    const outcome = codec.decode(frames[index]!, session);
    if (outcome.outcome === 'message') messages++;
    else if (outcome.outcome !== 'pending') throw refusal(outcome);
  }
  return messages;
}

function refusal(outcome: DecodeOutcome): Error {
  return outcome.outcome === 'rejected' ? outcome.error : new Error(`the outcome of a frame was ${outcome.outcome}`);
}
