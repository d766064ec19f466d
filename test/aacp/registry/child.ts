/**
 * A process that works on a registry, a file or `postgres://...#SCHEMA`, and prints each result after the work is done:
 * - `child.ts FILE put NAME [COUNT]`: puts entries NAME-1, NAME-2, ...; prints the key of each.
 * - `child.ts FILE read KEY COUNT`: looks an entry up and counts the hit; prints how often it was found.
 * - `child.ts FILE reserve COUNT`: reserves the same keys as its siblings; prints the numbers of those that were granted.
 */
import process from 'node:process';
import { postgresRegistry } from '../../../src/aacp/registry/postgres.js';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { tell } from '../../helpers/tell.js';
import { sample } from './sample.js';

const [file, job, ...rest] = process.argv.slice(2);
const [url = '', schema] = file!.split('#');
const registry = url.startsWith('postgres:')
  ? await postgresRegistry(url, { schema, timeoutMs: 60_000 })
  : await sqliteRegistry(file!, { busyTimeoutMs: 30_000 });
tell('open');

if (job === 'put') {
  const [name, count = 'Infinity'] = rest;
  for (let number = 1; number <= Number(count); number++) {
    const { key } = registry.put(sample(`${name}-${number}`));
    registry.markSeen(key);
    tell(key);
  }
} else if (job === 'read') {
  const [key, count] = rest;
  let found = 0;
  for (let number = 0; number < Number(count); number++) {
    if (registry.get(key!) === undefined) continue;
    found++;
    registry.markSeen(key!);
  }
  tell(`${found}`);
} else {
  for (let number = 0; number < Number(rest[0]); number++) {
    if (registry.reserve(sample(number).key, 60_000).kind === 'granted') tell(`${number}`);
  }
}
registry.close();
