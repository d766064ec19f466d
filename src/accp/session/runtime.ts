/** What a session takes from the codec that works on it: clock, token counter, log. */
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { EventListener } from './events.js';

export interface RuntimeSource {
  readonly clock: () => number;
  readonly tokens: TokenCounter;
  readonly log: EventListener | undefined;
}

export interface Runtime {
  /** From now on, these are used. */
  readonly bind: (source: RuntimeSource) => void;
  readonly now: () => number;
  readonly counter: TokenCounter;
  readonly log: EventListener | undefined;
}

/** Begins with the system's clock and estimates. */
export function createRuntime(): Runtime {
  let current: RuntimeSource = {
    clock: () => Math.floor(Date.now() / 1000),
    tokens: ESTIMATING_COUNTER,
    log: undefined,
  };
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
    },
    now: () => current.clock(),
    counter,
    get log() {
      return current.log;
    },
  };
}
