/** Synchronous output of programs that may be killed at any moment. */
import { writeSync } from 'node:fs';

const STDOUT = 1;

/** Prints a line, and waits until the pipe has room for it. */
export function tell(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STDOUT, rest));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
