/** The drivers that the tests run with. */
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import Libsql from 'libsql';
import { betterSqlite3, nodeSqlite } from '../../src/storage/adapters.js';
import type { Driver } from '../../src/storage/database.js';

export const DRIVERS: readonly (readonly [name: string, driver: Driver | undefined])[] = [
  [`the one of Node ${process.versions.node}`, undefined],
  ['@photostructure/sqlite', nodeSqlite(DatabaseSync)],
  ['libsql, by the interface of better-sqlite3', betterSqlite3(Libsql)],
];
