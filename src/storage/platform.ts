/** The SQLite driver of this platform: Node's own where it has one, else the package with the same interface. */
import process from 'node:process';
import { StoreError } from '../text/store-error.js';
import { type NodeSqliteConstructor, nodeSqlite } from './adapters.js';
import type { Driver } from './database.js';

interface SqliteModule {
  readonly DatabaseSync: NodeSqliteConstructor;
}

/**
 * Loads the driver; nothing is loaded before it is called.
 *
 * @throws StoreError if there is none; `no-driver` says how to install one
 */
export async function platformDriver(file = 'The database'): Promise<Driver> {
  const { DatabaseSync } = builtIn() ?? (await installed(file));
  return nodeSqlite(DatabaseSync);
}

/** The package of the same interface, an optional peer. */
async function installed(file: string): Promise<SqliteModule> {
  try {
    return (await import('@photostructure/sqlite')) as SqliteModule;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND') throw new StoreError('no-driver', missingDriver(file), { file, cause });
    const message = `${file} cannot be opened: @photostructure/sqlite cannot be loaded: ${(cause as Error).message}`;
    throw new StoreError('unavailable', message, { file, cause });
  }
}

function missingDriver(file: string): string {
  return `${file} cannot be opened: Node ${process.versions.node} has no SQLite driver: npm install @photostructure/sqlite, or use Node 22.15 or later`;
}

/** Node's own module, from Node 22.15 on. Those before lack it, iteration over rows, or the addresses that immutable files need. */
function builtIn(): SqliteModule | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 15)) return undefined;
  return withoutExperimentalWarning(() => process.getBuiltinModule('node:sqlite') as SqliteModule | undefined);
}

/** Some versions of Node warn on stderr that the module is experimental, which no user of a program can act upon. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const emit = process.emitWarning;
  process.emitWarning = (...details: unknown[]) => {
    if (details[1] !== 'ExperimentalWarning') Reflect.apply(emit, process, details);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emit;
  }
}
