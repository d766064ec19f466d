// biome-ignore-all lint/correctness/noNodejsModules: locks are files
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import process from 'node:process';
import { AuditError } from './audit.js';

export type Lock = ReturnType<typeof lockOf>;

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** The start of the process, in milliseconds of the monotonic clock, which all threads share. */
  readonly started: number;
}

/** The locks of this process. Its process id in a lock file proves nothing, since ids are reused. */
const ownLocks = new Set<string>();
const TRIES = 5;
/** Milliseconds by which two measurements of the same start may differ. */
const SAME_START = 1_000;

/**
 * Creates the lock file, which only one process can. A lock whose process has ended is taken over. A lock from another machine, whose
 * processes cannot be checked, must be removed by hand. @throws AuditError with code `audit-in-use`
 */
export async function takeLock(file: string): Promise<Lock> {
  if (ownLocks.has(file)) throw inUse(file, 'this process');
  ownLocks.add(file);
  try {
    const content = JSON.stringify({ pid: process.pid, host: hostname(), started: startOfProcess(), id: randomUUID() });
    for (let tries = 0; tries < TRIES; tries++) {
      if (await create(file, content)) return lockOf(file, content);
      await removeIfStale(file);
    }
    throw inUse(file, 'another process');
  } catch (thrown) {
    ownLocks.delete(file);
    throw thrown;
  }
}

function lockOf(file: string, content: string) {
  /** Returns `false` if the file was removed by hand. */
  const isHeld = async (): Promise<boolean> => (await contentOf(file)) === content;
  return {
    isHeld,
    async release(): Promise<void> {
      try {
        if (await isHeld()) await rm(file, { force: true });
      } finally {
        ownLocks.delete(file);
      }
    },
  };
}

async function create(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

async function contentOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}

async function removeIfStale(file: string): Promise<void> {
  const content = await contentOf(file);
  if (content === null) return;
  const holder = holderIn(content);
  if (holder === null) throw inUse(file, 'an unknown process');
  if (isAlive(holder)) throw inUse(file, `process ${holder.pid} on ${holder.host}`);
  // Renames first: only one of several processes can.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw thrown;
  }
  const moved = await contentOf(aside);
  // Another process took the lock in the meantime.
  if (moved !== null && moved !== content) await create(file, moved);
  await rm(aside, { force: true });
}

function holderIn(content: string): Holder | null {
  try {
    const { pid, host, started } = JSON.parse(content) as Record<string, unknown>;
    const whole = Number.isSafeInteger(pid) && (pid as number) > 0 && typeof host === 'string';
    return whole && typeof started === 'number' ? ({ pid, host, started } as Holder) : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, host, started }: Holder): boolean {
  if (host !== hostname()) return true;
  // Either another thread of this process, or an earlier process with the same id.
  if (pid === process.pid) return Math.abs(started - startOfProcess()) < SAME_START;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function startOfProcess(): number {
  return Math.round(Number(process.hrtime.bigint()) / 1e6 - 1000 * process.uptime());
}

function inUse(file: string, holder: string): AuditError {
  const message = `The log is in use: ${holder} holds the lock ${file}.`;
  const help = 'a log has one writer at a time; remove the lock file if that process no longer writes';
  return new AuditError({ code: 'audit-in-use', message, help });
}
