/** The clock, token counter and log of a session, which the codec provides. */
import { monotonicClock } from '../../async/timers.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { EmitEvent, EventListener } from '../store/events.js';

interface RuntimeSource {
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly counter: TokenCounter;
  readonly log: EventListener | undefined;
}

interface RuntimeOptions {
  readonly session: string;
  readonly agent: string;
  readonly now?: (() => number) | undefined;
  readonly counter?: TokenCounter | undefined;
}

/** Returns the time of the system clock, in milliseconds since 1970. A fixed function, since monotonic clocks are shared by identity. */
export function systemClock(): number {
  return Date.now();
}

export class Runtime {
  readonly #session: string;
  readonly #agent: string;
  #source: RuntimeSource;
  #clock: () => number;
  readonly counter: TokenCounter;

  constructor({ session, agent, now = systemClock, counter = ESTIMATING_COUNTER }: RuntimeOptions) {
    this.#session = session;
    this.#agent = agent;
    this.#source = { now, counter, log: undefined };
    this.#clock = monotonicClock(now);
    this.counter = new SourceCounter(() => this.#source.counter);
  }

  get log(): EventListener | undefined {
    return this.#source.log;
  }

  bind(source: RuntimeSource): void {
    if (source === this.#source) return;
    this.#source = source;
    // Starts it now, before the wall clock can jump.
    this.#clock = monotonicClock(source.now);
  }

  /** Returns the time of the wall clock, in milliseconds since 1970. */
  readonly now = (): number => this.#source.now();

  /** Returns the time of a monotonic clock, in milliseconds since 1970, for waits and expiry. */
  readonly monotonic = (): number => this.#clock();

  readonly emit: EmitEvent = (type, message, more) => {
    const { log, now } = this.#source;
    if (log === undefined) return;
    try {
      log({ type, session: this.#session, agent: this.#agent, occurredAt: now(), message, ...more });
    } catch {
      // A missing log entry is better than an incomplete step of the protocol.
    }
  };
}

class SourceCounter implements TokenCounter {
  readonly #current: () => TokenCounter;

  constructor(current: () => TokenCounter) {
    this.#current = current;
  }

  readonly count = (text: string): number => this.#current().count(text);

  get exact(): boolean {
    return this.#current().exact;
  }

  get encoding(): string {
    return this.#current().encoding;
  }
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

/**
 * Returns a generator of identifiers: a letter, so that none reads as a number, and eleven digits, which cost fewer tokens than
 * letters.
 */
export function createIds(source: RandomSource = randomSource()): () => string {
  const byte = randomBytes(source);
  return () => LETTERS[byte() % LETTERS.length]! + randomDigits(DIGITS, byte);
}

const RUN = 6;
/** The number of random runs of letters of which the one with the fewest tokens is used. */
const RUNS = 600;
const SHORT_DIGITS = 6;

/**
 * Returns a generator of identifiers with few tokens: six letters, the same for all of them, and a counter of six digits, which both begin
 * at random. When the counter has passed all values, there are new letters.
 */
export function createShortIds(counter: TokenCounter = ESTIMATING_COUNTER, source = randomSource()): () => string {
  const byte = randomBytes(source);
  let letters = '';
  let first = 0;
  let next = 0;
  return () => {
    if (letters === '' || next === first) {
      letters = cheapestRun(counter, byte);
      first = Number(randomDigits(SHORT_DIGITS, byte));
      next = first;
    }
    const id = letters + String(next).padStart(SHORT_DIGITS, '0');
    next = (next + 1) % 10 ** SHORT_DIGITS;
    return id;
  };
}

function cheapestRun(counter: TokenCounter, byte: () => number): string {
  let best = '';
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    let letters = '';
    while (letters.length < RUN) letters += LETTERS[byte() % LETTERS.length];
    const tokens = counter.count(`[mid:${letters}123456,`);
    if (tokens >= least) continue;
    least = tokens;
    best = letters;
  }
  return best;
}

function randomSource(): RandomSource {
  return (globalThis as unknown as { crypto: RandomSource }).crypto;
}

function randomBytes(source: RandomSource): () => number {
  const pool = new Uint8Array(POOL);
  let at = POOL;
  return () => {
    if (at === POOL) {
      source.getRandomValues(pool);
      at = 0;
    }
    return pool[at++]!;
  };
}

function randomDigits(length: number, byte: () => number): string {
  let digits = '';
  while (digits.length < length) {
    const next = byte();
    if (next < FAIR) digits += next % 10;
  }
  return digits;
}
