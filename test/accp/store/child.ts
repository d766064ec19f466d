/**
 * A process that commits and prints the number of each commit after it has returned: `child.ts FILE SESSION AGENT [COUNT]`.
 * FILE is a SQLite file or `postgres://...#SCHEMA`. It continues with the stored data, and ends after COUNT commits, or with exit code 3 if the endpoint is claimed by another owner.
 */
import process from 'node:process';
import { postgresStore } from '../../../src/accp/store/postgres.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { StoreError } from '../../../src/accp/store/store.js';
import { tell } from '../../helpers/tell.js';
import { commitOf, lastOf } from './history.js';

const [file, session, agent, count = 'Infinity'] = process.argv.slice(2);
const [url = '', schema] = file!.split('#');
const store = url.startsWith('postgres:')
  ? await postgresStore(url, { schema, timeoutMs: 60_000 })
  : await sqliteStore(file!);
const endpoint = store.claim(session!, agent!);
let last = lastOf(endpoint);
tell('claimed');
try {
  for (let done = 0; done < Number(count); done++) {
    last++;
    const { changes, cold } = commitOf(last, agent!);
    endpoint.commit(changes, cold);
    tell(`${last}`);
  }
} catch (thrown) {
  if (!(thrown instanceof StoreError) || thrown.reason !== 'taken') throw thrown;
  process.exitCode = 3;
}
