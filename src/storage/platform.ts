/** The default SQLite driver: that of Node, or the package with the same interface. */
import process from 'node:process';
import { StoreError } from '../text/store-error.js';
import { type NodeSqliteConstructor, nodeSqlite } from './adapters.js';
import type { Driver } from './database.js';

interface SqliteModule {
  readonly DatabaseSync: NodeSqliteConstructor;
}

/** Returns the default driver. @throws StoreError `no-driver` if Node has none and `@photostructure/sqlite` is not installed */
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
    const message = `${file} cannot be opened: loading @photostructure/sqlite failed: ${(cause as Error).message}`;
    throw new StoreError('unavailable', message, { file, cause });
  }
}

function missingDriver(file: string): string {
  return `${file} cannot be opened: Node ${process.versions.node} has no SQLite driver; run npm install @photostructure/sqlite, or use Node 22.15 or later`;
}

/** Returns the module of Node 22.15 and later. Earlier versions lack iteration over rows, or URLs of immutable files. */
function builtIn(): SqliteModule | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 15)) return undefined;
  return withoutExperimentalWarning(() => process.getBuiltinModule('node:sqlite') as SqliteModule | undefined);
}

/** Suppresses the ExperimentalWarning of some versions of Node, which users can do nothing about. */
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
