/**
 * What a program logs. It is read in every case.
 *
 * Source: ACP, transports, "stdio": "Clients MAY capture, forward, or ignore this logging".
 */
import process from 'node:process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Kept (the last 64 KiB), written to this process's stderr, dropped, or given to a function as it comes. */
export type StderrChoice = 'capture' | 'forward' | 'ignore' | ((text: string) => void);

const KEPT = 64 * 1024;

/** @returns gives the end of what was logged, in every case: errors quote it */
export function drainStderr(stderr: Readable, choice: StderrChoice): () => string {
  const decoder = new StringDecoder('utf8');
  let kept = '';
  const take = (text: string): void => {
    if (text === '') return;
    kept += text;
    // Not for each piece, which may be one character.
    if (kept.length > 2 * KEPT) kept = kept.slice(-KEPT);
    if (choice === 'forward') process.stderr.write(text);
    else if (typeof choice === 'function') {
      try {
        choice(text);
      } catch {
        // Whoever looks at the log must not be able to take the host down.
      }
    }
  };
  stderr.on('data', (chunk: Buffer) => take(decoder.write(chunk)));
  stderr.on('end', () => take(decoder.end()));
  // A pipe that breaks has nothing more to say.
  stderr.on('error', () => {});
  return () => kept.slice(-KEPT);
}
