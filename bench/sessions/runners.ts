/** Runners that send the message corpus through sessions, and the runners that they are compared with. */
import type { CodecOptions, SessionOptions } from '../../src/accp/codec/index.js';
import type { Runner } from '../../src/bench/race.js';
import { handling } from '../../src/bench/workload.js';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { corpusMessages } from './corpus.js';
import {
  announce,
  type Batch,
  createBatches,
  createEndpoint,
  createRounds,
  decodeBatch,
  encodeRound,
  readStreams,
} from './endpoints.js';
import { readMessage, writeMessage } from './message-schema.js';

export const ZOD = 'JSON.parse + zod';
export const DECODE = 'pegwire session decode';
export const ZOD_WRITE = 'zod + JSON.stringify';
export const ENCODE = 'pegwire session encode';
export const COMPACT_DECODE = 'compact session decode';
export const COMPACT_ENCODE = 'compact session encode';
export const COUNTING = 'counting in decode';

/** Decodes the corpus once per pass, each time in new frames. */
export function decoding(
  name: string,
  tokens: TokenCounter,
  codecOptions: CodecOptions = {},
  sessionOptions: Partial<SessionOptions> = {},
): Runner {
  const endpoint = createEndpoint(tokens, codecOptions, sessionOptions);
  const nextBatch = createBatches(tokens, codecOptions.compact ? endpoint : undefined);
  let batches: Batch[] = [];
  let at = 0;
  return {
    name,
    prepare: (passes) => {
      batches = Array.from({ length: passes }, nextBatch);
      at = 0;
      for (const batch of batches) readStreams(endpoint, batch);
      // Checkpoints by the host are not measured.
      if (codecOptions.checkpoints === 'manual') void endpoint.codec.checkpoint(endpoint.session);
    },
    pass: () => decodeBatch(endpoint, batches[at++]!),
  };
}

/** Encodes the corpus once per pass, each time with new identifiers. */
export function encoding(name: string, tokens: TokenCounter, codecOptions: CodecOptions = {}): Runner {
  const endpoint = createEndpoint(tokens, codecOptions);
  if (codecOptions.compact) announce(endpoint, createEndpoint(tokens, codecOptions));
  const nextRound = createRounds();
  let rounds: ReturnType<typeof nextRound>[] = [];
  let at = 0;
  return {
    name,
    prepare: (passes) => {
      rounds = Array.from({ length: passes }, nextRound);
      at = 0;
    },
    pass: () => encodeRound(endpoint, rounds[at++]!),
  };
}

/** Counts the tokens that a session counts while it decodes the corpus once. */
export function counting(tokens: TokenCounter): Runner {
  const texts: string[] = [];
  const noting: TokenCounter = {
    ...tokens,
    count: (text) => {
      texts.push(text);
      return tokens.count(text);
    },
  };
  const runner = decoding('', noting);
  runner.prepare?.(2);
  runner.pass();
  // Hot state is empty in the first round only.
  texts.length = 0;
  runner.pass();
  return handling(COUNTING, (text) => tokens.count(text), texts);
}

export function parsingWithZod(): Runner {
  return handling(ZOD, readMessage, jsonTexts());
}

export function writingWithZod(): Runner {
  return handling(ZOD_WRITE, writeMessage, corpusMessages());
}

/** The corpus as a program without ACCP would send it. */
export function jsonTexts(): string[] {
  return corpusMessages().map((message) => JSON.stringify(message));
}
