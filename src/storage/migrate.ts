import { StoreError } from '../text/store-error.js';
import type { Database } from './database.js';

export interface Format {
  /** Purpose, in messages: `ACCP sessions`. */
  readonly name: string;
  /** Marks files of this kind: a positive integer below 2^31. */
  readonly applicationId: number;
  /** SQL from each version to the next. Released ones never change. */
  readonly migrations: readonly string[];
}

/** Returns the version of a file; 0 if it is empty. Reads only. */
export function versionOf(database: Database, format: Format, file: string): number {
  // Another process may just be making the file, which sets all three at once. In this order, what is read later is never
  // older than what tells a foreign file.
  const objects = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!['n']);
  const version = pragma(database, 'user_version');
  const applicationId = pragma(database, 'application_id');
  if (applicationId === 0 && version === 0 && objects === 0) return 0;
  if (applicationId !== format.applicationId) {
    throw new StoreError('foreign', `${file} is a database of another program, not one of ${format.name}`, { file });
  }
  if (version > format.migrations.length) {
    throw new StoreError(
      'newer',
      `${file} was written by a later version of pegwire (${version}; this one knows ${format.migrations.length})`,
      { file },
    );
  }
  return version;
}

/** Migrates to the latest version in one transaction, even if another process does the same. */
export function migrate(database: Database, format: Format, file: string): void {
  if (versionOf(database, format, file) === format.migrations.length) return;
  database.transaction(() => {
    for (const sql of format.migrations.slice(versionOf(database, format, file))) database.exec(sql);
    database.exec(`PRAGMA application_id = ${format.applicationId}`);
    database.exec(`PRAGMA user_version = ${format.migrations.length}`);
  });
}

function pragma(database: Database, name: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()![name]);
}
