/** The memory of this process, independent of when the garbage collector last ran. */
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all garbage. */
export const collectGarbage = runInNewContext('gc') as () => void;

/** Collects all garbage and returns the number of bytes that remain in use, in the heap and in buffers. */
export function memoryInUse(): number {
  collectGarbage();
  // Buffers that the first collection released are freed by the second one.
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
