/** A child process with all of its descendants: wrappers (a shell, `npx`, `uvx`) may exit before the programs they start. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import process from 'node:process';

/** `false` on Windows, which has no process groups: there, a child is killed with its process tree while it runs. */
export const HAS_GROUPS = process.platform !== 'win32';

interface ProcessGroupOptions {
  /** If true, the group is also killed when SIGINT, SIGTERM or SIGHUP ends this process. @default false */
  readonly killOnSignal?: boolean | undefined;
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** All groups that may still run. */
const groups = new Set<ProcessGroup>();
/** The groups that are killed when a signal ends this process. */
const killedOnSignal = new Set<ProcessGroup>();

function killAll(): void {
  for (const group of groups) group.kill();
}

/** Kills the groups and ends this process, unless another listener handles the signal; `exit` kills the groups then. */
function stop(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  for (const group of killedOnSignal) group.kill();
  // Releasing the last group removed this listener, so that the signal has its default effect.
  process.kill(process.pid, signal);
}

/** The process group that a child leads. It is killed when this process exits. */
export class ProcessGroup {
  readonly #child: ChildProcess;
  #isReleased = false;

  constructor(child: ChildProcess, { killOnSignal = false }: ProcessGroupOptions = {}) {
    this.#child = child;
    if (groups.size === 0) process.on('exit', killAll);
    groups.add(this);
    if (killOnSignal) {
      if (killedOnSignal.size === 0) for (const signal of STOP_SIGNALS) process.on(signal, stop);
      killedOnSignal.add(this);
    }
    // Stops tracking a group that has ended, since its identifier may be reused.
    child.once('exit', () => this.signal(0));
  }

  /** Sends a signal to the group, whose leader may have exited. @returns `true` if the group has processes */
  signal(signal: NodeJS.Signals | 0): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    if (this.#isReleased || pid === undefined) return false;
    if (!HAS_GROUPS && (exitCode !== null || signalCode !== null)) {
      this.release();
      return false;
    }
    try {
      return process.kill(HAS_GROUPS ? -pid : pid, signal);
    } catch (error) {
      // EPERM means a group of zombies, or of processes of another user.
      if ((error as NodeJS.ErrnoException).code === 'EPERM') return true;
      this.release();
      return false;
    }
  }

  /** Kills all processes of the group. */
  kill(): void {
    const { pid } = this.#child;
    if (this.#isReleased) return;
    if (HAS_GROUPS) this.signal('SIGKILL');
    else if (pid !== undefined) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
    this.release();
  }

  /** Stops tracking the group. */
  release(): void {
    this.#isReleased = true;
    groups.delete(this);
    if (groups.size === 0) process.off('exit', killAll);
    if (killedOnSignal.delete(this) && killedOnSignal.size === 0)
      for (const signal of STOP_SIGNALS) process.off(signal, stop);
  }
}
