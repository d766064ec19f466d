/** Opens a log, appends to it in an endless loop, and prints the number of each acknowledged record. */
import process from 'node:process';
import { fileAudit } from '../../../../src/aacp/dispatch/index.js';
import { entry } from '../entries.js';

const audit = await fileAudit(process.argv[2]!);
process.stdout.write('open\n');
for (;;) {
  const { seq } = await audit.append(entry('x'.repeat(2_000)));
  process.stdout.write(`${seq}\n`);
}
