/** Measures if a session becomes slower with age. */
import process from 'node:process';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { type Batch, createBatches, createEndpoint, decodeBatch, type Endpoint, readStreams } from './endpoints.js';

/** The total number of frames, and the number at either end whose mean cost is compared. */
export interface LongSessionOptions {
  readonly frames: number;
  readonly window: number;
}

export const WHOLE: LongSessionOptions = { frames: 100_000, window: 10_000 };

/** Microseconds of processor time per frame, on average. */
export interface LongSession {
  /** For the first frames of a session. */
  readonly first: number;
  /** For the last frames of a long one. */
  readonly last: number;
}

/** A session and its input. */
interface Line {
  readonly endpoint: Endpoint;
  readonly nextBatch: () => Batch;
  frames: number;
  microseconds: number;
}

/**
 * Decodes a long session. Its last frames take turns with the first frames of another session, and processor time is
 * measured, including garbage collection, so that other activity on the machine affects both equally.
 */
export async function longSession(tokens: TokenCounter, { frames, window }: LongSessionOptions): Promise<LongSession> {
  const old = lineOf(tokens);
  while (old.frames < frames - window) await round(old);
  const young = lineOf(tokens);
  Object.assign(old, { frames: 0, microseconds: 0 });
  for (let turn = 0; young.frames < window; turn++) {
    for (const line of turn % 2 === 0 ? [young, old] : [old, young]) await round(line);
  }
  return { first: young.microseconds / young.frames, last: old.microseconds / old.frames };
}

function lineOf(tokens: TokenCounter): Line {
  return { endpoint: createEndpoint(tokens), nextBatch: createBatches(tokens), frames: 0, microseconds: 0 };
}

async function round(line: Line): Promise<void> {
  const { endpoint, nextBatch } = line;
  const batch = nextBatch();
  readStreams(endpoint, batch);
  const start = process.cpuUsage();
  decodeBatch(endpoint, batch);
  const { user, system } = process.cpuUsage(start);
  line.microseconds += user + system;
  line.frames += batch.frames.length;
  // Lets the readers of the streams run.
  await Promise.resolve();
}
