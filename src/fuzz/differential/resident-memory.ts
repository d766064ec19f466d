/** How much memory a process group takes. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import process from 'node:process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The resident set of a process group in bytes, summed over its processes; pages that they share count for each. From `/proc`
 * on Linux, from `ps` elsewhere; `null` on Windows and where neither can tell.
 */
export async function residentMemory(group: number): Promise<number | null> {
  if (process.platform === 'win32') return null;
  try {
    return process.platform === 'linux' ? await fromProc(group) : await fromPs(group);
  } catch {
    return null;
  }
}

async function fromProc(group: number): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(ids.map((id) => sizeInGroup(id, group)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeInGroup(id: string, group: number): Promise<number> {
  try {
    // pid (name) state ppid pgrp ...; the name may hold anything, parentheses too.
    const stat = await readFile(`/proc/${id}/stat`, 'latin1');
    const [, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(pgrp) !== group) return 0;
    // In kB, whatever the size of a page.
    const status = await readFile(`/proc/${id}/status`, 'latin1');
    return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

async function fromPs(group: number): Promise<number> {
  const { stdout } = await run('ps', ['-A', '-o', 'pgid=', '-o', 'rss=']);
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
  return rows.reduce((sum, [pgid, kilobytes]) => sum + (Number(pgid) === group ? Number(kilobytes) * 1024 : 0), 0);
}
