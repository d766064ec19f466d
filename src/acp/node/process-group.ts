/** A child process with all that it has started: agents are often started by wrappers (`npx`, `uvx`), which end before them. */
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';

/** Windows has no groups of processes: there only the child itself can be ended. */
export const HAS_GROUPS = process.platform !== 'win32';

/**
 * Sends a signal to the group that the child leads, the child included. It may have ended and have left others behind.
 *
 * @returns whether anybody was there
 */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(HAS_GROUPS ? -pid : pid, signal);
  } catch (error) {
    // EPERM is what a group of zombies, or of another user's processes, gives.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const alive = new Set<ChildProcess>();

function killAll(): void {
  for (const child of alive) signalGroup(child, 'SIGKILL');
}

/** Ends the group when this process ends in its own way. A signal that ends it at once leaves no time: then stdin ends for the child. */
export function endWithHost(child: ChildProcess): () => void {
  if (alive.size === 0) process.on('exit', killAll);
  alive.add(child);
  return () => {
    alive.delete(child);
    if (alive.size === 0) process.off('exit', killAll);
  };
}
