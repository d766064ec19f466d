/** A store of ARCP runtimes in PostgreSQL, which several machines can share. */
export type { PostgresClient, PostgresOptions } from '../../../storage/postgres/client.js';
export type { NodePostgresConnection, NodePostgresPool, PostgresJs } from '../../../storage/postgres/drivers.js';
export type { SqlClient, SqlParameter, SqlRow } from '../../../storage/postgres/sql.js';
export { StoreError, type StoreReason } from '../../../text/store-error.js';
export type { ArcpStore } from '../store.js';
export { type PostgresStoreOptions, postgresStore } from './store.js';
