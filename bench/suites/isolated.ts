/** benchmark.js: each candidate in a process of its own. Its absolute figures depend on the machine and the moment. */
import { Unavailable } from '../../src/bench/candidate.js';
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { CANDIDATES } from '../candidates/index.js';
import { child } from './child.js';
import { clearProgress, progress } from './contest.js';
import type { IsolatedFigures } from './isolated-child.js';

export async function isolated(): Promise<FactSection[]> {
  const rows: (string | number)[][] = [];
  const tell = progress('One process for each candidate');
  for (const [index, { id, name, protocol, prepare }] of CANDIDATES.entries()) {
    tell(index, CANDIDATES.length);
    if (await isMissing(prepare)) continue;
    const { perSecond, deviation, heapMegabytes } = child<IsolatedFigures>('isolated-child.js', [id], ['--expose-gc']);
    const thousands = significant(perSecond / 1000);
    rows.push([`${protocol.toUpperCase()}: ${name}`, thousands, significant(deviation), significant(heapMegabytes)]);
  }
  clearProgress();
  return [
    {
      ...{ kind: 'facts', id: 'isolated', title: 'One process for each candidate (benchmark.js)' },
      columns: ['', 'thousand messages per second', '± %', 'heap, MB'],
      rows,
      note: 'The heap after garbage collection: the code, the corpus, and the data of libraries.',
    },
  ];
}

async function isMissing(prepare: () => Promise<unknown>): Promise<boolean> {
  try {
    await prepare();
    return false;
  } catch (thrown) {
    if (thrown instanceof Unavailable) return true;
    throw thrown;
  }
}
