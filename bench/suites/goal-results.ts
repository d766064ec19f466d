/**
 * Measures all goals three times, and compares the best figure with floor and aim. V8's code differs from process to
 * process, and with the previous work of a process; so every measurement has a process of its own.
 */

import type { Half } from '../../src/bench/corpus/texts.js';
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { child } from './child.js';
import { clearProgress, progress } from './contest.js';
import { better, GOALS, type Goal, reaches } from './goals.js';
import { MEASURES } from './measures.js';

const REPETITIONS = 3;

export interface HeldGoals {
  readonly section: FactSection;
  /** `true` if every floor is reached. */
  readonly hold: boolean;
}

/** @param names the measures to run; goals of others are omitted */
export function holdGoals(half: Half, names: readonly string[] = Object.keys(MEASURES)): HeldGoals {
  const best = new Map<string, number>();
  const tell = progress('Measuring the goals');
  const runs = Array.from({ length: REPETITIONS }, () => names).flat();
  for (const [index, name] of runs.entries()) {
    tell(index, runs.length);
    const figures = child<Record<string, number>>('gate-child.js', [name, half], ['--expose-gc']);
    for (const [id, figure] of Object.entries(figures)) best.set(id, better(goalOf(id), best.get(id), figure));
  }
  clearProgress();
  const isPart = names.length < Object.keys(MEASURES).length;
  const goals = GOALS.filter((goal) => !isPart || figureOf(goal, best) !== undefined);
  return {
    section: {
      ...{ kind: 'facts', id: 'goals', title: 'Goals' },
      columns: ['goal', 'floor', 'aim', 'measured', '', 'limited by'],
      rows: goals.map((goal) => row(goal, best)),
      note: `The best of three runs in separate processes, on the ${half} half of the corpus: V8's code for the same source differs by a few percent.`,
    },
    hold:
      goals.length > 0 &&
      goals.every((goal) => isSkipped(goal, best) || reaches(goal, figureOf(goal, best), goal.floor)),
  };
}

/** Figures of parts have the name of the part after a slash. */
function goalOf(id: string): Goal {
  const goal = GOALS.find((one) => one.id === id.split('/')[0]);
  if (goal === undefined) throw new RangeError(`unknown goal ${id}`);
  return goal;
}

/** The worst of its parts, each at its best: the worst of single runs would only become worse with more runs. */
function figureOf(goal: Goal, best: ReadonlyMap<string, number>): number | undefined {
  const parts = [...best].filter(([id]) => goalOf(id) === goal).map(([, figure]) => figure);
  if (parts.length === 0) return undefined;
  return goal.lessIsBetter ? Math.max(...parts) : Math.min(...parts);
}

function isSkipped(goal: Goal, best: ReadonlyMap<string, number>): boolean {
  return goal.requires !== undefined && figureOf(goal, best) === undefined;
}

function row(goal: Goal, best: ReadonlyMap<string, number>): string[] {
  const measured = figureOf(goal, best);
  const show = (value: number): string => `${significant(value)}${goal.unit === 'x' ? 'x' : ` ${goal.unit}`}`;
  const parts = [...best].filter(([id]) => id.startsWith(`${goal.id}/`));
  const worst = parts.find(([, figure]) => figure === measured)?.[0].slice(goal.id.length + 1);
  const shown = measured === undefined ? 'not measured' : show(measured);
  const figure = worst === undefined ? shown : `${shown}: ${worst}`;
  const isReached = reaches(goal, measured, goal.aim);
  if (measured === undefined && goal.requires !== undefined)
    return [goal.title, show(goal.floor), show(goal.aim), figure, 'skipped', `requires ${goal.requires}`];
  const verdict = isReached ? 'aim reached' : reaches(goal, measured, goal.floor) ? 'floor reached' : 'BELOW THE FLOOR';
  return [goal.title, show(goal.floor), show(goal.aim), figure, verdict, isReached ? '' : (goal.bound ?? '')];
}
