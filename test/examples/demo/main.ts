/** `npm run demo`: a conversation of several agents, parsed and explained; then five agents that work in sessions. */
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createOutput } from '../../../src/cli/io/output.js';
import { runDemo } from './demo.js';

const [, , ...args] = process.argv;
const color = args.includes('--no-color') ? 'never' : args.includes('--color') ? 'always' : 'auto';
const commandLine = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

await runDemo(createOutput(process.stdout, process.stderr, color), {
  json: args.includes('--json'),
  commandLine: [process.execPath, ...process.execArgv, commandLine],
});
