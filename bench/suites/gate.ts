/** The gate: every goal measured three times, in a process each; the best of the three is held against its floor. */
import process from 'node:process';
import { significant, textTable } from '../../src/bench/table.js';
import { child } from './child.js';
import { clearProgress, progress } from './contest.js';
import { better, GOALS, type Goal, reaches } from './goals.js';

const REPETITIONS = 3;

function main(): number {
  const best = new Map<string, number>();
  const tell = progress('Measuring');
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    tell(repetition, REPETITIONS);
    const figures = child<Record<string, number>>('gate-child.js', [], ['--expose-gc']);
    for (const [id, figure] of Object.entries(figures)) best.set(id, better(goalOf(id), best.get(id), figure));
  }
  clearProgress();
  console.log(
    textTable({
      header: ['goal', 'floor', 'aim', 'measured', '', 'aim'],
      rows: GOALS.map((goal) => row(goal, figureOf(goal, best))),
    }),
  );
  return GOALS.every((goal) => reaches(goal, figureOf(goal, best), goal.floor)) ? 0 : 1;
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
  const verdict = measured === undefined ? 'not there yet' : reaches(goal, measured, goal.floor) ? 'pass' : 'FAIL';
  const reached = reaches(goal, measured, goal.aim) ? 'reached' : '';
  return [goal.title, show(goal.floor), show(goal.aim), measured === undefined ? '' : show(measured), verdict, reached];
}

process.exitCode = main();
