import type { Audit, AuditRecord } from './audit.js';
import { EMPTY_CHAIN, lineOf, nextRecord } from './audit-record.js';

export interface MemoryAudit extends Audit {
  /** All records, the oldest first. */
  readonly records: () => readonly AuditRecord[];
  /** The log as a file would have it: a line for each record. */
  readonly text: () => string;
}

export interface AuditOptions {
  /** Milliseconds since 1970. @default the system's clock */
  readonly clock?: (() => number) | undefined;
}

/**
 * A log in memory: for tests, and for hosts that store the records themselves.
 *
 * @throws TypeError on options that are none
 */
export function memoryAudit(options: AuditOptions = {}): MemoryAudit {
  const clock = resolveClock(options);
  const records: AuditRecord[] = [];
  return {
    // Async, so that what a clock throws is a rejection, as with every other log.
    async append(entry) {
      const record = nextRecord(records.at(-1) ?? EMPTY_CHAIN, entry, clock());
      records.push(record);
      return record;
    },
    records: () => [...records],
    text: () => records.map((record) => `${lineOf(record)}\n`).join(''),
  };
}

/** @throws TypeError when the option `clock` is no function */
export function resolveClock({ clock = Date.now }: AuditOptions): () => number {
  if (typeof clock !== 'function') throw new TypeError('clock must be a function that gives milliseconds since 1970');
  return clock;
}
