/** Clock, token counter and log of a session, which the codec provides. */
import { monotonicClock } from '../../async/timers.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { EventListener, Note } from '../store/events.js';

interface RuntimeSource {
  readonly clock: () => number;
  readonly tokens: TokenCounter;
  readonly log: EventListener | undefined;
}

export interface Runtime {
  readonly bind: (source: RuntimeSource) => void;
  /** Whole seconds since 1970 by the wall clock, for frames. */
  readonly now: () => number;
  /** Whole seconds since 1970 by a monotonic clock, for waits and expiry. */
  readonly steady: () => number;
  /** The same with fractions, for waits shorter than a second. */
  readonly monotonic: () => number;
  readonly counter: TokenCounter;
  readonly log: EventListener | undefined;
  readonly note: Note;
}

interface RuntimeOptions {
  readonly session: string;
  readonly agent: string;
  readonly clock?: (() => number) | undefined;
  readonly tokens?: TokenCounter | undefined;
}

export function systemClock(): number {
  return Date.now() / 1000;
}

export function createRuntime({ session, agent, clock, tokens }: RuntimeOptions): Runtime {
  let current: RuntimeSource = { clock: clock ?? systemClock, tokens: tokens ?? ESTIMATING_COUNTER, log: undefined };
  monotonicClock(current.clock, 1000);
  const counter: TokenCounter = {
    count: (text) => current.tokens.count(text),
    get exact() {
      return current.tokens.exact;
    },
    get encoding() {
      return current.tokens.encoding;
    },
  };
  const now = (): number => Math.floor(current.clock());
  return {
    bind: (source) => {
      current = source;
      // Starts it now, before the wall clock can jump.
      monotonicClock(source.clock, 1000);
    },
    now,
    steady: () => Math.floor(monotonicClock(current.clock, 1000)()),
    monotonic: () => monotonicClock(current.clock, 1000)(),
    counter,
    get log() {
      return current.log;
    },
    note: (type, message, more) => {
      if (current.log === undefined) return;
      try {
        current.log({ type, session, agent, at: now(), message, ...more });
      } catch {
        // A missing log entry is better than half a step of the protocol.
      }
    },
  };
}

const LETTERS = 'abcdef';
const DIGITS = 11;
const POOL = 4096;
/** The largest multiple of ten in a byte: higher bytes would favour the low digits. */
const FAIR = 250;

/** The part of Web Crypto that Node and browsers share. */
interface RandomSource {
  readonly getRandomValues: (bytes: Uint8Array) => Uint8Array;
}

/** Makes identifiers: a letter, so that none reads as a number, and eleven digits, which cost fewer tokens than letters. */
export function createIds(
  source: RandomSource = (globalThis as unknown as { crypto: RandomSource }).crypto,
): () => string {
  const pool = new Uint8Array(POOL);
  let at = POOL;
  const byte = (): number => {
    if (at === POOL) {
      source.getRandomValues(pool);
      at = 0;
    }
    return pool[at++]!;
  };
  return () => {
    let id = LETTERS[byte() % LETTERS.length]!;
    while (id.length <= DIGITS) {
      const next = byte();
      if (next < FAIR) id += next % 10;
    }
    return id;
  };
}
