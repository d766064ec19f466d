/** The PostgreSQL server of the tests, and schemas of their own. */
import process from 'node:process';
import pg from 'pg';
import { describe } from 'vitest';

const url = process.env['PEGWIRE_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test';
/** The URL of the database, in which tests create and drop schemas. Its commits do not wait for the disk. */
export const postgresUrl = `${url}${url.includes('?') ? '&' : '?'}options=-c%20synchronous_commit%3Doff`;

/** Runs statements on a connection of their own. */
export async function administer(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl, connectionTimeoutMillis: 3000 });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** `true` if the server answers. */
export const hasPostgres = await administer().then(
  () => true,
  (error: unknown) => {
    if (process.env['CI'] !== undefined) throw new Error('PostgreSQL does not answer', { cause: error });
    return false;
  },
);

/** Describes tests that need the server; without it, they are skipped and name it. */
export function describePostgres(title: string, body: () => void): void {
  const hint = hasPostgres ? '' : ' (PostgreSQL does not answer: set PEGWIRE_TEST_POSTGRES to its URL)';
  describe.skipIf(!hasPostgres)(`${title}${hint}`, body);
}

let schemas = 0;

/** Returns the name of a new schema, and a function that drops it. @param suffix the end of the name */
export function newSchema(suffix = ''): { readonly schema: string; readonly drop: () => Promise<void> } {
  const schema = `test_${process.pid}_${++schemas}${suffix}`;
  return { schema, drop: () => administer(`DROP SCHEMA IF EXISTS "${schema.replaceAll('"', '""')}" CASCADE`) };
}

/** Creates a database of its own. Returns its URL, and a function that drops it. */
export async function newDatabase(): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const name = `test_${process.pid}_${++schemas}`;
  await administer(`CREATE DATABASE "${name}"`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(`DROP DATABASE "${name}" WITH (FORCE)`) };
}
