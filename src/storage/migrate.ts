import { StoreError } from '../text/store-error.js';
import type { Database } from './database.js';

/** The format of a kind of database file. */
export interface Format {
  /** The content of the files, for messages: `ACCP sessions`. */
  readonly name: string;
  /** The identifier of this kind of file: a positive integer below 2^31. */
  readonly applicationId: number;
  /** The SQL that migrates each version to the next. Released migrations never change. */
  readonly migrations: readonly string[];
}

/** Returns the version of a file, or 0 if it is empty. Does not write. */
export function versionOf(database: Database, format: Format, file: string): number {
  // Another process may be creating the file, which sets all three values at once. In this order, no value is older than the one
  // before it, so that a new file is not mistaken for a foreign one.
  const objects = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!['n']);
  const version = pragma(database, 'user_version');
  const applicationId = pragma(database, 'application_id');
  if (applicationId === 0 && version === 0 && objects === 0) return 0;
  if (applicationId !== format.applicationId) {
    throw new StoreError('foreign', `${file} is a database of another program and does not contain ${format.name}`, {
      file,
    });
  }
  if (version > format.migrations.length) {
    throw new StoreError(
      'newer',
      `${file} was written by a later version of pegwire: its format is ${version}, this version supports ${format.migrations.length}`,
      { file },
    );
  }
  return version;
}

/** Migrates a file to the latest version in one transaction. Several processes can do so at the same time. */
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
