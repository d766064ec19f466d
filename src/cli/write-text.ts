import { writeFileSync } from 'node:fs';
import { UsageError } from './usage.js';

/**
 * Writes a file that an option names.
 *
 * @throws UsageError where that cannot be done
 */
export function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (thrown) {
    throw new UsageError(`Cannot write ${file}: ${(thrown as Error).message}`, 'unreadable');
  }
}
