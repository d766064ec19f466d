/** Commands run through the shell, and ended with all that they have started. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import process from 'node:process';

/** Where and how a command runs. */
export interface CommandOptions {
  /** @default the current folder */
  readonly cwd?: string | undefined;
  /** Instead of the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

const WINDOWS = process.platform === 'win32';
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Groups that may still be running. */
const running = new Set<ChildProcessWithoutNullStreams>();

/**
 * Starts a command in a process group of its own, so that it can be ended whole: the shell, what the shell starts, and so on.
 * If this process ends first, by itself or by a signal, the group is killed; a signal from the terminal does not reach it.
 */
export function startGroup(command: string, { cwd, env }: CommandOptions): ChildProcessWithoutNullStreams {
  const child = spawn(command, {
    shell: true,
    detached: !WINDOWS,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  if (child.pid === undefined) return child;
  if (running.size === 0) listen();
  running.add(child);
  // What the shell has left behind goes with it; the pipes close only then.
  child.once('exit', () => killGroup(child));
  return child;
}

/** Kills a group at once. One that has ended already is left alone. */
export function killGroup(child: ChildProcessWithoutNullStreams): void {
  if (!running.delete(child)) return;
  if (running.size === 0) unlisten();
  // The number is given to no other group while a member of this one runs.
  if (WINDOWS) spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { windowsHide: true });
  else {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // No member is left.
    }
  }
}

function killAll(): void {
  for (const child of running) killGroup(child);
}

/** Whoever else listens for the signal decides whether this process ends; if it does, its groups end with it. */
function stop(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  killAll();
  // By now this listener is gone, so that the signal does what it does by default.
  process.kill(process.pid, signal);
}

function listen(): void {
  process.on('exit', killAll);
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
}

function unlisten(): void {
  process.off('exit', killAll);
  for (const signal of STOP_SIGNALS) process.off(signal, stop);
}
