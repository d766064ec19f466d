/** The work of the bindings: the messages, and the number of concurrent exchanges. */
import type { AsyncRunner } from '../../src/bench/race.js';

export const TEXT_ONLY = 'text only';
export const SESSIONS = 'sessions at both ends';
/** The number of concurrent exchanges. */
export const CONNECTIONS = 8;

/** A tool call, and its result. */
export const MESSAGE = {
  intent: 'req',
  operation: 'tool',
  schema: 'TC',
  payload: { tool_name: 'web_search', arguments: { q: 'ACCP', max: 5 } },
};
export const RESULT = { tool_name: 'web_search', result: { hits: ['a', 'b', 'c'], took: 12 } };

export interface BindingBench {
  readonly runners: readonly AsyncRunner[];
  readonly frames: number;
  readonly close: () => Promise<void>;
}
