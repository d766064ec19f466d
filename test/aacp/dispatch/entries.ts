/** Entries and clocks for logs. */
import type { AuditEntry } from '../../../src/aacp/dispatch/index.js';

/** A clock that advances by one second with each call. */
export function tickingClock(start = Date.UTC(2026, 7, 31)): () => number {
  let now = start;
  return () => {
    now += 1000;
    return now;
  };
}

export function entry(packet: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    event: 'handed-over',
    packet,
    length: packet.length,
    hash: 'ab'.repeat(32),
    verdict: 'valid',
    codes: [],
    reason: null,
    attempt: null,
    actor: null,
    nonce: null,
    ...more,
  };
}
