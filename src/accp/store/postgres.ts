/** The store in a PostgreSQL database, which processes on several machines share. For Node only. */
import { postgresDialect } from '../../storage/dialect.js';
import { quoteSchema } from '../../storage/postgres/client.js';
import { postgresError } from '../../storage/postgres/errors.js';
import type { PostgresFormat } from '../../storage/postgres/migrate.js';
import { commitTable, openSyncDatabase, type SyncPostgresOptions } from '../../storage/postgres/sync.js';
import { type DatabaseStore, storeIn } from './database-store.js';

export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { Change, ColdChange, ColdEntry, EndpointStore, SessionStore } from './store.js';

/** Options of a store in PostgreSQL. */
export type PostgresStoreOptions = SyncPostgresOptions;

/** A store in a PostgreSQL database. */
export type PostgresStore = DatabaseStore;

const FORMAT: PostgresFormat = {
  name: 'ACCP sessions',
  prefix: 'accp',
  migrations: [
    (s) => `
  ${commitTable(s, 'accp')}
  CREATE TABLE ${s}.accp_endpoint (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    -- Rises with every claim; only the latest holder may commit.
    generation bigint NOT NULL,
    UNIQUE (session, agent)
  );
  CREATE TABLE ${s}.accp_entry (
    -- An endpoint commits one transaction after another, so this is the order in which its keys were first set.
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint bigint NOT NULL REFERENCES ${s}.accp_endpoint,
    collection text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    UNIQUE (endpoint, collection, key)
  );
  CREATE TABLE ${s}.accp_cold (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    -- Milliseconds since 1970, 0 for deleted values, or null for never.
    expires_at double precision,
    UNIQUE (session, key)
  );
  CREATE INDEX ON ${s}.accp_cold (key, session);
  CREATE INDEX ON ${s}.accp_cold (expires_at) WHERE expires_at IS NOT NULL;`,
  ],
};

/**
 * Opens or creates a store in a PostgreSQL database (version 12 or later). Commits are durable as the database is configured. Each call blocks
 * the process until the server has answered: one round trip for a read, three for a commit.
 *
 * @param url a URL such as `postgres://user@host/database`; needs the package `postgres` or `pg`
 * @throws StoreError if the database cannot be reached or has data of a later version; `no-driver` if neither package is installed
 * @throws TypeError if an argument is invalid
 * @example
 * const store = await postgresStore('postgres://accp@db.internal/accp');
 * const session = createSession({ agent: 'planner', id: 'sprint14', store });
 */
export async function postgresStore(url: string, options: PostgresStoreOptions = {}): Promise<PostgresStore> {
  const database = await openSyncDatabase(url, { ...options, format: FORMAT });
  return storeIn(database, postgresDialect(quoteSchema(options.schema ?? 'pegwire'), 'accp'), postgresError).store;
}
