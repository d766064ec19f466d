/** Every statement of the SQLite registry, prepared once. */
import type { Database, Statement } from '../../storage/database.js';
import { MAX_POSTINGS } from './rarity.js';

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
  // Saturates, as the counts in memory do. All at once: most of the time would go into starting statements.
  count: `UPDATE entry SET times_seen = min(times_seen + hit.times, ${Number.MAX_SAFE_INTEGER}),
    served = served + hit.times, last_seen = max(last_seen, hit.last)
    FROM (SELECT value ->> 0 AS key, value ->> 1 AS times, value ->> 2 AS last FROM json_each(?)) AS hit
    WHERE entry.key = hit.key`,
  setCovered: 'UPDATE entry SET covered = ? WHERE key = ?',
  addPostings: 'INSERT OR IGNORE INTO posting (domain, term, entry) SELECT ?, value, ? FROM json_each(?)',
  removePostings: 'DELETE FROM posting WHERE domain = ? AND entry = ? AND term IN (SELECT value FROM json_each(?))',
  /** Reads all postings; for an entry whose terms cannot be read. */
  removeAllPostings: 'DELETE FROM posting WHERE entry = ?',
  // The latest first. One row instead of many: most of the time goes into handing out rows.
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
  statistics: `SELECT domain, count(*) AS entries, total(times_seen) AS times_seen, total(served) AS served,
    sum(covered = 0) AS pending, total(cost) AS spent, total(cost * served) AS saved, sum(cost IS NULL) AS unpriced,
    sum(created <= ?) AS expired FROM entry GROUP BY domain`,
} as const;

export type Statements = { readonly [name in keyof typeof SQL]: Statement };

export function prepareStatements(database: Database): Statements {
  const statements = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(statements) as Statements;
}
