/** Two endpoints of a session, for tests of the draft through the public entry point, with a clock of their own. */

import { expect } from 'vitest';
import {
  type Accepted,
  AccpError,
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type DecodeOutcome,
  memoryStore,
  type Rejected,
  type Session,
  type SessionEvent,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import type { TokenCounter } from '../../../src/tokens/index.js';
import { passingTime } from '../../helpers/passing-time.js';

export interface Endpoints {
  readonly codec: Codec;
  readonly planner: Session;
  readonly worker: Session;
  /** Seconds since 1970, for the tests to move. */
  readonly clock: { now: number };
  readonly events: SessionEvent[];
}

export interface EndpointOptions {
  readonly codec?: CodecOptions;
  readonly session?: Omit<SessionOptions, 'agent'>;
  /** If true, both ends use one store. */
  readonly shared?: boolean;
}

/** The time of the tests, in seconds since 1970. */
export const NOON = 1_714_000_000;

/** Opens two ends with one codec. They share nothing but frames, unless they share a store. */
export function endpoints({ codec, session, shared = false }: EndpointOptions = {}): Endpoints {
  const clock = passingTime(NOON, 1000);
  const events: SessionEvent[] = [];
  const options = { id: 's1', ...session, ...(shared ? { shared, store: memoryStore() } : {}) };
  return {
    codec: createCodec({ now: () => clock.now * 1000, log: (event) => events.push(event), ...codec }),
    planner: createSession({ ...options, agent: 'planner' }),
    worker: createSession({ ...options, agent: 'worker' }),
    clock,
    events,
  };
}

/** Returns the message of an accepted frame. */
export function accepted(outcome: DecodeOutcome): Accepted {
  if (outcome.outcome !== 'message') expect.fail(`the frame was ${outcome.outcome}: ${reasonOf(outcome)}`);
  return outcome;
}

/** The refusal of a frame, with the code that it has to have. */
export function rejected(outcome: DecodeOutcome, code: string): Rejected {
  if (outcome.outcome !== 'rejected') expect.fail(`the frame was not rejected: ${outcome.outcome}`);
  expect(outcome.error.code, outcome.error.message).toBe(code);
  return outcome;
}

/** The error of our own that something throws. */
export function thrownBy(run: () => unknown): AccpError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof AccpError) return thrown;
    throw thrown;
  }
  return expect.fail('nothing was thrown');
}

/** Counts the letter x: so a test can make any part of a frame exactly as large as it wants. */
export const COUNTS_X: TokenCounter = {
  count: (text) => text.split('x').length - 1,
  exact: true,
  encoding: 'x',
};

/** Header and body of a frame, and its metadata by key. */
export function taken(frame: string): { readonly body: string; readonly metadata: Readonly<Record<string, string>> } {
  const [body, metadata = ''] = frame.split(/(?<=\})(?=\[mid:)/);
  const pairs = metadata
    .slice(1, -1)
    .split(',')
    .map((pair) => pair.split(':') as [string, string]);
  return { body: body!, metadata: Object.fromEntries(pairs) };
}

function reasonOf(outcome: DecodeOutcome): string {
  if (outcome.outcome === 'rejected') return outcome.error.message;
  return outcome.outcome === 'dropped' ? outcome.reason : '';
}
