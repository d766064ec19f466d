/** ACCP sessions and AACP registries in PostgreSQL: several processes, killed processes, and lost connections. */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { postgresRegistry } from '../../src/aacp/registry/postgres.js';
import { postgresStore } from '../../src/accp/store/postgres.js';
import { entriesAfter, lastOf } from '../accp/store/history.js';
import { bundledProgram } from '../helpers/bundled-program.js';
import { ended, start } from '../helpers/child.js';
import { cuttingProxy } from '../helpers/cutting-proxy.js';
import { administer, describePostgres, newSchema, postgresUrl } from '../helpers/postgres.js';

const accp = bundledProgram(new URL('../accp/store/child.ts', import.meta.url));
const aacp = bundledProgram(new URL('../aacp/registry/child.ts', import.meta.url));
const committer = bundledProgram(new URL('sync-child.ts', import.meta.url));

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function inNewSchema(): string {
  const { schema, drop } = newSchema();
  ending.push(drop);
  return schema;
}

/** Runs a program, and returns its exit code and its lines. */
async function working(args: readonly string[], onLine: (line: string, kill: () => void) => void = () => {}) {
  const child = start([process.execPath, ...args], { stdin: '' });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    onLine(line, () => void child.kill('SIGKILL'));
  });
  const { code, stderr } = await ended(child);
  return { code, stderr, lines };
}

async function openStore(schema: string) {
  const store = await postgresStore(postgresUrl, { schema });
  ending.push(() => store.close());
  return store;
}

async function openRegistry(schema: string) {
  const registry = await postgresRegistry(postgresUrl, { schema });
  ending.push(() => registry.close());
  return registry;
}

/** Starts a proxy to the server, and returns it and its URL. */
async function proxied(bytes?: () => number) {
  const url = new URL(postgresUrl);
  const proxy = await cuttingProxy({ target: Number(url.port || 5432), bytes });
  ending.push(() => proxy.close());
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}

describePostgres('several processes', () => {
  test('create the schema at once, and commit to one session; none has to close its store to end', async () => {
    const place = `${postgresUrl}#${inNewSchema()}`;
    const agents = ['a', 'b', 'c'];
    const children = await Promise.all(agents.map((agent) => working([accp(), place, 's', agent, '40'])));
    for (const { code, stderr, lines } of children) expect([code, stderr, lines.at(-1)]).toEqual([0, '', '40']);
    const store = await openStore(place.split('#')[1]!);
    for (const agent of agents) expect([...store.claim('s', agent).entries()]).toEqual(entriesAfter(40, agent));
  });

  test('one that claims an endpoint stops the previous owner', async () => {
    const schema = inNewSchema();
    const store = await openStore(schema);
    let taken: number | undefined;
    const { code, lines } = await working([accp(), `${postgresUrl}#${schema}`, 's', 'a'], (line) => {
      if (line === '20') taken = lastOf(store.claim('s', 'a'));
    });
    expect(code).toBe(3);
    expect(lines.at(-1)).toBe(`${taken}`);
  });

  test('keep all entries and counts of a registry, and get each reservation once', async () => {
    const schema = inNewSchema();
    const place = `${postgresUrl}#${schema}`;
    const names = ['one', 'two', 'three'];
    const children = await Promise.all([
      ...names.map((name) => working([aacp(), place, 'put', name, '20'])),
      ...names.map(() => working([aacp(), place, 'reserve', '30'])),
    ]);
    for (const { code, stderr } of children) expect([code, stderr]).toEqual([0, '']);
    const registry = await openRegistry(schema);
    expect(registry.statistics()).toMatchObject({ entries: 60, timesSeen: 120, served: 60 });
    const granted = children.slice(3).flatMap(({ lines }) => lines.filter((line) => line !== 'open').map(Number));
    expect(granted.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, number) => number));
  });

  test('one that is killed loses no finished commit, and leaves no partial one and no lock', async () => {
    const schema = inNewSchema();
    const { code, lines } = await working([accp(), `${postgresUrl}#${schema}`, 's', 'a'], (line, kill) => {
      if (line === '25') kill();
    });
    expect(code).not.toBe(0);
    const endpoint = (await openStore(schema)).claim('s', 'a');
    const last = lastOf(endpoint);
    expect([0, 1]).toContain(last - Number(lines.at(-1)));
    expect([...endpoint.entries()]).toEqual(entriesAfter(last, 'a'));
  });
});

describePostgres('a connection', () => {
  test('that is lost anywhere, also during a commit, changes no outcome: all is stored once', async () => {
    const schema = inNewSchema();
    let cut = 0;
    // Past the handshake, at a place that moves on by some bytes.
    const { proxy, url } = await proxied(() => 6000 + ((cut++ * 37) % 2500));
    const place = `${url}#${schema}`;
    const children = await Promise.all([
      working([accp(), place, 's', 'a', '120']),
      working([aacp(), place, 'put', 'name', '60']),
    ]);
    for (const { code, stderr } of children) expect([code, stderr]).toEqual([0, '']);
    expect(proxy.connections()).toBeGreaterThan(20);
    expect([...(await openStore(schema)).claim('s', 'a').entries()]).toEqual(entriesAfter(120, 'a'));
    const registry = await openRegistry(schema);
    expect(registry.statistics()).toMatchObject({ entries: 60, timesSeen: 120, served: 60 });
  });

  test('that is silent fails a call at its deadline, and a later call succeeds', async () => {
    const schema = inNewSchema();
    const { proxy, url } = await proxied();
    const child = start([process.execPath, committer(), url, schema, '1500']);
    // It may end before it is awaited.
    const end = ended(child);
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const said = (line: string) => expect.poll(() => lines.at(-1), { timeout: 30_000 }).toMatch(line);
    await said('ready');
    proxy.freeze();
    child.stdin.write('1\n');
    await said('store-unavailable');
    proxy.thaw();
    child.stdin.end('2\n');
    await said('ok');
    expect((await end).code).toBe(0);
    const [entry] = (await openStore(schema)).claim('s', 'a').entries();
    expect(entry).toMatchObject({ value: '2' });
  });

  test('that the server ends while it is idle is replaced', async () => {
    const store = await openStore(inNewSchema());
    const endpoint = store.claim('s', 'a');
    await administer(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pegwire' AND pid <> pg_backend_pid()`,
    );
    endpoint.commit([{ collection: 'c', key: 'k', value: '1' }]);
    expect([...endpoint.entries()]).toHaveLength(1);
  });
});

describePostgres('options', () => {
  test('that are invalid are TypeErrors, which do not show the password', async () => {
    await expect(postgresStore('mysql://u:secret@host')).rejects.toThrow(TypeError);
    await expect(postgresStore('mysql://u:secret@host')).rejects.not.toThrow('secret');
    await expect(postgresStore(postgresUrl, { timeoutMs: 0 })).rejects.toThrow(TypeError);
    await expect(postgresRegistry(postgresUrl, { schema: '' })).rejects.toThrow(TypeError);
    await expect(postgresRegistry(postgresUrl, { driver: 'mysql' as never })).rejects.toThrow(TypeError);
  });

  test('a server that does not listen is an error with a stable code', async () => {
    const { proxy, url } = await proxied();
    await proxy.close();
    await expect(postgresStore(url)).rejects.toMatchObject({ code: 'store-unavailable' });
  });
});
