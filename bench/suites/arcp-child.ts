/**
 * Measures runtimes, in a separate process:
 *
 *     node --expose-gc arcp-child.js echo ROUNDS | echo-thread ROUNDS | transports ROUNDS [NAME...] | resume EVENTS
 */
import process from 'node:process';
import { type AsyncRunner, raceAsync } from '../../src/bench/race.js';
import type { RaceGroup, RaceSection } from '../../src/bench/result.js';
import { BARE_ECHO, echoBench, JOBS } from '../arcp/echo.js';
import { resumed } from '../arcp/resume.js';
import { CALLS, transportBench, WEBSOCKET } from '../arcp/transports.js';

/** The calls over each transport, and the transports that could not be measured. */
export interface TransportCalls extends Pick<RaceSection, 'missing'> {
  readonly group: RaceGroup;
}

const [what, count, ...names] = process.argv.slice(2);
console.log(JSON.stringify(await measured(Number(count))));
process.exit();

async function measured(number: number): Promise<unknown> {
  if (what === 'resume') return resumed(number);
  if (what === 'transports') {
    const { runners, missing } = await transportBench(names.length === 0 ? undefined : names);
    const transports: TransportCalls = {
      group: await raced('32 calls at a time', CALLS, runners, WEBSOCKET, number),
      missing,
    };
    return transports;
  }
  const ownThread = what === 'echo-thread';
  const { runners, close } = await echoBench(ownThread);
  const name = ownThread ? 'the same, with SQLite in a thread of its own' : '32 jobs at a time';
  const group = await raced(name, JOBS, runners, BARE_ECHO, number);
  await close();
  return group;
}

async function raced(
  name: string,
  units: number,
  runners: readonly AsyncRunner[],
  anchor: string,
  rounds: number,
): Promise<RaceGroup> {
  return { name, units, characters: 0, results: await raceAsync(runners, { anchor, rounds }) };
}
