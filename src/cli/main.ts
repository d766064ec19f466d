#!/usr/bin/env node
import process from 'node:process';
import { systemReason } from '../text/system-reason.js';
import { isService, run } from './run.js';

const args = process.argv.slice(2);

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A closed pipe, for example of `head`, is not an error.
    if (error.code === 'EPIPE') {
      if (stream === process.stderr && isService(args)) return;
      process.exit();
    }
    // Results that are incomplete are a failure; notes may be lost.
    if (stream === process.stdout)
      process.stderr.write(`error[unwritable]: Cannot write the output: ${systemReason(error)}.\n`);
    process.exit(2);
  });
}

// process.exit would discard pending output.
process.exitCode = await run(args, process);
