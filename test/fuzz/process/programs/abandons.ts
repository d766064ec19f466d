/** Starts a target, prints the ids of its processes, and ends without closing it: by itself, or on a signal. */
import process from 'node:process';
import { processTarget } from '../../../../src/fuzz/process/process-target.js';

const [, , command = '', way] = process.argv;
const outcome = await processTarget(command).read({ input: 'x' });
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => {
  if (way === 'exit') process.exit(0);
});
