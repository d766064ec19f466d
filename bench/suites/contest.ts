/** Races as the suites hold them: over samples, with progress, as sections of a report. */
import process from 'node:process';
import { type Candidate, prepareAll, type Ready, type Sample } from '../../src/bench/candidate.js';
import { type RaceOptions, type Runner, race } from '../../src/bench/race.js';
import type { RaceGroup, RaceSection } from '../../src/bench/result.js';
import { readers } from '../../src/bench/workload.js';

/** How long the races of a suite take. */
export interface Pace {
  readonly rounds: number;
  /** Milliseconds of one turn. */
  readonly turn: number;
  readonly warmUp: number;
  /** In milliseconds. @default the clock on the wall */
  readonly now?: () => number;
}

/** Milliseconds of processor time: another program that wants the processor does not count. */
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

/** Inputs of one sort, with what runs over them. */
export interface Heat {
  readonly name: string;
  readonly units: number;
  readonly characters: number;
  readonly runners: readonly Runner[];
}

/** Holds a race for each heat. */
export async function holdRaces(contest: Contest, heats: readonly Heat[], pace: Pace): Promise<RaceSection> {
  const groups: RaceGroup[] = [];
  for (const { name, units, characters, runners } of heats) {
    const options: RaceOptions = { ...pace, anchor: contest.anchor, onRound: progress(`${contest.title}: ${name}`) };
    groups.push({ name, units, characters, standings: await race(runners, options) });
  }
  clearProgress();
  return { kind: 'race', ...contest, groups };
}

/** Candidates over groups of samples. */
export async function holdReadingRaces(
  contest: Contest,
  candidates: readonly Candidate[],
  groups: readonly { readonly name: string; readonly samples: readonly Sample[] }[],
  pace: Pace,
): Promise<RaceSection> {
  const { ready, missing } = await prepareAll(candidates);
  const heats: Heat[] = [];
  for (const { name, samples } of groups) heats.push(await readingHeat(name, ready, samples));
  return { ...(await holdRaces(contest, heats, pace)), missing };
}

async function readingHeat(name: string, ready: readonly Ready[], samples: readonly Sample[]): Promise<Heat> {
  return { name, ...sizeOf(samples), runners: await readers(ready, samples) };
}

export function sizeOf(samples: readonly { readonly text: string }[]): { units: number; characters: number } {
  return { units: samples.length, characters: samples.reduce((sum, { text }) => sum + text.length, 0) };
}

/** One line of a terminal that says how far a race is. */
export function progress(what: string): (done: number, rounds: number) => void {
  return (done, rounds) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${what}, round ${done} of ${rounds}`);
  };
}

export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
}
