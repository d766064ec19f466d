/** What a session takes from the codec that works on it: clock, token counter, log. */
import { monotonicClock } from '../../async/timers.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { EventListener, Note } from '../store/events.js';

interface RuntimeSource {
  readonly clock: () => number;
  readonly tokens: TokenCounter;
  readonly log: EventListener | undefined;
}

export interface Runtime {
  /** From now on, these are used. */
  readonly bind: (source: RuntimeSource) => void;
  /** Seconds since 1970 by the wall clock, which frames carry. */
  readonly now: () => number;
  /** Whole seconds since 1970 by a clock that no jump of the wall clock moves: what waits, and what is kept for a time, goes by it. */
  readonly steady: () => number;
  /** The same with fractions of a second: how long an answer is waited for may be shorter than a second. */
  readonly monotonic: () => number;
  readonly counter: TokenCounter;
  readonly log: EventListener | undefined;
  /** Puts an event into the log, if there is one. */
  readonly note: Note;
}

interface RuntimeOptions {
  /** Named by every event. */
  readonly session: string;
  readonly agent: string;
  readonly clock?: (() => number) | undefined;
  readonly tokens?: TokenCounter | undefined;
}

/** Seconds since 1970, by the clock of the machine. */
export function systemClock(): number {
  return Date.now() / 1000;
}

/** Begins with the system's clock and estimates, where nothing else is given. */
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
  // Frames carry whole seconds.
  const now = (): number => Math.floor(current.clock());
  return {
    bind: (source) => {
      current = source;
      // It starts now, before the wall clock can jump.
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
        // Half a step of the protocol would be worse than a line that is missing in a log.
      }
    },
  };
}

const LETTERS = 'abcdef';
const DIGITS = 11;
/** Random bytes are drawn so many at a time. */
const POOL = 4096;
/** The largest multiple of ten that a byte holds: bytes from here on would favour the low digits. */
const FAIR = 250;

/** What is used of Web Crypto, which Node and browsers have. */
interface RandomSource {
  readonly getRandomValues: (bytes: Uint8Array) => Uint8Array;
}

/**
 * Makes identifiers: one letter from a to f, so that none reads as a number, and eleven decimal digits, which are hexadecimal
 * digits, too, and cost vocabularies fewer tokens than letters among them.
 */
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
