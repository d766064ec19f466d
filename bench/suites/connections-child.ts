/** Measures JSON-RPC connections: `node connections-child.js ROUNDS`. */
import process from 'node:process';
import { raceAsync } from '../../src/bench/race.js';
import type { RaceGroup } from '../../src/bench/result.js';
import { BARE } from '../connections/agents.js';
import { echoRunners, inputOf, LOADS } from '../connections/work.js';
import { clearProgress, progress } from './contest.js';

const rounds = Number(process.argv[2]);
const groups: RaceGroup[] = [];
for (const load of LOADS) {
  const results = await raceAsync(echoRunners(load), { anchor: BARE, rounds, onRound: progress(load.name) });
  groups.push({ name: load.name, units: load.messages, characters: inputOf(load).length, results });
}
clearProgress();
console.log(JSON.stringify(groups));
