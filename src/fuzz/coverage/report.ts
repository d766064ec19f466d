/** What was seen of a grammar, as data and as a table. */
import { GOAL_KINDS, type Goal, type GoalKind, goalsOf } from './goals.js';
import type { Tracker } from './tracker.js';

/** How many of how many goals were reached. */
export interface Share {
  readonly reached: number;
  readonly of: number;
}

export interface RuleCoverage extends Readonly<Record<GoalKind, Share>> {
  readonly name: string;
  /** How often the rule matched. */
  readonly hits: number;
  /** In the grammar, from 1. */
  readonly line: number;
}

export interface CoverageReport {
  readonly grammar: string;
  /** Texts that were derived, and texts that the grammar refused. */
  readonly texts: number;
  readonly refused: number;
  readonly total: Readonly<Record<GoalKind, Share>>;
  readonly rules: readonly RuleCoverage[];
  /** The goals that no text has reached. */
  readonly missing: readonly {
    readonly kind: GoalKind;
    readonly name: string;
    readonly line: number;
    readonly column: number;
  }[];
}

export function coverageReport({ grammar, texts, refused, hits }: Tracker): CoverageReport {
  const { list } = goalsOf(grammar);
  const reached = ({ number }: Goal): boolean => hits[number]! > 0;
  const share = (goals: readonly Goal[]): Readonly<Record<GoalKind, Share>> => {
    const of = (kind: GoalKind): Share => {
      const own = goals.filter((goal) => goal.kind === kind);
      return { reached: own.filter(reached).length, of: own.length };
    };
    return {
      rule: of('rule'),
      alternative: of('alternative'),
      character: of('character'),
      repetition: of('repetition'),
    };
  };
  const rules = list.flatMap((goal): RuleCoverage[] => {
    if (goal.kind !== 'rule') return [];
    const own = list.filter(({ point }) => point.rule === goal.name);
    return [{ name: goal.name, hits: hits[goal.number]!, line: goal.point.location.start.line, ...share(own) }];
  });
  const missing = list
    .filter((goal) => !reached(goal))
    .map(({ kind, name, point }) => {
      const { line, column } = point.location.start;
      return { kind, name, line, column };
    });
  return { grammar: grammar.name, texts, refused, total: share(list), rules, missing };
}

/** Goals that a table names one by one. */
const MAX_MISSING = 40;

/** A table for people: a line for each rule, the sums, and what is missing. */
export function coverageTable({ grammar, texts, refused, total, rules, missing }: CoverageReport): string {
  const header = ['rule', 'matches', 'alternatives', 'characters', 'repetitions'];
  const rows = rules.map(({ name, hits, alternative, character, repetition }) => [
    name,
    String(hits),
    ...[alternative, character, repetition].map(shown),
  ]);
  const sum = ['in all', shown(total.rule), ...[total.alternative, total.character, total.repetition].map(shown)];
  const kinds = GOAL_KINDS.map((kind) => `${kind}s ${percent(total[kind])}`).join(', ');
  const read = `${texts} texts${refused === 0 ? '' : `, and ${refused} that it refuses`}`;
  return [
    `Coverage of the grammar ${grammar} by ${read}: ${kinds}.`,
    '',
    ...aligned([header, ...rows, sum]),
    ...missingLines(missing),
  ].join('\n');
}

function missingLines(missing: CoverageReport['missing']): readonly string[] {
  if (missing.length === 0) return ['', 'Nothing is missing.'];
  const shownOnes = missing.slice(0, MAX_MISSING).map(({ name, line, column }) => `  line ${line}:${column}  ${name}`);
  const rest = missing.length - shownOnes.length;
  return ['', `Never seen (${missing.length}):`, ...shownOnes, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}

function shown({ reached, of }: Share): string {
  return of === 0 ? '-' : `${reached}/${of}`;
}

/** Rounded down: only all is 100 %. */
export function percent({ reached, of }: Share): string {
  return of === 0 ? '-' : `${Math.floor((100 * reached) / of)} %`;
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '),
  );
}
