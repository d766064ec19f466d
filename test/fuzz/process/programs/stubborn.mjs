/** Does not end with its input, nor on a signal; returns its id and that of a child in its answers. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

process.on('SIGTERM', () => {});
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
setInterval(() => {}, 1000);
createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`${JSON.stringify({ ok: true, canonical: `${process.pid} ${child.pid}` })}\n`);
});
