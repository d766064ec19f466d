import process from 'node:process';
import pg from 'pg';

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
