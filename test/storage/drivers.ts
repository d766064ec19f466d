/** The drivers under test. */
import process from 'node:process';
import { DatabaseSync } from '@photostructure/sqlite';
import Libsql from 'libsql';
import { betterSqlite3, nodeSqlite } from '../../src/storage/adapters.js';
import type { Driver } from '../../src/storage/database.js';

export const DRIVERS: readonly (readonly [name: string, driver: Driver | undefined])[] = [
  [`the driver of Node ${process.versions.node}`, undefined],
  ['@photostructure/sqlite', nodeSqlite(DatabaseSync)],
  ['libsql, with the interface of better-sqlite3', betterSqlite3(Libsql)],
];
