/** The registry in a PostgreSQL database, which processes on several machines share. Node only. */
import { postgresDialect } from '../../storage/dialect.js';
import { quoteSchema } from '../../storage/postgres/client.js';
import { postgresError } from '../../storage/postgres/errors.js';
import type { PostgresFormat } from '../../storage/postgres/migrate.js';
import { commitTable, openSyncDatabase, type SyncPostgresOptions } from '../../storage/postgres/sync.js';
import { StoreError } from '../../text/store-error.js';
import { registryOver } from './database-registry.js';
import { prepareStatements } from './database-rows.js';
import { type NoticeListener, type RegistryOptions, resolveLimits } from './options.js';
import type { Registry } from './registry.js';

export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { NoticeListener, RegistryNotice, RegistryOptions } from './options.js';
export type {
  NewEntry,
  Registry,
  RegistryEntry,
  RegistryRequest,
  RegistryStatistics,
  Reservation,
} from './registry.js';

/** Options of `postgresRegistry`. */
export interface PostgresRegistryOptions extends RegistryOptions, SyncPostgresOptions {
  /** Called with notices about damaged entries, whose `file` is the name of the schema. @default none */
  readonly onNotice?: NoticeListener | undefined;
}

const NAMES = ['schema', 'tls', 'timeoutMs', 'driver', 'onNotice'];

const FORMAT: PostgresFormat = {
  name: 'AACP registries',
  prefix: 'aacp',
  migrations: [
    (s) => `
  ${commitTable(s, 'aacp')}
  CREATE TABLE ${s}.aacp_entry (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE,
    domain text COLLATE "C" NOT NULL,
    -- US dollars; null if unknown.
    cost double precision,
    -- Milliseconds since 1970.
    created bigint NOT NULL,
    last_seen bigint NOT NULL,
    times_seen bigint NOT NULL,
    served bigint NOT NULL,
    -- 1 if a rule covers it.
    covered integer NOT NULL,
    -- The rest, as JSON.
    data text NOT NULL
  );
  CREATE INDEX ON ${s}.aacp_entry (last_seen, number);
  CREATE INDEX ON ${s}.aacp_entry (created);
  CREATE INDEX ON ${s}.aacp_entry (domain, number);
  -- The entries of a domain that have a term.
  CREATE TABLE ${s}.aacp_posting (
    domain text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    entry bigint NOT NULL,
    PRIMARY KEY (domain, term, entry)
  );
  CREATE INDEX ON ${s}.aacp_posting (entry);
  CREATE TABLE ${s}.aacp_reservation (
    key text COLLATE "C" PRIMARY KEY,
    token text NOT NULL,
    until bigint NOT NULL,
    -- The requested duration in milliseconds.
    lease bigint NOT NULL
  );`,
  ],
};

/**
 * Opens or creates a registry in a PostgreSQL database (version 12 or later). Writes of all processes run one after another. Each call blocks the
 * process until the server has answered.
 *
 * @param url a URL such as `postgres://user@host/database`; needs the package `postgres` or `pg`
 * @throws StoreError if the database cannot be reached or has data of a later version; `no-driver` if neither package is installed
 * @throws TypeError if an argument is invalid
 * @example
 * const registry = await postgresRegistry('postgres://aacp@db.internal/aacp');
 * const encoder = createFallbackEncoder({ registry, model });
 */
export async function postgresRegistry(url: string, options: PostgresRegistryOptions = {}): Promise<Registry> {
  const limits = resolveLimits(options, NAMES);
  const { schema = 'pegwire', tls, timeoutMs, driver, onNotice } = options;
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice must be a function');
  const settings = { schema, tls, timeoutMs, driver };
  const database = await openSyncDatabase(url, { ...settings, format: FORMAT, isExclusive: true });
  const statements = prepareStatements(database, postgresDialect(quoteSchema(schema), FORMAT.prefix));
  let isOpen = true;

  function attempt<T>(step: () => T): T {
    if (!isOpen) throw new StoreError('closed', 'The registry is closed.');
    try {
      return step();
    } catch (thrown) {
      // A mistake of the caller, or of its clock.
      if (thrown instanceof TypeError) throw thrown;
      throw postgresError(thrown);
    }
  }

  return registryOver(
    {
      file: null,
      name: schema,
      statements,
      attempt,
      write: (step) => attempt(() => database.transaction(step)),
      version: null,
      notify: (notice) => onNotice?.(notice),
      isReadOnly: false,
      isOpen: () => isOpen,
      close() {
        isOpen = false;
        database.close();
      },
    },
    limits,
  );
}
