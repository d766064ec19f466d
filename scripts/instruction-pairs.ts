/**
 * Prints how many pairs of instructions in test/conformance/aacp are served, and how many correctly. Exit code 1 if any is served
 * incorrectly.
 *
 *     npx tsx scripts/instruction-pairs.ts
 *     npx tsx scripts/instruction-pairs.ts FILE        other pairs, in the same format
 *     npx tsx scripts/instruction-pairs.ts --misses    the reasons why pairs with a packet were not served
 *     npx tsx scripts/instruction-pairs.ts --rules     with the bundled rules
 */
import { readFileSync } from 'node:fs';
import { encodeStep } from '../src/aacp/encoders/index.js';
import { bundledRules } from '../src/aacp/rules/bundled.js';
import { alone, type InstructionPair, type PairOutcome, together } from '../test/aacp/matching/evaluate-pairs.js';

const PAIRS = new URL('../test/conformance/aacp/instruction-pairs.json', import.meta.url);

function main(args: readonly string[]): number {
  const file = args.find((arg) => !arg.startsWith('--')) ?? PAIRS;
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly InstructionPair[] };
  const extras = args.includes('--rules') ? { rules: bundledRules().rules, encodeStep } : {};
  const runs = [
    ['Each pair alone', alone(cases, extras)],
    [`All ${cases.length} in one registry`, together(cases, extras)],
  ] as const;
  let wrong = 0;
  for (const [title, outcomes] of runs) {
    console.log(`${title}:\n\n${tableOf(outcomes)}\n`);
    for (const outcome of outcomes) if (outcome.verdict === 'wrong') console.log(described(outcome));
    wrong += outcomes.filter(({ verdict }) => verdict === 'wrong').length;
  }
  if (args.includes('--misses')) {
    const misses = runs[0][1].filter(({ pair, verdict }) => pair.wanted !== null && verdict === 'refused');
    for (const miss of misses) console.log(described(miss));
  }
  return wrong > 0 ? 1 : 0;
}

function tableOf(outcomes: readonly PairOutcome[]): string {
  const kinds = [...new Set(outcomes.map(({ pair }) => pair.kind))];
  const rows = [
    ...kinds.map((kind) =>
      rowOf(
        kind,
        outcomes.filter(({ pair }) => pair.kind === kind),
      ),
    ),
    rowOf('all', outcomes),
  ];
  return [
    '| kind | cases | served correctly | served incorrectly | rejected | served |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function rowOf(kind: string, outcomes: readonly PairOutcome[]): string {
  const count = (verdict: PairOutcome['verdict']): number => outcomes.filter((one) => one.verdict === verdict).length;
  const share = `${Math.round((count('right') / outcomes.length) * 100)} %`;
  return `| ${kind} | ${outcomes.length} | ${count('right')} | ${count('wrong')} | ${count('refused')} | ${share} |`;
}

function described({ pair, verdict, served, candidate }: PairOutcome): string {
  const { id, first, second, wanted } = pair;
  return [
    `${id}: ${verdict}${candidate === undefined ? '' : `: ${candidate.refusal ?? 'serves'}: ${candidate.reason}`}`,
    `  first   ${first.instruction}`,
    `  second  ${second.instruction}`,
    `  served  ${served ?? 'nothing'}`,
    `  wanted  ${wanted ?? 'nothing'}`,
  ].join('\n');
}

process.exitCode = main(process.argv.slice(2));
