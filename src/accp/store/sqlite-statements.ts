import type { Database, Statement } from '../../storage/database.js';

const SQL = {
  /** Creates or takes over the endpoint. */
  claim: `INSERT INTO endpoint (session, agent, generation) VALUES (?, ?, 1)
    ON CONFLICT (session, agent) DO UPDATE SET generation = generation + 1
    RETURNING id, generation`,
  generation: 'SELECT generation FROM endpoint WHERE id = ?',
  knows: `SELECT EXISTS (SELECT 1 FROM entry JOIN endpoint ON endpoint.id = entry.endpoint WHERE endpoint.session = ?1)
    OR EXISTS (SELECT 1 FROM cold WHERE session = ?1) AS known`,
  entries: 'SELECT collection, key, value FROM entry WHERE endpoint = ? ORDER BY id',
  set: `INSERT INTO entry (endpoint, collection, key, value) VALUES (?, ?, ?, ?)
    ON CONFLICT (endpoint, collection, key) DO UPDATE SET value = excluded.value`,
  remove: 'DELETE FROM entry WHERE endpoint = ? AND collection = ? AND key = ?',
  setCold: `INSERT INTO cold (session, key, value, expires) VALUES (?, ?, ?, ?)
    ON CONFLICT (session, key) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
  /** Until the value is set, the number of the endpoint holds its place. */
  reserveCold: `INSERT INTO cold (session, key, value, expires) VALUES (?, ?, ?, 0)
    ON CONFLICT (session, key) DO UPDATE SET expires = 0 WHERE expires IS 0 AND value = excluded.value RETURNING key`,
  readCold: 'SELECT value, expires FROM cold WHERE session = ? AND key = ?',
  sessionsWithCold: 'SELECT session FROM cold WHERE key = ? AND expires IS NOT 0 ORDER BY session',
  emptyCold: `UPDATE cold SET value = 'null' WHERE expires <= ? AND expires <> 0 AND value <> 'null' RETURNING id`,
  removeCold: 'DELETE FROM cold WHERE expires <= ?',
} as const;

export type Statements = { readonly [name in keyof typeof SQL]: Statement };

export function prepareStatements(database: Database): Statements {
  const statements = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(statements) as Statements;
}
