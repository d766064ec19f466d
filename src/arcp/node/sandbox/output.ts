// biome-ignore-all lint/correctness/noNodejsModules: streams of processes are of Node
/** What a sandboxed tool prints: it is logged, and reaches none of the streams on which a runtime may speak to its client. */
import type { Readable } from 'node:stream';
import type { JobContext } from '../../runtime/contract.js';

/** Most characters of what is logged at once. */
const MAX_LINE = 8 * 1024;

/** Resolves at the end of the stream. It is read as fast as what is logged is kept; what is too much is read, and dropped. */
export async function logOutput(
  stream: Readable,
  name: 'stdout' | 'stderr',
  { log }: Pick<JobContext, 'log'>,
  maxBytes: number,
): Promise<void> {
  const decoder = new TextDecoder();
  const level = name === 'stdout' ? 'info' : 'warn';
  let left = maxBytes;
  let isLogging = left > 0;
  let held = '';
  const say = async (line: string): Promise<void> => {
    if (!isLogging || line.trim() === '') return;
    try {
      await log(level, line, { stream: name });
    } catch {
      // The work has ended, and nobody listens.
      isLogging = false;
    }
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (!isLogging) continue;
      held += decoder.decode(chunk.subarray(0, left), { stream: true });
      const lines = held.split(/\r?\n/);
      held = lines.pop()!;
      for (const line of lines.flatMap(cut)) await say(line);
      for (; held.length > MAX_LINE; held = held.slice(MAX_LINE)) await say(held.slice(0, MAX_LINE));
      left -= chunk.length;
      if (left >= 0) continue;
      await say(held);
      await say(`(More than ${maxBytes} bytes: what else it prints is not logged)`);
      isLogging = false;
    }
    await say(held + decoder.decode());
  } catch {
    // A pipe that breaks has nothing more to say.
  }
}

function cut(line: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from === 0 || from < line.length; from += MAX_LINE) pieces.push(line.slice(from, from + MAX_LINE));
  return pieces;
}
