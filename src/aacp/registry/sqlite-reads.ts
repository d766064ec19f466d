/** What reads the tables of a registry. */
import type { Row } from '../../storage/database.js';
import { distinctTerms } from './checked-entry.js';
import { byRarity, followed } from './rarity.js';
import type { RegistryEntry } from './registry.js';
import type { Connection } from './sqlite-connection.js';
import { columnText, entryOf, textOf } from './sqlite-rows.js';
import type { Statements } from './sqlite-statements.js';
import type { DomainStatistics } from './statistics.js';

/** How many entries are read at a time. No statement is open while the caller has them. */
const PAGE = 256;

/** The entry of a row; `undefined` when there is none, or when it is damaged, which is told. */
export function readRow({ file, tell }: Connection, row: Row | undefined): RegistryEntry | undefined {
  if (row === undefined) return undefined;
  const entry = entryOf(row);
  if (entry !== null) return entry;
  const message = `The registry ${file} has a damaged entry, number ${row['number']}; it is not used.`;
  tell({ kind: 'damaged-entry', file, message });
  return undefined;
}

export function* readAll(connection: Connection, domain: string | undefined): Iterable<RegistryEntry> {
  const { after, afterInDomain } = connection.statements;
  for (let last = 0; ; ) {
    const rows = connection.attempt(() =>
      domain === undefined ? after.all(last, PAGE) : afterInDomain.all(columnText(domain), last, PAGE),
    );
    for (const row of rows) {
      const entry = readRow(connection, row);
      if (entry !== undefined) yield entry;
    }
    if (rows.length < PAGE) return;
    last = rows.at(-1)!['number'] as number;
  }
}

/** @param expiredAt entries made then or before have expired */
export function readCandidates(
  connection: Connection,
  domain: string,
  terms: readonly string[],
  limit: number,
  expiredAt: number,
): readonly RegistryEntry[] {
  const { statements } = connection;
  const postings = distinctTerms(terms).map((term) => postingsOf(statements, domain, term));
  const found: RegistryEntry[] = [];
  for (const number of byRarity(postings)) {
    if (found.length >= limit) break;
    const entry = readRow(connection, statements.byNumber.get(number));
    if (entry !== undefined && entry.created > expiredAt) found.push(entry);
  }
  return found;
}

function postingsOf({ postings }: Statements, domain: string, term: string): readonly number[] {
  const { entries } = postings.get(columnText(domain), columnText(term)) as { entries: string | null };
  return entries === null ? [] : followed(term, entries.split(',').map(Number));
}

export function readStatistics({ statements }: Connection, expiredAt: number): DomainStatistics[] {
  return statements.statistics.all(expiredAt).map((row) => ({
    domain: textOf(row['domain'] as string),
    entries: row['entries'] as number,
    timesSeen: row['times_seen'] as number,
    served: row['served'] as number,
    pending: row['pending'] as number,
    spent: row['spent'] as number,
    saved: row['saved'] as number,
    unpriced: row['unpriced'] as number,
    expired: row['expired'] as number,
  }));
}
