#!/usr/bin/env node
import process from 'node:process';
import { run } from './run.js';

/** A reader that has seen enough, such as `head`, closes the pipe: then there is nothing left to do, and nothing wrong. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
}

// Not process.exit: it would cut off what is still on its way into a pipe.
process.exitCode = await run(process.argv.slice(2), process);
