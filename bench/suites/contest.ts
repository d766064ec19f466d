/** Runs the races of a suite: over samples, with progress, as sections of a report. */
import process from 'node:process';
import { type Candidate, prepareAll, type Ready, type Sample } from '../../src/bench/candidate.js';
import { type RaceOptions, type Runner, race } from '../../src/bench/race.js';
import type { RaceGroup, RaceSection } from '../../src/bench/result.js';
import { readers } from '../../src/bench/workload.js';

/** The rounds and times of the races of a suite. */
export interface RaceTiming {
  readonly rounds: number;
  /** Milliseconds per turn. */
  readonly turnMs: number;
  readonly warmUpMs: number;
  /** The clock, in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** Milliseconds of processor time, which other programs on the machine do not affect. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export interface Contest {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly anchor: string;
  readonly note?: string;
}

/** Inputs of one kind, with the runners over them. */
export interface RunnerGroup {
  readonly name: string;
  readonly units: number;
  readonly characters: number;
  readonly runners: readonly Runner[];
}

/** Runs one race per group. */
export async function runRaces(
  contest: Contest,
  runnerGroups: readonly RunnerGroup[],
  timing: RaceTiming,
): Promise<RaceSection> {
  const groups: RaceGroup[] = [];
  for (const { name, units, characters, runners } of runnerGroups) {
    const options: RaceOptions = { ...timing, anchor: contest.anchor, onRound: progress(`${contest.title}: ${name}`) };
    groups.push({ name, units, characters, results: await race(runners, options) });
  }
  clearProgress();
  return { kind: 'race', ...contest, groups };
}

/** Runs candidates over groups of samples. */
export async function runReadingRaces(
  contest: Contest,
  candidates: readonly Candidate[],
  groups: readonly { readonly name: string; readonly samples: readonly Sample[] }[],
  timing: RaceTiming,
): Promise<RaceSection> {
  const { ready, missing } = await prepareAll(candidates);
  const runnerGroups: RunnerGroup[] = [];
  for (const { name, samples } of groups) runnerGroups.push(await readingGroup(name, ready, samples));
  return { ...(await runRaces(contest, runnerGroups, timing)), missing };
}

async function readingGroup(name: string, ready: readonly Ready[], samples: readonly Sample[]): Promise<RunnerGroup> {
  return { name, ...sizeOf(samples), runners: await readers(ready, samples) };
}

export function sizeOf(samples: readonly { readonly text: string }[]): { units: number; characters: number } {
  return { units: samples.length, characters: samples.reduce((sum, { text }) => sum + text.length, 0) };
}

/** Returns a function that shows the progress of a race on one line of a terminal. */
export function progress(what: string): (done: number, rounds: number) => void {
  return (done, rounds) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${what}, round ${done} of ${rounds}`);
  };
}

export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
}
