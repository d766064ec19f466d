/** Measures the transports of ACP, in a separate process: `node acp-transports-child.js ROUNDS [NAME...]`. The first name is the anchor. */
import process from 'node:process';
import { raceAsync } from '../../src/bench/race.js';
import { openTransports, TEXTS } from '../connections/transports.js';

const [rounds, ...names] = process.argv.slice(2);
const { runners, close } = await openTransports(names.length === 0 ? undefined : names);
const results = await raceAsync(runners, { anchor: names[0] ?? TEXTS, rounds: Number(rounds) });
await close();
console.log(JSON.stringify(results));
