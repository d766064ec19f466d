/** What a session takes from the codec that works on it: clock, token counter, log. */
import { monotonicClock } from '../../async/timers.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { EventListener } from '../store/events.js';

export interface RuntimeSource {
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
}

export interface RuntimeDefaults {
  readonly clock?: (() => number) | undefined;
  readonly tokens?: TokenCounter | undefined;
}

/** Seconds since 1970, by the clock of the machine. */
export function systemClock(): number {
  return Date.now() / 1000;
}

/** Begins with the system's clock and estimates, where nothing else is given. */
export function createRuntime({ clock, tokens }: RuntimeDefaults = {}): Runtime {
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
  return {
    bind: (source) => {
      current = source;
      // It starts now, before the wall clock can jump.
      monotonicClock(source.clock, 1000);
    },
    // Frames carry whole seconds.
    now: () => Math.floor(current.clock()),
    steady: () => Math.floor(monotonicClock(current.clock, 1000)()),
    monotonic: () => monotonicClock(current.clock, 1000)(),
    counter,
    get log() {
      return current.log;
    },
  };
}
