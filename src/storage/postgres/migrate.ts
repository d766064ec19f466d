import { StoreError } from '../../text/store-error.js';
import type { SqlClient } from './sql.js';

/** The format of a kind of data in a schema. */
export interface PostgresFormat {
  /** The content, for messages: `ACCP sessions`. */
  readonly name: string;
  /** The prefix of the tables, and the key of the version: `accp`. */
  readonly prefix: string;
  /** Returns the SQL that migrates each version to the next. Released migrations never change. @param schema the quoted name */
  readonly migrations: readonly ((schema: string) => string)[];
}

/** A number that identifies the lock of migrations. */
const LOCK = 0x50_45_47;

/**
 * Migrates a schema to the latest version in one transaction. Several processes can do so at the same time.
 *
 * @param schema the quoted name
 * @throws StoreError `newer` if a later version has written it, `foreign` if it has tables of another program with our names
 */
export async function migrateSchema(
  { query }: Pick<SqlClient, 'query'>,
  schema: string,
  { name, prefix, migrations }: PostgresFormat,
): Promise<void> {
  const known = await versionOf(query, schema, prefix);
  if (known === undefined || known < migrations.length) {
    const steps = migrations.map(
      (sql, version) => `IF v = ${version} THEN\n${sql(schema)}\nv := ${version + 1};\nEND IF;`,
    );
    await query(`DO $migrate$ DECLARE v integer; BEGIN
      PERFORM pg_advisory_xact_lock(${LOCK});
      CREATE SCHEMA IF NOT EXISTS ${schema};
      CREATE TABLE IF NOT EXISTS ${schema}.pegwire_format (name text PRIMARY KEY, version integer NOT NULL);
      SELECT version INTO v FROM ${schema}.pegwire_format WHERE name = '${prefix}';
      v := coalesce(v, 0);
      ${steps.join('\n')}
      INSERT INTO ${schema}.pegwire_format VALUES ('${prefix}', v)
        ON CONFLICT ON CONSTRAINT pegwire_format_pkey DO UPDATE SET version = v;
    END $migrate$`).catch((thrown: unknown) => {
      const { code } = (thrown as { readonly cause?: { readonly code?: unknown } }).cause ?? {};
      if (code !== '42P07') throw thrown;
      throw new StoreError('foreign', `The schema ${schema} has tables of another program named ${prefix}_...`, {
        cause: thrown,
      });
    });
  }
  const version = await versionOf(query, schema, prefix);
  if (version !== undefined && version > migrations.length)
    throw new StoreError(
      'newer',
      `The schema ${schema} was written by a later version of pegwire: the format of ${name} is ${version}, this version supports ${migrations.length}`,
    );
}

async function versionOf(query: SqlClient['query'], schema: string, prefix: string): Promise<number | undefined> {
  const [found] = await query(`SELECT to_regclass($1)::text AS name`, [`${schema}.pegwire_format`]);
  if (found!['name'] === null) return undefined;
  const [row] = await query(`SELECT version FROM ${schema}.pegwire_format WHERE name = $1`, [prefix]);
  return row === undefined ? undefined : (row['version'] as number);
}
