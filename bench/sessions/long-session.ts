/** Whether a session grows slower as it grows old. */
import process from 'node:process';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { type Batch, createBatches, createEndpoint, decodeBatch, type Endpoint, readStreams } from './endpoints.js';

/** Frames in all, and those at either end whose mean cost is compared. */
export interface LongSessionOptions {
  readonly frames: number;
  readonly window: number;
}

export const WHOLE: LongSessionOptions = { frames: 100_000, window: 10_000 };

/** Microseconds of processor time for one frame, on average. */
export interface LongSession {
  /** Of the first frames of a session. */
  readonly first: number;
  /** Of the last frames of a long one. */
  readonly last: number;
}

/** A session and what is sent in it. */
interface Line {
  readonly endpoint: Endpoint;
  readonly nextBatch: () => Batch;
  frames: number;
  microseconds: number;
}

/**
 * Decodes a long session. Its last frames take turns with the first frames of another session like it, and processor time is
 * taken, garbage collection included: so nothing that happens on the machine meanwhile makes either look slower.
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
  // What reads the streams has to have its turn.
  await Promise.resolve();
}
