#!/usr/bin/env node
import process from 'node:process';
import { isService, run } from './run.js';

const args = process.argv.slice(2);

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A closed pipe, as by `head`, is not an error.
    if (error.code === 'EPIPE') {
      if (stream === process.stderr && isService(args)) return;
      process.exit();
    }
    // Incomplete results are a failure.
    if (stream === process.stdout) process.stderr.write(`pegwire: Cannot write the output: ${error.message}.\n`);
    process.exit(2);
  });
}

// process.exit would cut off pending output.
process.exitCode = await run(args, process);
