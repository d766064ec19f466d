/** Measures runtimes, in a separate process: `node --expose-gc arcp-child.js echo ROUNDS | echo-thread ROUNDS | resume EVENTS`. */
import process from 'node:process';
import { raceAsync } from '../../src/bench/race.js';
import { BARE_ECHO, echoBench, JOBS } from '../arcp/echo.js';
import { resumed } from '../arcp/resume.js';

const [what, number] = process.argv.slice(2);
if (what === 'resume') console.log(JSON.stringify(await resumed(Number(number))));
else {
  const ownThread = what === 'echo-thread';
  const { runners, close } = await echoBench(ownThread);
  const results = await raceAsync(runners, { anchor: BARE_ECHO, rounds: Number(number) });
  await close();
  const name = ownThread ? 'the same, with SQLite in a thread of its own' : '32 jobs at a time';
  console.log(JSON.stringify({ name, units: JOBS, characters: 0, results }));
}
process.exit();
