/** What changes the tables of a registry. All of it runs within a transaction. */
import type { Row } from '../../storage/database.js';
import { stateAfter } from './checked-entry.js';
import { entryWith } from './entries.js';
import type { HitCounts } from './hit-counts.js';
import type { NewEntry, RegistryEntry, Reservation } from './registry.js';
import { columnText, dataOf, entryOf } from './sqlite-rows.js';
import type { Statements } from './sqlite-statements.js';

/** Puts in an entry or replaces one, and ends the reservation of its key. */
export function putEntry(statements: Statements, entry: NewEntry, now: number): RegistryEntry {
  const key = columnText(entry.key);
  const row = statements.byKey.get(key);
  const before = row === undefined ? undefined : (entryOf(row) ?? undefined);
  const state = stateAfter(entry, before, now);
  const { created, lastSeen, timesSeen } = state;
  const covered = state.covered ? 1 : 0;
  const values = [columnText(entry.domain), entry.cost, created, lastSeen, timesSeen, covered] as const;
  let number: number;
  if (row === undefined) {
    number = statements.insert.get(key, ...values, dataOf(entry))!['number'] as number;
  } else {
    number = row['number'] as number;
    removePostings(statements, number, before ?? null);
    statements.replace.run(...values, dataOf(entry), number);
  }
  statements.addPostings.run(columnText(entry.domain), number, columnTexts(entry.terms));
  statements.endReservation.run(key);
  return entryWith(entry, state);
}

/** Removes the entry of a row, with its postings. */
export function removeRow(statements: Statements, row: Row): void {
  const number = row['number'] as number;
  removePostings(statements, number, entryOf(row));
  statements.remove.run(number);
}

function removePostings(statements: Statements, number: number, entry: RegistryEntry | null): void {
  if (entry === null) statements.removeAllPostings.run(number);
  else statements.removePostings.run(columnText(entry.domain), number, columnTexts(entry.terms));
}

function columnTexts(texts: readonly string[]): string {
  return JSON.stringify(texts.map(columnText));
}

/** Writes the hits that were counted. */
export function writeHits(statements: Statements, hits: HitCounts): void {
  if (hits.isEmpty()) return;
  statements.count.run(
    JSON.stringify(Array.from(hits.all(), ([key, { times, last }]) => [columnText(key), times, last])),
  );
}

/** Most entries that one transaction removes: others wait meanwhile. */
const BATCH = 1024;

/** Removes expired entries, a batch of them. */
export function removeExpired(
  statements: Statements,
  expiredAt: number,
): { readonly removed: number; readonly more: boolean } {
  const rows = statements.expired.all(expiredAt, BATCH);
  for (const row of rows) removeRow(statements, row);
  return { removed: rows.length, more: rows.length === BATCH };
}

/** Removes what has expired, and then, where there are too many entries, those that were not seen for the longest time. */
export function trim(statements: Statements, maxEntries: number, expiredAt: number, now: number): void {
  statements.endedReservations.run(now);
  removeExpired(statements, expiredAt);
  const surplus = (statements.size.get()!['entries'] as number) - maxEntries;
  if (surplus <= 0) return;
  for (const row of statements.leastSeen.all(Math.min(surplus, BATCH))) removeRow(statements, row);
}

/** Reservations by their keys, and since when each is as it is, in milliseconds of the monotonic clock. */
export type SeenReservations = Map<string, { readonly token: string; readonly until: number; readonly since: number }>;

/** Reservations beyond which those that were seen longest ago are looked at anew. */
const MOST_SEEN = 1000;

/**
 * Reserves a key, unless another process has it. A new reservation takes the place of one that was not renewed for as long as it lasts. That time
 * is measured here: the wall clock may have jumped since the reservation was made.
 */
export function reserve(
  statements: Statements,
  seen: SeenReservations,
  key: string,
  now: number,
  milliseconds: number,
): Exclude<Reservation, { readonly kind: 'known' }> {
  const held = columnText(key);
  const taken = statements.reservation.get(held);
  if (taken !== undefined) {
    const [token, until, lease] = [taken['token'] as string, taken['until'] as number, taken['lease'] as number];
    const before = seen.get(key);
    if (before?.token !== token || before.until !== until) noteReservation(seen, key, token, until);
    const left = seen.get(key)!.since + lease - performance.now();
    if (left > 0) return { kind: 'taken', until: now + left };
  }
  const token = statements.reserve.get(held, now + milliseconds, milliseconds)!['token'] as string;
  noteReservation(seen, key, token, now + milliseconds);
  return { kind: 'mine', token };
}

export function noteReservation(seen: SeenReservations, key: string, token: string, until: number): void {
  seen.delete(key);
  seen.set(key, { token, until, since: performance.now() });
  if (seen.size > MOST_SEEN) seen.delete(seen.keys().next().value!);
}
