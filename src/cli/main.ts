#!/usr/bin/env node
import process from 'node:process';
import { isService, run } from './run.js';

const args = process.argv.slice(2);

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough, such as `head`, closes the pipe: then there is nothing left to do, and nothing wrong.
    if (error.code === 'EPIPE') {
      if (stream === process.stderr && isService(args)) return;
      process.exit();
    }
    // A full disk is no defect of ours, but a result that is not all there is no success.
    if (stream === process.stdout) process.stderr.write(`pegwire: Cannot write the output: ${error.message}.\n`);
    process.exit(2);
  });
}

// Not process.exit: it would cut off what is still on its way into a pipe.
process.exitCode = await run(args, process);
