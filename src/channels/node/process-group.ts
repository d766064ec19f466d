/** A child process with all processes that it has started: wrappers (a shell, `npx`, `uvx`) may end before their programs. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import process from 'node:process';

/** Windows has no process groups: there, a child is ended with its tree, while it runs. */
export const HAS_GROUPS = process.platform !== 'win32';

interface ProcessGroupOptions {
  /** Whether the group is killed when SIGINT, SIGTERM or SIGHUP ends this process. @default only when this process exits by itself */
  readonly killOnSignal?: boolean | undefined;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Groups that may still run, and those of them that end with a signal to this process. */
const groups = new Set<ProcessGroup>();
const endedBySignals = new Set<ProcessGroup>();

function killAll(): void {
  for (const group of groups) group.kill();
}

/** Another listener for the signal decides whether this process ends; if it does, `exit` kills the groups. */
function stop(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  for (const group of endedBySignals) group.kill();
  // The last release has removed this listener, so that the signal now has its default effect.
  process.kill(process.pid, signal);
}

/** The group that a child leads, the child included. It is killed when this process exits. */
export class ProcessGroup {
  readonly #child: ChildProcess;
  #isGone = false;

  constructor(child: ChildProcess, { killOnSignal = false }: ProcessGroupOptions = {}) {
    this.#child = child;
    if (groups.size === 0) process.on('exit', killAll);
    groups.add(this);
    if (killOnSignal) {
      if (endedBySignals.size === 0) for (const signal of STOP_SIGNALS) process.on(signal, stop);
      endedBySignals.add(this);
    }
    // After the end of the whole group, its number may be reused.
    child.once('exit', () => this.signal(0));
  }

  /** Signals the group, which may have lost its leader. @returns whether it has processes */
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
      // EPERM is the error for a group of zombies, or of another user's processes.
      if ((error as NodeJS.ErrnoException).code === 'EPERM') return true;
      this.release();
      return false;
    }
  }

  kill(): void {
    const { pid } = this.#child;
    if (this.#isGone) return;
    if (HAS_GROUPS) this.signal('SIGKILL');
    else if (pid !== undefined) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
    this.release();
  }

  /** Stops tracking the group. */
  release(): void {
    this.#isGone = true;
    groups.delete(this);
    if (groups.size === 0) process.off('exit', killAll);
    if (endedBySignals.delete(this) && endedBySignals.size === 0)
      for (const signal of STOP_SIGNALS) process.off(signal, stop);
  }
}
