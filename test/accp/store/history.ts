/** A long series of commits, each of which leaves distinguishable data. */
import type { Change, ColdChange, EndpointStore } from '../../../src/accp/store/store.js';

/** The number of the latest keys that are kept. */
const KEPT = 20;

/** The commit of a number: it counts, adds a key and removes the oldest. */
export function commitOf(number: number, agent: string): { changes: Change[]; cold: ColdChange[] } {
  return {
    changes: [
      { collection: 'count', key: 'last', value: `${number}` },
      { collection: 'log', key: `${number}`, value: JSON.stringify('x'.repeat(number % 300)) },
      { collection: 'log', key: `${number - KEPT}`, value: null },
    ],
    cold: [{ key: `${agent}.${number % 5}`, value: `${number}`, expiresAt: null }],
  };
}

/** The number of the last commit; 0 for a new endpoint. */
export function lastOf(endpoint: EndpointStore): number {
  const last = [...endpoint.entries()].find(({ collection }) => collection === 'count');
  return last === undefined ? 0 : Number(last.value);
}

/** All entries after the commit of a number. */
export function entriesAfter(number: number, agent: string): Change[] {
  const first = Math.max(1, number - KEPT + 1);
  const log = Array.from({ length: number - first + 1 }, (_, index) => commitOf(first + index, agent).changes[1]!);
  const count = commitOf(number, agent).changes[0]!;
  return [count, ...log];
}
