/** The state of processes, whether this one started them or not. */
import { readFileSync } from 'node:fs';

/** Returns whether a process is running. A zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^State:\s+Z/m.test(statusOf(pid));
}

/** Waits for the end of a process. */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Returns the status of a process on Linux, and an empty text on other systems. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
