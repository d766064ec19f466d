/** Whether processes are there, whoever has started them. */
import { readFileSync } from 'node:fs';

/** A process that has ended and that nobody has asked for is none. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^State:\s+Z/m.test(statusOf(pid));
}

/** Resolves when it has ended. */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Empty where the system tells nothing of its processes. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
