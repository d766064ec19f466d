/** The PostgreSQL server of the tests, and schemas of their own. */
import process from 'node:process';
import { describe } from 'vitest';
import { administer, postgresUrl } from './postgres-server.js';

export { administer, postgresUrl };

/** `true` if the server answers. */
export const hasPostgres = await administer().then(
  () => true,
  () => false,
);

/** The end of the names of tests that need the server. */
export const postgresHint = hasPostgres
  ? ''
  : ' (skipped: PostgreSQL does not answer; set PEGWIRE_TEST_POSTGRES to its URL)';

/** Describes tests that need the server; without it, they are skipped and name it. */
export function describePostgres(title: string, body: () => void): void {
  describe.skipIf(!hasPostgres)(`${title}${postgresHint}`, body);
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
