/** The store in PostgreSQL, with both drivers. */
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, afterEach, expect, test } from 'vitest';
import { postgresStore } from '../../src/arcp/store/postgres/store.js';
import type { ArcpStore, StoreError } from '../../src/arcp/store/store.js';
import type { PostgresClient } from '../../src/storage/postgres/client.js';
import type { SqlClient, SqlRow } from '../../src/storage/postgres/sql.js';
import { type CuttingOptions, cuttingProxy } from '../helpers/cutting-proxy.js';
import { administer, describePostgres, newSchema, postgresUrl } from '../helpers/postgres.js';
import { certificate, tlsProxy } from '../helpers/tls-proxy.js';
import { describeElsewhere } from './runtime/elsewhere.js';
import { describeStore, event, job, readWhileWriting } from './store-contract.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const CLIENTS: Readonly<Record<string, () => string | PostgresClient>> = {
  'by its URL': () => postgresUrl,
  'with a client of postgres': () => {
    const sql = postgres(postgresUrl, { max: 5, onnotice: () => undefined });
    ending.push(() => sql.end());
    return sql;
  },
  'with a pool of pg': () => {
    const pool = new pg.Pool({ connectionString: postgresUrl, max: 5 });
    ending.push(() => pool.end());
    return pool;
  },
};

function inNewSchema(): string {
  const { schema, drop } = newSchema();
  ending.push(drop);
  return schema;
}

