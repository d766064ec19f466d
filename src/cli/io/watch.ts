/** Repeats a command when its files change. */
import { statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { UsageError } from './errors.js';
import { inputFiles, type Named } from './inputs.js';
import { noteFault } from './report.js';
import { endBySignal } from './signals.js';

/** Milliseconds between two looks at the files, and the part of the time that looking may take. */
const INTERVAL_MS = 300;
const MAX_SHARE = 0.1;

/**
 * Runs a command, then again whenever a file is new, has changed or is gone, until SIGINT or SIGTERM. Files are compared by size and time:
 * notifications of the operating system are missing on network drives and in containers.
 *
 * @returns the exit code of the last run
 * @throws UsageError if the input is not files, or if the first run throws it
 */
export async function whileWatching<I extends Named>(invocation: I, run: (one: I) => Promise<number>): Promise<number> {
  const { files, output, json } = invocation;
  if (files.length === 0 || files.includes('-')) throw new UsageError('--watch requires files');
  // Looked at before the run: a change during it is seen afterwards.
  let known = await lookAt(invocation);
  let exitCode = await run(invocation);
  if (!json) await output.note(`Watching ${known.size} ${known.size === 1 ? 'file' : 'files'}; press Ctrl-C to end.`);
  const ending = new AbortController();
  const watching = async (): Promise<void> => {
    for (let pause = INTERVAL_MS; !ending.signal.aborted; ) {
      await wait(pause, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) return;
      const began = performance.now();
      const found = await lookAt(invocation);
      pause = Math.max(INTERVAL_MS, (performance.now() - began) / MAX_SHARE);
      const isSame = found.size === known.size && [...found].every(([file, state]) => known.get(file) === state);
      known = found;
      if (isSame) continue;
      if (!json) await output.note(output.paintNote('dim', `-- ${timeOfDay()}`));
      exitCode = await runAgain(invocation, run);
    }
  };
  const stop = async (): Promise<void> => ending.abort();
  await Promise.all([endBySignal(stop, () => process.exit(130)), watching()]);
  return exitCode;
}

/** A file may disappear before it is read. */
async function runAgain<I extends Named>(invocation: I, run: (one: I) => Promise<number>): Promise<number> {
  try {
    return await run(invocation);
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    await noteFault(invocation, thrown);
    return 2;
  }
}

/** Returns the present files, each with a text that differs after a change. */
async function lookAt(invocation: Named): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let files: readonly (string | undefined)[] = [];
  try {
    files = await inputFiles({ ...invocation, json: true });
  } catch (thrown) {
    // All files of a folder may be missing for a while.
    if (!(thrown instanceof UsageError)) throw thrown;
  }
  for (const file of files) {
    const stats = statSync(file!, { throwIfNoEntry: false, bigint: true });
    if (stats !== undefined) found.set(file!, `${stats.ino}:${stats.size}:${stats.mtimeNs}`);
  }
  return found;
}

function timeOfDay(): string {
  return new Date().toTimeString().slice(0, 8);
}
