/** Instructions answered from registries of several sizes, and searches in the bundled rules. */
import { bundledRules } from '../../src/aacp/fallback/index.js';
import { type Runner, race } from '../../src/bench/race.js';
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { handling } from '../../src/bench/workload.js';
import {
  type HitRate,
  hitRates,
  openLines,
  type Question,
  type Selection,
  type Timing,
} from '../aacp/registry-work.js';
import { processorTime, type RaceTiming } from './contest.js';

const SIZES = [1, 100, 1_000, 10_000, 100_000];
/** Hits per second of the reference SDK on another machine, by the number of entries. */
const SDK: Readonly<Record<Question, Readonly<Record<number, number>>>> = {
  repeat: { 1: 2400, 100: 354, 1000: 41, 10000: 4 },
  pattern: { 1: 18_900, 100: 1160, 1000: 121, 10000: 6 },
};
/** The reason that the reference SDK has more pattern hits with few entries. */
const SDK_FASTER =
  'With few entries it is faster: it compares words and leaves the stored values in the packet; pegwire reads the values of both ' +
  'instructions and fills in those of the new one.';
const TITLES = { repeat: 'Instructions that came before', pattern: 'The same with another date' } as const;

/**
 * In a short turn, a registry with a few hundred texts would mostly reload data that the turns of the others have
 * evicted from the processor's caches, and one with a single text would not.
 */
export const REGISTRY_TIMING: Timing = { rounds: 5, turnMs: 250, now: processorTime };

export async function registry({ rounds }: RaceTiming): Promise<FactSection[]> {
  const { lines, close } = await openLines(['memory', 'sqlite'], SIZES, ['few', 'all']);
  try {
    const rates = await hitRates(lines, { ...REGISTRY_TIMING, rounds: Math.min(rounds, REGISTRY_TIMING.rounds) });
    const sections = (['repeat', 'pattern'] as const).flatMap((question) => [
      hitsSection(rates, question, 'few'),
      hitsSection(rates, question, 'all'),
    ]);
    return [...sections, await searches(rounds)];
  } finally {
    await close();
  }
}

function hitsSection(rates: readonly HitRate[], question: Question, selection: Selection): FactSection {
  const cells = (store: string, size: number): string[] => {
    const isIt = (one: HitRate): boolean => one.store === store && one.size === size;
    const found = rates.find((one) => isIt(one) && one.question === question && one.selection === selection)!;
    const { low, high } = found.ratio;
    const spread = size === SIZES[0] ? '' : ` (${significant(low)}-${significant(high)})`;
    return [whole(found.rate.median), `${significant(found.ratio.median)}${spread}`];
  };
  const columns = ['entries', 'memory, hits/s', 'x one entry', 'SQLite, hits/s', 'x one entry'];
  const rows = SIZES.map((size) => [size.toLocaleString('en-US'), ...cells('memory', size), ...cells('sqlite', size)]);
  if (selection === 'all') {
    return {
      ...{ kind: 'facts', id: `registry-${question}-all`, title: `${TITLES[question]}, all entries equally often` },
      ...{ columns, rows },
      note:
        'By processor time. With many entries, hardly any is requested twice within a short time: the text of the ' +
        'instruction is read again, which a recent one does not need, its entry comes from the file, and each hit ' +
        'is written to a row of its own.',
    };
  }
  const note = question === 'pattern' ? ` ${SDK_FASTER}` : '';
  const ofSdk = (size: number): string => (SDK[question][size] === undefined ? '' : whole(SDK[question][size]!));
  return {
    ...{ kind: 'facts', id: `registry-${question}`, title: `${TITLES[question]}, by entries in the registry` },
    columns: [...columns, 'reference SDK, hits/s'],
    rows: rows.map((row, index) => [...row, ofSdk(SIZES[index]!)]),
    note:
      'By processor time. 200 instructions of each registry are requested in random order, so that their texts are still ' +
      `cached; the next table is about the others. The figures of the reference SDK (Python, one JSON file) come from another machine.${note}`,
  };
}

function whole(rate: number): string {
  return Number(rate.toPrecision(3)).toLocaleString('en-US');
}

/** Typical searches, and searches that no rule matches. */
const QUERIES = [
  ...['active employee salaries', 'payroll report', 'match an invoice to its purchase order', 'flag a contract clause'],
  ...['create an account for a new employee', 'customer complaint', 'qualify a lead', 'month end close', 'expenses'],
  ...['campaign budget', 'please send a birthday card for my dog', 'delete all customer records', 'for'],
];

/** Searches in the bundled rules. */
export function searchRunner(): Runner {
  const { find } = bundledRules();
  return handling('find', (query) => find(query), QUERIES);
}

async function searches(rounds: number): Promise<FactSection> {
  const [standing] = await race([searchRunner()], {
    anchor: 'find',
    rounds,
    turnMs: 4,
    warmUpMs: 300,
    now: processorTime,
  });
  const { median, low, high } = standing!.nanoseconds;
  const rate = (nanoseconds: number): string => whole((1e9 * QUERIES.length) / nanoseconds);
  return {
    ...{ kind: 'facts', id: 'rule-search', title: 'Searches in the bundled rules' },
    columns: ['rules', 'searches/s', 'quartiles'],
    rows: [[bundledRules().rules.length, rate(median), `${rate(high)}-${rate(low)}`]],
    note: 'By processor time.',
  };
}