describePostgres('PostgreSQL', () => {
  for (const title of ['by its URL', 'with a pool of pg']) {
    const connection = CLIENTS[title]!;
    const { schema, drop } = newSchema();
    afterAll(drop);
    let isCreated = false;
    /** Replaces the clock of the database. */
    const setNow = async (now: number): Promise<void> => {
      if (!isCreated) return;
      const clock = `FUNCTION "${schema}".arcp_now() RETURNS double precision LANGUAGE sql`;
      await administer(`CREATE OR REPLACE ${clock} AS 'SELECT ${now}::double precision'`);
    };
    describeStore(title, {
      open: async () => {
        const tables = ['event', 'job', 'record', 'session', 'queue', 'writer'].map(
          (table) => `"${schema}".arcp_${table}`,
        );
        // On small tables, this is faster than to truncate them.
        if (isCreated) await administer(tables.map((table) => `DELETE FROM ${table}`).join('; '));
        const store = await postgresStore(connection(), { schema });
        isCreated = true;
        return store;
      },
      openAgain: () => postgresStore(connection(), { schema }),
      setNow,
    });
  }

  describeElsewhere('in one PostgreSQL database', async () => {
    const schema = inNewSchema();
    return () => postgresStore(postgresUrl, { schema });
  });

  /** Opens a store through a proxy. */
  async function throughProxy(options: { readonly timeoutMs?: number } = {}, cuts: Partial<CuttingOptions> = {}) {
    const { port } = new URL(postgresUrl);
    const proxy = await cuttingProxy({ ...cuts, target: Number(port || 5432) });
    const url = new URL(postgresUrl);
    url.port = String(proxy.port);
    const schema = inNewSchema();
    // The deadline is too short for the creation of the schema on a slow machine.
    await (await postgresStore(postgresUrl, { schema })).close();
    const store = await postgresStore(url.href, { schema, ...options });
    ending.push(
      () => proxy.close(),
      () => store.close(),
    );
    return { proxy, store, schema };
  }

  /**
   * Makes commits, whose connection is cut at some byte of the request, of the execution or of the answer; some of them are always cut in the
   * answer.
   *
   * @returns their results
   */
  async function commitThroughCuts(rounds: number, sabotage = async (_schema: string): Promise<void> => {}) {
    const cut = (data: string): number => data.indexOf('"positions"');
    const { proxy, store, schema } = await throughProxy({}, { cut, times: 3 });
    await sabotage(schema);
    const results: unknown[] = [];
    for (let round = 0; round < rounds; round++) {
      proxy.cutAfter(90 * round);
      const id = `event-${round}`;
      const record = { scope: 'once', key: id, value: 'v', expect: 0 };
      results.push(await store.commit({ events: [event({ id })], records: [record], newJobs: [job({ jobId: id })] }));
    }
    return { results, schema, connections: proxy.connections() };
  }

  /** Changes a function of a store. */
  async function change(schema: string, name: string, ...edits: readonly (readonly [RegExp, string])[]): Promise<void> {
    const client = new pg.Client(postgresUrl);
    await client.connect();
    try {
      const { rows } = await client.query(`SELECT pg_get_functiondef('"${schema}".${name}'::regproc) AS text`);
      let { text } = rows[0] as { readonly text: string };
      for (const [pattern, replacement] of edits) {
        expect(text).toMatch(pattern);
        text = text.replace(pattern, replacement);
      }
      await client.query(text);
    } finally {
      await client.end();
    }
  }

  test('a commit whose answer is lost is applied once, and its result is known', async () => {
    const { results, schema, connections } = await commitThroughCuts(20);
    const direct = await postgresStore(postgresUrl, { schema });
    ending.push(() => direct.close());
    expect(results).toEqual(Array(20).fill({ outcome: 'done', positions: [expect.anything()] }));
    expect(await direct.listRecords('once', { limit: 99 })).toHaveLength(20);
    expect(await direct.readEvents({ sessionId: 's', limit: 99 })).toHaveLength(20);
    expect(connections).toBeGreaterThan(10);
  });

  test('without the number of the group, a commit whose answer is lost is applied twice', async () => {
    const { results } = await commitThroughCuts(20, (schema) =>
      change(schema, 'arcp_commit', [/IF v_last\.number >= v_number THEN/, 'IF false THEN']),
    );
    expect(results).toContainEqual(expect.objectContaining({ outcome: 'conflict' }));
  });

  test('with numbers of a sequence only, a reader misses events', async () => {
    for (let round = 0; round < 20; round++) {
      const schema = inNewSchema();
      const [reader, ...writers] = await Promise.all(
        Array.from({ length: 7 }, () => postgresStore(postgresUrl, { schema })),
      );
      ending.push(() => Promise.all([reader!, ...writers].map((store) => store.close())));
      await change(schema, 'arcp_commit', [/ORDER BY session_id FOR UPDATE/, ''], [/ORDER BY job_id FOR UPDATE/, '']);
      await change(schema, 'arcp_apply', [/UPDATE \S+\.arcp_session [\s\S]*?;/g, 'NULL;']);
      const read = await readWhileWriting(reader!, writers, { sessionId: 's', limit: 9 }, () => 's');
      if (read.length < 6 * 50) return;
    }
    expect.unreachable();
  });

  test('after the loss of all connections, calls fail or succeed, and later ones succeed', async () => {
    const schema = inNewSchema();
    const store = await postgresStore(postgresUrl, { schema });
    ending.push(() => store.close());
    const changes: unknown[] = [];
    store.watch((change) => changes.push(change));
    await expect.poll(() => changes.length).toBeGreaterThan(0);
    const committed: string[] = [];
    const writing = (async () => {
      for (let n = 0; n < 60; n++) {
        const id = `event-${n}`;
        await store.commit({ events: [event({ id })] });
        committed.push(id);
      }
    })();
    for (let n = 0; n < 3; n++) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      await administer(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
           AND (query LIKE '%${schema}%' OR query ILIKE 'listen%')`,
      );
    }
    await writing;
    const stored = await store.readEvents({ sessionId: 's', limit: 99 });
    expect(stored.map(({ id }) => id)).toEqual(committed);
    // The listening connection is replaced, too.
    const other = await postgresStore(postgresUrl, { schema });
    ending.push(() => other.close());
    await expect
      .poll(
        async () => {
          changes.length = 0;
          await other.commit({ events: [event()] });
          await new Promise((resolve) => setTimeout(resolve, 100));
          return changes.length;
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(0);
  });

  test('a network that is silent fails calls at their deadline; afterwards they succeed', async () => {
    const { proxy, store } = await throughProxy({ timeoutMs: 1000 });
    proxy.freeze();
    await expect(store.readJob('j')).rejects.toMatchObject({ reason: 'unavailable' });
    const claim = { worker: 'w', queues: ['default'], leaseMs: 1000, limit: 1 };
    await expect(store.claimJobs(claim)).rejects.toMatchObject({ reason: 'unavailable' });
    const pending = store.commit({ events: [event({ id: 'late' })] });
    proxy.thaw();
    await expect.poll(() => store.readJob('j').catch(() => 'failed'), { timeout: 10_000 }).toBeUndefined();
    expect(await pending).toMatchObject({ outcome: 'done' });
    expect(await store.findEvent('late')).toMatchObject({ id: 'late' });
  });

  test('after a deadline, notices come again', async () => {
    const { proxy, store, schema } = await throughProxy({ timeoutMs: 1000 });
    const changes: unknown[] = [];
    store.watch((change) => changes.push(change));
    await expect.poll(() => changes.length).toBeGreaterThan(0);
    proxy.freeze();
    const claim = { worker: 'w', queues: ['default'], leaseMs: 1000, limit: 1 };
    await expect(store.claimJobs(claim)).rejects.toMatchObject({ reason: 'unavailable' });
    proxy.thaw();
    const other = await postgresStore(postgresUrl, { schema });
    ending.push(() => other.close());
    const heard = async () => {
      await other.commit({ events: [event({ sessionId: 'again' })] });
      return changes;
    };
    await expect
      .poll(heard, { timeout: 10_000 })
      .toContainEqual({ sessions: [{ sessionId: 'again', last: expect.any(Number) }] });
  });

  test.each(Object.entries(CLIENTS))('notices come in a schema of any name, %s', async (_, connection) => {
    const { drop, schema } = newSchema(`Größe "x" ${'ä'.repeat(12)}`);
    ending.push(drop);
    const stores = [await postgresStore(connection(), { schema }), await postgresStore(connection(), { schema })];
    ending.push(() => Promise.all(stores.map((store) => store.close())));
    const changes: unknown[] = [];
    stores[0]!.watch((change) => changes.push(change));
    await expect.poll(() => changes.length).toBeGreaterThan(0);
    await stores[1]!.commit({ events: [event({ sessionId: 'here' })] });
    await expect.poll(() => changes).toContainEqual({ sessions: [{ sessionId: 'here', last: expect.any(Number) }] });
  });

  test('a commit that the role may not make is refused at once', async () => {
    const schema = inNewSchema();
    await (await postgresStore(postgresUrl, { schema })).close();
    const role = `role_${schema}`;
    await administer(
      `CREATE ROLE "${role}" LOGIN`,
      `GRANT USAGE ON SCHEMA "${schema}" TO "${role}"`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA "${schema}" TO "${role}"`,
    );
    ending.push(() => administer(`DROP OWNED BY "${role}"`, `DROP ROLE "${role}"`));
    const url = new URL(postgresUrl);
    url.username = role;
    const store = await postgresStore(url.href, { schema });
    ending.push(() => store.close());
    await expect(store.commit({ events: [event()] })).rejects.toMatchObject({ reason: 'unavailable' });
    expect(await store.readEvents({ limit: 9 })).toEqual([]);
  });

  test('a commit that expects a record twice ends', async () => {
    const schema = inNewSchema();
    const store = await postgresStore(postgresUrl, { schema });
    ending.push(() => store.close());
    const record = { scope: 's', key: 'k', value: 'v', expect: 0 };
    await expect(store.commit({ records: [record, record] })).rejects.toMatchObject({ reason: 'failed' });
    expect(await store.commit({ records: [record] })).toMatchObject({ outcome: 'done' });
  });

  test('a commit that the database cannot store fails alone', async () => {
    const schema = inNewSchema();
    const store = await postgresStore(postgresUrl, { schema });
    ending.push(() => store.close());
    // An entry of an index has at most 2704 bytes, after compression.
    const long = Array.from({ length: 1500 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7919) % 20_000))).join('');
    const commits = [
      store.commit({ events: [event({ id: 'before' })] }),
      store.commit({ events: [event({ id: 'bad', sessionId: long })] }),
      store.commit({ records: [{ scope: 'bad', key: long, value: 'v' }] }),
      store.commit({ events: [event({ id: 'after' })] }),
    ];
    const done = { status: 'fulfilled', value: { outcome: 'done' } };
    const failed = { status: 'rejected', reason: { reason: 'failed' } };
    expect(await Promise.allSettled(commits)).toMatchObject([done, failed, failed, done]);
    expect(await store.readEvents({ limit: 9 })).toMatchObject([{ id: 'before' }, { id: 'after' }]);
  });

  test('the last number of a session is known after a commit that the removal of the session waited for', async () => {
    const schema = inNewSchema();
    const store = await postgresStore(postgresUrl, { schema });
    const [client, observer] = [new pg.Client(postgresUrl), new pg.Client(postgresUrl)];
    await Promise.all([client.connect(), observer.connect()]);
    ending.push(
      () => Promise.all([client.end(), observer.end()]),
      () => store.close(),
    );
    // There is a row of the session, but no event.
    await store.commit({ events: [event()] });
    await administer(`DELETE FROM "${schema}".arcp_event`);
    await client.query('BEGIN');
    const commits = JSON.stringify([{ events: [event({ id: 'last' })] }]);
    await client.query(`SELECT "${schema}".arcp_commit('other', 1, false, '{s}', '{}', '{}', '{}', $1)`, [commits]);
    const trimming = store.trim({ sessionId: 's' });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"${schema}".arcp_forget%'`;
    await expect.poll(async () => (await observer.query(waiting)).rowCount).toBe(1);
    await client.query('COMMIT');
    await trimming;
    const { sequence } = (await store.findEvent('last'))!;
    expect(await store.lastSequences(['s'])).toEqual([sequence]);
  });

  test.each([
    ['57014', 'cancelled'],
    ['53200', 'out of memory'],
    ['57P01', 'ended'],
  ])('after a lost answer, the outcome is not guessed from the failure %s: %s', async (code) => {
    const schema = inNewSchema();
    const pool = new pg.Pool({ connectionString: postgresUrl });
    ending.push(() => pool.end());
    const failures = ['ECONNRESET', code, code];
    const client: SqlClient = {
      query: async (text, values = []) => {
        const failure = text.includes('arcp_commit($1') ? failures.shift() : undefined;
        const isExecuted = failure === undefined || failure === 'ECONNRESET';
        const rows = isExecuted ? (await pool.query(text, [...values])).rows : [];
        if (failure !== undefined) throw Object.assign(new Error('It failed'), { code: failure });
        return rows as readonly SqlRow[];
      },
      listen: async () => async () => undefined,
      close: async () => undefined,
    };
    const store = await postgresStore(client, { schema });
    ending.push(() => store.close());
    expect(await store.commit({ events: [event()] })).toMatchObject({ outcome: 'done' });
  });

  test('each connection counts waiting jobs in a slot of its own', async () => {
    const schema = inNewSchema();
    const stores = await Promise.all(Array.from({ length: 3 }, () => postgresStore(postgresUrl, { schema })));
    ending.push(() => Promise.all(stores.map((store) => store.close())));
    // With common slots, groups with two queues in different orders wait for each other.
    const add = async (store: ArcpStore, queues: readonly string[]): Promise<void> => {
      for (let n = 0; n < 20; n++)
        await Promise.all(queues.map((queue) => store.commit({ newJobs: [job({ queue, sessionId: `${n}` })] })));
    };
    await Promise.all(stores.map((store, n) => add(store, n % 2 === 0 ? ['q1', 'q2'] : ['q2', 'q1'])));
    expect(await stores[0]!.countQueued('q1', 999)).toBe(60);
    const client = new pg.Client(postgresUrl);
    await client.connect();
    ending.push(() => client.end());
    const { rows } = await client.query(`SELECT slot FROM "${schema}".arcp_queue WHERE queue = 'q1'`);
    expect(rows.length).toBeGreaterThanOrEqual(3);
  });

  test('the functions of version 1 are replaced', async () => {
    const schema = inNewSchema();
    await (await postgresStore(postgresUrl, { schema })).close();
    const triggers = ['new', 'changed', 'removed'].map(
      (name) => `DROP TRIGGER arcp_count_${name} ON "${schema}".arcp_job`,
    );
    await administer(`${triggers.join('; ')}; DROP FUNCTION "${schema}".arcp_commit, "${schema}".arcp_claim;
      CREATE FUNCTION "${schema}".arcp_commit(text, bigint, jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
      CREATE TRIGGER arcp_count AFTER INSERT ON "${schema}".arcp_job FOR EACH ROW EXECUTE FUNCTION "${schema}".arcp_count();
      UPDATE "${schema}".pegwire_format SET version = 1`);
    const store = await postgresStore(postgresUrl, { schema });
    ending.push(() => store.close());
    expect(await store.commit({ newJobs: [job({})] })).toMatchObject({ outcome: 'done' });
    expect(await store.countQueued(job({}).queue, 9)).toBe(1);
  });

  test('text of any kind is kept', async () => {
    const schema = inNewSchema();
    const store: ArcpStore = await postgresStore(postgresUrl, { schema });
    ending.push(() => store.close());
    for (const text of ['\0', 'a\0b\u0001c', '\ud800', 'x\udc00y', '😀', '\u00010000', "'; DROP TABLE x; --"]) {
      const record = { scope: text, key: text, value: text, owner: text, expect: 0 };
      await store.commit({ records: [record], newJobs: [job({ jobId: text, spec: text, queue: text })] });
      const found = { scope: text, key: text, value: text, version: 1, owner: text };
      expect(await store.readRecord(text, text)).toEqual(found);
      expect(await store.commit({ records: [record] })).toEqual({ outcome: 'conflict', scope: text, key: text, found });
      expect(await store.readJob(text)).toMatchObject({ jobId: text, spec: text, queue: text });
      expect(await store.listRecords(text, { limit: 9 })).toEqual([found]);
    }
  });

  test('connections are encrypted as the URL or the options say, and certificates are verified', async () => {
    const { hostname: host, port } = new URL(postgresUrl);
    const proxy = await tlsProxy({ host, port: Number(port || 5432) });
    ending.push(async () => proxy.close());
    const schema = inNewSchema();
    const url = new URL(postgresUrl);
    url.port = String(proxy.port);
    const opened = async (search: string, tls?: boolean | object, timeoutMs?: number): Promise<unknown> => {
      url.search = search;
      try {
        await (await postgresStore(url.href, { schema, tls, timeoutMs })).close();
        return 'opened';
      } catch (error) {
        return (error as StoreError).reason;
      }
    };
    expect(await opened('', { ca: certificate })).toBe('opened');
    expect(await opened('?sslmode=require')).toBe('opened');
    const before = proxy.encrypted();
    expect(before).toBeGreaterThan(1);
    // The certificate has no known issuer.
    expect(await opened('', true)).toBe('unavailable');
    expect(await opened('?sslmode=verify-full')).toBe('unavailable');
    // The proxy does not answer.
    expect(await opened('', undefined, 500)).toBe('unavailable');
    expect(proxy.encrypted()).toBe(before);
  });

  test('several processes can create the schema at the same time', async () => {
    const schema = inNewSchema();
    const stores = await Promise.all(Array.from({ length: 5 }, () => postgresStore(postgresUrl, { schema })));
    await Promise.all(stores.map((store) => store.close()));
    expect(stores).toHaveLength(5);
  });

  test('data of a later version, or of another program, are refused', async () => {
    const later = inNewSchema();
    await (await postgresStore(postgresUrl, { schema: later })).close();
    await administer(`UPDATE "${later}".pegwire_format SET version = 999`);
    await expect(postgresStore(postgresUrl, { schema: later })).rejects.toMatchObject({ reason: 'newer' });
    const foreign = inNewSchema();
    await administer(`CREATE SCHEMA "${foreign}"`, `CREATE TABLE "${foreign}".arcp_event (x integer)`);
    await expect(postgresStore(postgresUrl, { schema: foreign })).rejects.toMatchObject({ reason: 'foreign' });
  });

  test('a database that cannot be reached gives an error without the password', async () => {
    const opening = postgresStore('postgres://someone:secret@127.0.0.1:1/nothing');
    await expect(opening).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(opening).rejects.not.toThrow(/secret/);
    await expect(postgresStore('mysql://user:secret@host/db')).rejects.toThrow(TypeError);
    await expect(postgresStore('mysql://user:secret@host/db')).rejects.not.toThrow(/secret/);
    for (const schema of ['', 'ä'.repeat(32), "x' || pg_sleep(9) || '", 'a$apply$', 'what?'])
      await expect(postgresStore(postgresUrl, { schema })).rejects.toThrow(/schema must be/);
    await expect(postgresStore(postgresUrl, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs must be/);
    await expect(postgresStore(postgresUrl, { maxConnections: 0 })).rejects.toThrow(/maxConnections must be/);
  });
});
