/** Answers one request and ends. */
import { createInterface } from 'node:readline';

createInterface({ input: process.stdin }).once('line', () =>
  process.stdout.write('{"ok":true}\n', () => process.exit(0)),
);
