/** Prints a banner, waits, and then answers. */
import { createInterface } from 'node:readline';

process.stdout.write('> adapter@1.0.0 start\n\n');
setTimeout(() => {
  createInterface({ input: process.stdin }).on('line', () => process.stdout.write('{"ok":true}\n'));
}, 1200);
