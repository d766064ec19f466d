import { PrintError } from '../../text/errors.js';
import type { Protocol, Reading } from '../protocols.js';
import { type Line, readLines, type Source } from './input.js';
import { noteEmpty, type Reporting, refuse } from './report.js';

/**
 * Reads the input line by line, each as one message, and hands those that parse to `handle`. Errors, of parsing and of
 * `handle` when it prints, are reported and do not stop the run.
 *
 * @returns the exit code: 1 when a line was refused, or when there was none
 */
export async function forEachMessage(
  invocation: Source & Reporting & { readonly protocol: Protocol },
  reading: Reading,
  handle: (node: unknown, line: Line) => Promise<void>,
): Promise<number> {
  const { protocol } = invocation;
  let lines = 0;
  let refused = 0;
  for await (const line of readLines(invocation)) {
    lines++;
    const result = protocol.parse(line.text, reading);
    if (!result.ok) {
      refused++;
      await refuse(invocation, line, result.error);
      continue;
    }
    try {
      await handle(result.value, line);
    } catch (thrown) {
      if (!(thrown instanceof PrintError)) throw thrown;
      refused++;
      await refuse(invocation, line, thrown);
    }
  }
  if (lines === 0) await noteEmpty(invocation, protocol.message);
  return lines === 0 || refused > 0 ? 1 : 0;
}
