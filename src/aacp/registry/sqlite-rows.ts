/** Converts entries to rows, and defines the database. */

import type { Database, Row, Statement } from '../../storage/database.js';
import type { Format } from '../../storage/migrate.js';
import { MAX_POSTINGS, ORIGINS, TEXTS } from './entries.js';
import type { NoticeListener } from './options.js';
import type { NewEntry, RegistryEntry } from './registry.js';

/** The members of an entry that are stored as JSON in the column `data`. */
const DATA = [...TEXTS, 'origin', 'model', 'terms', 'givenAt'] as const satisfies readonly (keyof NewEntry)[];

type Data = Pick<NewEntry, (typeof DATA)[number]>;

/** Escapes a text: SQLite columns cannot hold NUL or a lone surrogate. Most texts stay unchanged. */
export function columnText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function textOf(column: string): string {
  return JSON.parse(`"${column}"`) as string;
}

export function dataOf(entry: NewEntry): string {
  return JSON.stringify(entry, [...DATA]);
}

/** Converts a row to an entry; returns `null` if the row is damaged. */
export function entryOf(row: Row): RegistryEntry | null {
  try {
    const data = JSON.parse(row['data'] as string) as unknown;
    if (!isData(data)) return null;
    return Object.assign(data, {
      key: textOf(row['key'] as string),
      cost: row['cost'] as number | null,
      createdAt: row['created'] as number,
      lastSeenAt: row['last_seen'] as number,
      timesSeen: row['times_seen'] as number,
      covered: row['covered'] === 1,
    });
  } catch {
    return null;
  }
}

/** Checks members one by one: a schema would take longer than reading the entry. */
function isData(value: unknown): value is Data {
  if (typeof value !== 'object' || value === null) return false;
  const data = value as Readonly<Record<keyof Data, unknown>>;
  if (!TEXTS.every((name) => typeof data[name] === 'string')) return false;
  if (data.model !== null && typeof data.model !== 'string') return false;
  if (data.givenAt !== undefined && typeof data.givenAt !== 'number') return false;
  if (!(ORIGINS as readonly unknown[]).includes(data.origin)) return false;
  return Array.isArray(data.terms) && data.terms.every((term) => typeof term === 'string');
}

/** A comment in the schema by which a damaged file is recognised. */
export const REGISTRY_MARK = 'pegwire AACP registry';

export const REGISTRY_FORMAT: Format = {
  name: 'AACP registries',
  applicationId: 0x41_41_43_50,
  migrations: [
    `CREATE TABLE entry ( -- ${REGISTRY_MARK}
       -- Never used twice, so that what still names an entry that has gone names no other.
       number INTEGER PRIMARY KEY AUTOINCREMENT,
       key TEXT NOT NULL UNIQUE,
       domain TEXT NOT NULL,
       -- US dollars; null where that is not known.
       cost REAL,
       -- Milliseconds since 1970.
       created INTEGER NOT NULL,
       last_seen INTEGER NOT NULL,
       times_seen INTEGER NOT NULL,
       served INTEGER NOT NULL,
       -- 1 when a rule covers it.
       covered INTEGER NOT NULL,
       -- The rest, as JSON: it holds any text, and no column could hold a zero character or half of a surrogate pair.
       data TEXT NOT NULL
     ) STRICT;
     CREATE INDEX entry_by_last_seen ON entry (last_seen);
     CREATE INDEX entry_by_created ON entry (created);

     -- Which entries of a domain have a term.
     CREATE TABLE posting (
       domain TEXT NOT NULL,
       term TEXT NOT NULL,
       entry INTEGER NOT NULL,
       PRIMARY KEY (domain, term, entry)
     ) STRICT, WITHOUT ROWID;

     CREATE TABLE reservation (
       key TEXT PRIMARY KEY,
       token TEXT NOT NULL,
       until INTEGER NOT NULL,
       -- How long it was asked for: one that would last longer was made before the clock was set back.
       lease INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;`,
    // The quotes show that it is a member: inside strings they are escaped.
    `UPDATE entry SET data = replace(data, '"said":', '"givenAt":') WHERE instr(data, '"said":') > 0`,
  ],
};

const COLUMNS = 'number, key, domain, cost, created, last_seen, times_seen, served, covered, data';

