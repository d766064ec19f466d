/** The SQLite driver of the platform: Node's own, else the package with the same interface. */
import process from 'node:process';
import { StoreError } from '../text/store-error.js';
import { type NodeSqliteConstructor, nodeSqlite } from './adapters.js';
import type { Driver } from './database.js';

interface SqliteModule {
  readonly DatabaseSync: NodeSqliteConstructor;
}

export async function platformDriver(file = 'The database'): Promise<Driver> {
  const { DatabaseSync } = builtIn() ?? (await installed(file));
  return nodeSqlite(DatabaseSync);
}

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

/** Node's own module, from 22.15. Before, it lacks iteration over rows, or addresses of immutable files. */
function builtIn(): SqliteModule | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 15)) return undefined;
  return withoutExperimentalWarning(() => process.getBuiltinModule('node:sqlite') as SqliteModule | undefined);
}

/** Suppresses the ExperimentalWarning of some Node versions, which users cannot act upon. */
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
