/** Fails the run in CI if a server that tests need does not answer, since they would be skipped. */
import process from 'node:process';
import { administer } from './postgres-server.js';

export default async function requireServers(): Promise<void> {
  if (process.env['CI'] === undefined) return;
  await administer().catch((cause: unknown) => {
    throw new Error('PostgreSQL does not answer; set PEGWIRE_TEST_POSTGRES to its URL', { cause });
  });
}