const SQL = {
  /** Changes with every commit of another connection. */
  dataVersion: 'PRAGMA data_version',
  lastEntry: 'SELECT data FROM entry ORDER BY number DESC LIMIT 1',
  lastKey: 'SELECT key FROM entry ORDER BY key DESC LIMIT 1',
  lastPosting: 'SELECT entry FROM posting ORDER BY domain DESC, term DESC, entry DESC LIMIT 1',
  byKey: `SELECT ${COLUMNS} FROM entry WHERE key = ?`,
  byNumber: `SELECT ${COLUMNS} FROM entry WHERE number = ?`,
  after: `SELECT ${COLUMNS} FROM entry WHERE number > ? ORDER BY number LIMIT ?`,
  afterInDomain: `SELECT ${COLUMNS} FROM entry WHERE domain = ? AND number > ? ORDER BY number LIMIT ?`,
  insert: `INSERT INTO entry (key, domain, cost, created, last_seen, times_seen, served, covered, data)
    VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?) RETURNING number`,
  replace: `UPDATE entry SET domain = ?, cost = ?, created = ?, last_seen = ?, times_seen = ?, covered = ?, data = ?
    WHERE number = ?`,
  remove: 'DELETE FROM entry WHERE number = ?',
  // Saturates, like the counts in memory. One statement for all, since most of the time goes into starting statements.
  count: `UPDATE entry SET times_seen = min(times_seen + hit.times, ${Number.MAX_SAFE_INTEGER}),
    served = served + hit.times, last_seen = max(last_seen, hit.last)
    FROM (SELECT value ->> 0 AS key, value ->> 1 AS times, value ->> 2 AS last FROM json_each(?)) AS hit
    WHERE entry.key = hit.key`,
  setCovered: 'UPDATE entry SET covered = ? WHERE key = ?',
  addPostings: 'INSERT OR IGNORE INTO posting (domain, term, entry) SELECT ?, value, ? FROM json_each(?)',
  removePostings: 'DELETE FROM posting WHERE domain = ? AND entry = ? AND term IN (SELECT value FROM json_each(?))',
  /** Removes all postings of an entry whose terms cannot be read. */
  removeAllPostings: 'DELETE FROM posting WHERE entry = ?',
  // The latest first. One row instead of many, since most of the time goes into returning rows.
  postings: `SELECT group_concat(entry) AS entries
    FROM (SELECT entry FROM posting WHERE domain = ? AND term = ?
      ORDER BY entry DESC LIMIT ${MAX_POSTINGS + 1})`,
  size: 'SELECT count(*) AS entries FROM entry',
  leastSeen: `SELECT ${COLUMNS} FROM entry ORDER BY last_seen, number LIMIT ?`,
  expired: `SELECT ${COLUMNS} FROM entry WHERE created <= ? LIMIT ?`,
  reservation: 'SELECT token, until, lease FROM reservation WHERE key = ?',
  reserve: `INSERT INTO reservation (key, token, until, lease) VALUES (?, lower(hex(randomblob(16))), ?, ?)
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, until = excluded.until, lease = excluded.lease
    RETURNING token`,
  renew: 'UPDATE reservation SET until = ?, lease = ? WHERE key = ? AND token = ? RETURNING key',
  release: 'DELETE FROM reservation WHERE key = ? AND token = ?',
  endReservation: 'DELETE FROM reservation WHERE key = ?',
  endedReservations: 'DELETE FROM reservation WHERE until <= ?',
  statistics: `SELECT domain, count(*) AS entries, total(times_seen) AS timesSeen, total(served) AS served,
    sum(covered = 0) AS pending, total(cost) AS spent, total(cost * served) AS saved, sum(cost IS NULL) AS unpriced,
    sum(created <= ?) AS expired FROM entry GROUP BY domain`,
} as const;

export type Statements = { readonly [name in keyof typeof SQL]: Statement };

export function prepareStatements(database: Database): Statements {
  const statements = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(statements) as Statements;
}

export interface Connection {
  readonly file: string;
  readonly statements: Statements;
  readonly attempt: <T>(step: () => T) => T;
  /** Runs a step with the file locked for writing. Commits all its changes, or none if it throws. */
  readonly write: <T>(step: () => T) => T;
  readonly notify: NoticeListener;
  readonly isReadOnly: boolean;
  readonly isOpen: () => boolean;
  readonly close: () => void;
}
