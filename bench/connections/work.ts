/** The work of the agents: small calls, larger ones, and batches. */
import type { AsyncRunner } from '../../src/bench/race.js';
import { AGENTS } from './agents.js';
import { chunksOf } from './pipe.js';

export interface Load {
  readonly name: string;
  /** The messages of one pass. */
  readonly messages: number;
  /** The messages per array; 1 for single messages. */
  readonly batch: number;
  readonly params: unknown;
}

const TWO_KIB = { text: 'The quick brown fox jumps over the lazy dog. '.repeat(45) };

export const LOADS: readonly Load[] = [
  { name: 'small messages', messages: 2000, batch: 1, params: { path: '/src/index.ts', line: 42 } },
  { name: 'messages of 2 KiB', messages: 500, batch: 1, params: TWO_KIB },
  { name: 'batches of 10', messages: 2000, batch: 10, params: { path: '/src/index.ts', line: 42 } },
  { name: 'batches of 100', messages: 2000, batch: 100, params: { path: '/src/index.ts', line: 42 } },
];

/** The input of one pass. */
export function inputOf({ messages, batch, params }: Load): string {
  const calls = Array.from({ length: messages }, (_, id) =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params }),
  );
  if (batch === 1) return calls.map((call) => `${call}\n`).join('');
  const arrays = Array.from({ length: messages / batch }, (_, at) => calls.slice(at * batch, (at + 1) * batch));
  return arrays.map((array) => `[${array.join(',')}]\n`).join('');
}

/** Makes one runner per agent. Agents without support for batches get the same calls one by one. */
export function echoRunners(load: Load): AsyncRunner[] {
  return AGENTS.map(({ name, open, takesBatches }) => {
    const { exchange } = open();
    const own = takesBatches ? load : { ...load, batch: 1 };
    const chunks = chunksOf(inputOf(own));
    const lines = load.messages / own.batch;
    return { name, pass: () => exchange(chunks, lines) };
  });
}
