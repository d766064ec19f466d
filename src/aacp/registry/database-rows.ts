/** Converts entries to rows, and has the statements: the same in SQLite and in PostgreSQL. */

import type { Database, Row, Statement } from '../../storage/database.js';
import type { Dialect } from '../../storage/dialect.js';
import { MAX_POSTINGS, ORIGINS, TEXTS } from './entries.js';
import type { NoticeListener } from './options.js';
import type { NewEntry, RegistryEntry } from './registry.js';

/** The members of an entry that are stored as JSON in the column `data`. */
const DATA = [...TEXTS, 'origin', 'model', 'terms', 'givenAt'] as const satisfies readonly (keyof NewEntry)[];

type Data = Pick<NewEntry, (typeof DATA)[number]>;

/** Escapes a text: columns cannot hold NUL or a lone surrogate. Most texts stay unchanged. */
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

const COLUMNS = 'number, key, domain, cost, created, last_seen, times_seen, served, covered, data';

function statementsOf({ table, texts, members, joined }: Dialect) {
  const [entry, posting, reservation] = ['entry', 'posting', 'reservation'].map(table);
  return {
    lastEntry: `SELECT data FROM ${entry} ORDER BY number DESC LIMIT 1`,
    lastKey: `SELECT key FROM ${entry} ORDER BY key DESC LIMIT 1`,
    lastPosting: `SELECT entry FROM ${posting} ORDER BY domain DESC, term DESC, entry DESC LIMIT 1`,
    byKey: `SELECT ${COLUMNS} FROM ${entry} WHERE key = ?`,
    byNumber: `SELECT ${COLUMNS} FROM ${entry} WHERE number = ?`,
    after: `SELECT ${COLUMNS} FROM ${entry} WHERE number > ? ORDER BY number LIMIT ?`,
    afterInDomain: `SELECT ${COLUMNS} FROM ${entry} WHERE domain = ? AND number > ? ORDER BY number LIMIT ?`,
    insert: `INSERT INTO ${entry} (key, domain, cost, created, last_seen, times_seen, served, covered, data)
      VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?) RETURNING number`,
    replace: `UPDATE ${entry} SET domain = ?, cost = ?, created = ?, last_seen = ?, times_seen = ?, covered = ?, data = ?
      WHERE number = ?`,
    remove: `DELETE FROM ${entry} WHERE number = ?`,
    // Saturates, like the counts in memory. One statement for all, since most of the time goes into starting statements.
    count: `UPDATE ${entry} SET
        times_seen = CASE WHEN times_seen > ${MAX} - hit.times THEN ${MAX} ELSE times_seen + hit.times END,
        served = served + hit.times,
        last_seen = CASE WHEN last_seen < hit.last THEN hit.last ELSE last_seen END
      FROM (SELECT value ->> 0 AS key, CAST(value ->> 1 AS bigint) AS times, CAST(value ->> 2 AS bigint) AS last
        FROM ${members('?')}) AS hit
      WHERE entry.key = hit.key`,
    setCovered: `UPDATE ${entry} SET covered = ? WHERE key = ?`,
    addPostings: `INSERT INTO ${posting} (domain, term, entry)
      SELECT CAST(? AS text), value, CAST(? AS bigint) FROM ${texts('?')} WHERE true ON CONFLICT DO NOTHING`,
    removePostings: `DELETE FROM ${posting} WHERE domain = ? AND entry = ? AND term IN (SELECT value FROM ${texts('?')})`,
    /** Removes all postings of an entry whose terms cannot be read. */
    removeAllPostings: `DELETE FROM ${posting} WHERE entry = ?`,
    // The latest first. One row instead of many, since most of the time goes into returning rows.
    postings: `SELECT ${joined('entry')} AS entries
      FROM (SELECT entry FROM ${posting} WHERE domain = ? AND term = ?
        ORDER BY entry DESC LIMIT ${MAX_POSTINGS + 1}) AS latest`,
    size: `SELECT count(*) AS entries FROM ${entry}`,
    leastSeen: `SELECT ${COLUMNS} FROM ${entry} ORDER BY last_seen, number LIMIT ?`,
    expired: `SELECT ${COLUMNS} FROM ${entry} WHERE created <= ? LIMIT ?`,
    reservation: `SELECT token, until, lease FROM ${reservation} WHERE key = ?`,
    reserve: `INSERT INTO ${reservation} (key, token, until, lease) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET token = excluded.token, until = excluded.until, lease = excluded.lease`,
    renew: `UPDATE ${reservation} SET until = ?, lease = ? WHERE key = ? AND token = ? RETURNING key`,
    release: `DELETE FROM ${reservation} WHERE key = ? AND token = ?`,
    endReservation: `DELETE FROM ${reservation} WHERE key = ?`,
    endedReservations: `DELETE FROM ${reservation} WHERE until <= ?`,
    // Sums of floating-point numbers, since those of integers could overflow.
    statistics: `SELECT domain, count(*) AS entries, sum(CAST(times_seen AS double precision)) AS "timesSeen",
      sum(CAST(served AS double precision)) AS served, count(*) FILTER (WHERE covered = 0) AS pending,
      coalesce(sum(cost), 0) AS spent, coalesce(sum(cost * served), 0) AS saved,
      count(*) FILTER (WHERE cost IS NULL) AS unpriced, count(*) FILTER (WHERE created <= ?) AS expired
      FROM ${entry} GROUP BY domain`,
  } as const;
}

const MAX = Number.MAX_SAFE_INTEGER;

export type Statements = { readonly [name in keyof ReturnType<typeof statementsOf>]: Statement };

export function prepareStatements(database: Database, dialect: Dialect): Statements {
  const statements = Object.entries(statementsOf(dialect)).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(statements) as Statements;
}

export interface Connection {
  /** The path of the file; `null` if the registry is not in a file. */
  readonly file: string | null;
  /** The name of the file or the schema, for messages. */
  readonly name: string;
  readonly statements: Statements;
  readonly attempt: <T>(step: () => T) => T;
  /** Runs a step with the registry locked for writing. Commits all its changes, or none if it throws. */
  readonly write: <T>(step: () => T) => T;
  /** Returns a value that changes with every commit of another connection; `null` if reading an entry takes no longer. */
  readonly version: (() => unknown) | null;
  readonly notify: NoticeListener;
  readonly isReadOnly: boolean;
  readonly isOpen: () => boolean;
  readonly close: () => void;
}
