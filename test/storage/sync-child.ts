/** A process that commits once for each line of its input, and prints `ok` or the code of the error: `sync-child.ts URL SCHEMA TIMEOUT`. */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { postgresStore } from '../../src/accp/store/postgres.js';
import type { StoreError } from '../../src/text/store-error.js';
import { tell } from '../helpers/tell.js';

const [url, schema, timeoutMs] = process.argv.slice(2);
const store = await postgresStore(url!, { schema, timeoutMs: Number(timeoutMs) });
const endpoint = store.claim('s', 'a');
tell('ready');
for await (const line of createInterface({ input: process.stdin })) {
  try {
    endpoint.commit([{ collection: 'c', key: 'k', value: line }]);
    tell('ok');
  } catch (thrown) {
    tell((thrown as StoreError).code);
  }
}
