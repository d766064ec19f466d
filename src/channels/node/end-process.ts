/** The orderly end of a child process and of all that it has started. */
import { after } from '../../async/after.js';
import type { Channel } from '../channel.js';
import type { Exit } from './process-channel.js';
import type { ProcessGroup } from './process-group.js';
import type { PipedProcess } from './start-process.js';

export interface EndOptions {
  readonly channel: Channel;
  readonly group: ProcessGroup;
  readonly exited: Promise<Exit>;
  /** Seconds from the end of its input to SIGTERM. */
  readonly exitGrace: number;
  /** Seconds from SIGTERM to SIGKILL. */
  readonly killGrace: number;
}

/** Milliseconds between two looks: a group does not say when it ends. */
const LOOK = 20;

/** Ends its input, then where it stays the group: first by SIGTERM, then by SIGKILL. */
export async function endProcess(
  child: PipedProcess,
  { channel, group, exited, exitGrace, killGrace }: EndOptions,
): Promise<Exit> {
  void channel.end();
  await within(exited, exitGrace);
  // The leader may have ended and have left others behind.
  if (group.signal('SIGTERM') && !(await hasGone(group, killGrace))) group.signal('SIGKILL');
  const exit = await exited;
  group.release();
  channel.destroy();
  // Who was not in the group may hold them open for ever.
  child.stdout.destroy();
  child.stderr.destroy();
  return exit;
}

/** @returns whether all of the group have ended in time; where nobody reaps orphans, they never have */
async function hasGone(group: ProcessGroup, seconds: number): Promise<boolean> {
  for (const end = performance.now() + seconds * 1000; group.signal(0); ) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  return true;
}

async function within(promise: Promise<unknown>, seconds: number): Promise<void> {
  let stop!: () => void;
  const late = new Promise<void>((resolve) => {
    stop = after(seconds, resolve);
  });
  await Promise.race([promise, late]);
  stop();
}
