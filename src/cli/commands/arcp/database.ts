import { type ArcpStore, sqliteStore } from '../../../arcp/runtime/index.js';
import { storeFault } from '../../io/errors.js';

/** Returns whether the name of a database is the URL of a PostgreSQL server. */
export function isPostgres(name: string): boolean {
  return /^postgres(ql)?:/.test(name);
}

/** Opens the store of a runtime: a SQLite file or a PostgreSQL database. @throws UsageError if it cannot be opened */
export async function openDatabase(
  name: string,
  options: { readonly allowReadOnly?: boolean } = {},
): Promise<ArcpStore> {
  try {
    if (!isPostgres(name)) return await sqliteStore(name, options);
    const { postgresStore } = await import('../../../arcp/store/postgres/index.js');
    return await postgresStore(name);
  } catch (thrown) {
    throw storeFault(thrown);
  }
}
