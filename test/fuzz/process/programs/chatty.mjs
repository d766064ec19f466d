/** Answers each request with two lines. */
import { createInterface } from 'node:readline';

createInterface({ input: process.stdin }).on('line', () => process.stdout.write('{"ok":true}\n{"ok":true}\n'));
