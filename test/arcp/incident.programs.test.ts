/** The incident of the specification with its agents in two runtimes on one store, SQLite or PostgreSQL, one of which is killed (the guide for three machines). */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, test } from 'vitest';
import { checkLog, type Envelope } from '../../src/arcp/index.js';
import { type ArcpStore, sqliteStore } from '../../src/arcp/runtime/index.js';
import { postgresStore } from '../../src/arcp/store/postgres/index.js';
import { bundledProgram } from '../helpers/bundled-program.js';
import { ended, start } from '../helpers/child.js';
import { describePostgres, newDatabase } from '../helpers/postgres.js';

const program = bundledProgram(new URL('../examples/arcp-cluster/main.mjs', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-incident-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GUIDE = readFileSync('test/examples/arcp-cluster/README.md', 'utf8');

function describeIncident(name: string, open: () => Promise<{ readonly database: string; readonly store: ArcpStore }>) {
  describe(`an incident on ${name}`, () => {
    test('is resolved once, although the runtime of its coordinator is killed', async () => {
      const { database, store } = await open();
      const { code, stdout, stderr } = await ended(start([process.execPath, program(), database], { stdin: '' }));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const [, shown] = /^```text\n([\s\S]*?)^```$/m.exec(GUIDE)!;
      expect(stdout).toBe(shown);
      const events = await store.readEvents({ limit: Number.POSITIVE_INFINITY });
      const jobs = await store.listJobs({ limit: 99 });
      await store.close();
      const log = events.map(({ body }) => JSON.parse(body) as Envelope);
      expect(checkLog(log, { isComplete: true })).toEqual([]);
      // The coordinator, which became on-call, and two children.
      expect(jobs.map(({ state, attempt }) => [state, attempt])).toEqual([
        ['completed', 3],
        ['completed', 1],
        ['completed', 1],
      ]);
      expect(log.filter(({ type }) => type === 'permission.request')).toHaveLength(1);
    });
  });
}

describeIncident('one SQLite file', async () => {
  const database = path.join(folder, 'incident.db');
  return { database, store: await sqliteStore(database) };
});

describePostgres('with PostgreSQL', () => {
  const drops: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(drops.map((drop) => drop())));
  describeIncident('one database', async () => {
    const { url, drop } = await newDatabase();
    drops.push(drop);
    return { database: url, store: await postgresStore(url) };
  });
});
