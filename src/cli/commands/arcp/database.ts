import { type ArcpStore, sqliteStore } from '../../../arcp/runtime/index.js';
import { isPostgres } from '../../io/databases.js';
import { storeFault } from '../../io/errors.js';

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
