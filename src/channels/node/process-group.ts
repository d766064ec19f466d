/** A child process with all that it has started: agents are often started by wrappers (`npx`, `uvx`), which end before them. */
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';

/** Windows has no groups of processes: there only the child itself can be ended. */
export const HAS_GROUPS = process.platform !== 'win32';

const groups = new Set<ProcessGroup>();

function killAll(): void {
  for (const group of groups) group.signal('SIGKILL');
}

/**
 * The group that a child leads, the child included. It is ended when this process ends in its own way; a signal that ends this
 * process at once leaves no time for that, and then the child's input ends.
 */
export class ProcessGroup {
  readonly #child: ChildProcess;
  #isGone = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (groups.size === 0) process.on('exit', killAll);
    groups.add(this);
    // Once the last of a group is gone, its number may be given to others.
    child.once('exit', () => this.signal(0));
  }

  /**
   * The leader may have ended and have left others behind.
   *
   * @returns whether anybody was there
   */
  signal(signal: NodeJS.Signals | 0): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    if (this.#isGone || pid === undefined) return false;
    if (!HAS_GROUPS && (exitCode !== null || signalCode !== null)) {
      this.release();
      return false;
    }
    try {
      return process.kill(HAS_GROUPS ? -pid : pid, signal);
    } catch (error) {
      // EPERM is what a group of zombies, or of another user's processes, gives.
      if ((error as NodeJS.ErrnoException).code === 'EPERM') return true;
      this.release();
      return false;
    }
  }

  /** Nobody of the group is left, or is to be signalled any more. */
  release(): void {
    this.#isGone = true;
    groups.delete(this);
    if (groups.size === 0) process.off('exit', killAll);
  }
}
