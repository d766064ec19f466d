/** The clock of a SQLite file, which all processes on the machine share. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import { monotonicClock } from '../../async/timers.js';
import type { OpenDatabase } from '../../storage/open.js';
import type { Statements } from './sqlite-schema.js';

/**
 * The start of this process by the monotonic clock of the machine, which all processes share. Unlike the uptime, that clock stops while the
 * machine sleeps, as `performance.now()` does.
 */
const PROCESS_STARTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The time at which a process opens a file. */
export interface Opening {
  /** The time by the clock of the process, in milliseconds since 1970. */
  readonly openedAt: number;
  /** Milliseconds by the monotonic clock of the machine. */
  readonly sinceStartMs: number;
}

/** Returns the current time. @param local the clock of the process, in milliseconds since 1970 */
export function openingOf(local: () => number): Opening {
  return { openedAt: local(), sinceStartMs: Math.floor(PROCESS_STARTED_MS + performance.now()) };
}

/**
 * Returns the clock of a file: the time that the first process since the start of the machine has read from its wall clock, continued by the
 * monotonic clock of the machine. Processes whose wall clocks differ thus have the same time.
 *
 * @param now the wall clock, in milliseconds since 1970
 */
export function sharedClock(database: OpenDatabase, statements: ClockStatements, now: () => number): () => number {
  const local = monotonicClock(now);
  const ahead = msAhead(database, statements, openingOf(local));
  return () => local() + ahead;
}

type ClockStatements = Pick<Statements, 'clock' | 'setClock' | 'lastAt'>;

/** Returns the milliseconds by which the clock of a file is ahead of that of the process. */
export function msAhead(
  database: OpenDatabase,
  { clock, setClock, lastAt }: ClockStatements,
  { openedAt, sinceStartMs }: Opening,
): number {
  const boot = bootId();
  const last = (lastAt.get()?.['at'] as number | undefined) ?? 0;
  const stored = (): number | undefined => clock.get(boot)?.['started_at'] as number | undefined;
  let startedAt = stored();
  if (startedAt === undefined) {
    // If the wall clock was set back since the last event, time continues after it.
    startedAt = Math.max(openedAt, last) - sinceStartMs;
    if (!database.isReadOnly) startedAt = database.transaction(() => stored() ?? begin(startedAt!));
  }
  return Math.max(startedAt + sinceStartMs, last) - openedAt;

  function begin(at: number): number {
    setClock.run(boot, at);
    return at;
  }
}

/** Returns a text that changes with each start of the machine. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Other systems have no such file. The time of the start, by the wall clock, to the hour.
    return String(Math.round((Date.now() - os.uptime() * 1000) / 3_600_000));
  }
}
