/**
 * All goals, each measured three times; the best of the three is held against floor and aim. What V8 makes of code differs from
 * process to process, and with what a process did before; so every measurement has a process of its own.
 */
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { child } from './child.js';
import { clearProgress, progress } from './contest.js';
import { better, GOALS, type Goal, reaches } from './goals.js';
import { MEASURES } from './measures.js';

const REPETITIONS = 3;

export interface HeldGoals {
  readonly section: FactSection;
  /** Whether every floor holds. */
  readonly hold: boolean;
}

export function holdGoals(): HeldGoals {
  const best = new Map<string, number>();
  const tell = progress('Measuring the goals');
  const runs = Array.from({ length: REPETITIONS }, () => Object.keys(MEASURES)).flat();
  for (const [index, name] of runs.entries()) {
    tell(index, runs.length);
    const figures = child<Record<string, number>>('gate-child.js', [name], ['--expose-gc']);
    for (const [id, figure] of Object.entries(figures)) best.set(id, better(goalOf(id), best.get(id), figure));
  }
  clearProgress();
  return {
    section: {
      ...{ kind: 'facts', id: 'goals', title: 'Goals' },
      columns: ['goal', 'floor', 'aim', 'measured', '', 'what bounds it'],
      rows: GOALS.map((goal) => row(goal, figureOf(goal, best))),
      note: 'The best of three runs, in a process each: what V8 makes of the same code differs by some percent.',
    },
    hold: GOALS.every((goal) => reaches(goal, figureOf(goal, best), goal.floor)),
  };
}

/** Figures of parts have the name of the part behind a slash. */
function goalOf(id: string): Goal {
  const goal = GOALS.find((one) => one.id === id.split('/')[0]);
  if (goal === undefined) throw new RangeError(`there is no goal for ${id}`);
  return goal;
}

/** The worst of its parts, each at its best: the worst of single runs would only get worse with more of them. */
function figureOf(goal: Goal, best: ReadonlyMap<string, number>): number | undefined {
  const parts = [...best].filter(([id]) => goalOf(id) === goal).map(([, figure]) => figure);
  if (parts.length === 0) return undefined;
  return goal.lessIsBetter ? Math.max(...parts) : Math.min(...parts);
}

function row(goal: Goal, measured: number | undefined): string[] {
  const show = (value: number): string => `${significant(value)}${goal.unit === 'x' ? 'x' : ` ${goal.unit}`}`;
  const figure = measured === undefined ? 'not measured' : show(measured);
  const isReached = reaches(goal, measured, goal.aim);
  const verdict = isReached ? 'aim reached' : reaches(goal, measured, goal.floor) ? 'floor holds' : 'BELOW THE FLOOR';
  return [goal.title, show(goal.floor), show(goal.aim), figure, verdict, isReached ? '' : (goal.bound ?? '')];
}
