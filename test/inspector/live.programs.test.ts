/** The inspector of running servers, in Chromium and by its requests. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { sqliteRegistry } from '../../src/aacp/registry/sqlite.js';
import { createCodec, createSession } from '../../src/accp/codec/index.js';
import { sqliteStore } from '../../src/accp/store/sqlite.js';
import { connect } from '../../src/arcp/client/index.js';
import { type Ended, ended, start } from '../helpers/child.js';
import { chromium, chromiumHint } from '../helpers/chromium.js';
import { cli, PROGRAM, scratchFolder } from '../helpers/cli.js';
import { builtPage, closePages, openPage, requests } from '../helpers/inspector.js';
import { describePostgres, newDatabase } from '../helpers/postgres.js';

interface Running {
  /** The values of the line of JSON that the program prints. */
  readonly said: Readonly<Record<string, unknown>>;
  readonly stop: () => Promise<Ended>;
}

const programs: Running[] = [];
const folder = scratchFolder();

/** Runs a command that prints its addresses as JSON. */
async function running(...args: readonly string[]): Promise<Running> {
  const child = start([...PROGRAM, ...args, '--json'], {});
  const over = ended(child);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  while (!text.includes('\n')) {
    const isOver = await Promise.race([once(child.stdout, 'data').then(() => false), over.then(() => true)]);
    if (isOver) throw new Error(`The program has ended: ${(await over).stderr}`);
  }
  const program = {
    said: JSON.parse(text) as Readonly<Record<string, unknown>>,
    stop: () => {
      child.kill('SIGTERM');
      return over;
    },
  };
  programs.push(program);
  return program;
}

beforeAll(async () => void (await builtPage()));
afterEach(async () => {
  const errors = await closePages();
  await Promise.all(programs.splice(0).map(({ stop }) => stop()));
  expect(errors).toEqual([]);
});

const tokenOf = (url: unknown): string => decodeURIComponent(String(url).split('#token=')[1]!);

/** Makes a request to an inspector. */
function request(url: unknown, path: string, init: RequestInit & { readonly token?: string } = {}): Promise<Response> {
  const { token = tokenOf(url), headers, ...rest } = init;
  return fetch(new URL(path, String(url)), { ...rest, headers: { authorization: `Bearer ${token}`, ...headers } });
}

/** Reads the feed until a text has come. */
async function feedUntil(
  url: unknown,
  text: string,
): Promise<readonly { text: string; side: string; session: string }[]> {
  const response = await request(url, 'api/feed');
  const found: { text: string; side: string; session: string }[] = [];
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('[')) found.push(...(JSON.parse(line) as typeof found));
    if (found.some((record) => record.text.includes(text))) return found;
  }
  throw new Error(`The feed ended without ${text}`);
}

const send = (url: unknown, body: unknown, init: RequestInit & { readonly token?: string } = {}): Promise<Response> =>
  request(url, 'api/send', {
    ...init,
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...init.headers },
  });

describe.skipIf(chromium === undefined)(`in Chromium${chromiumHint}`, () => {
  test('a tool is called by a form, its permission granted, and its job ends', async () => {
    const runtime = await running('arcp', 'serve', '--ws', '0');
    const [address] = runtime.said['listening'] as string[];
    const inspector = await running('inspect', address!, '--port', '0', '--allow-send');
    const page = await openPage(String(inspector.said['page']));
    const tabs = page.getByRole('tablist', { name: 'Panels' });
    await tabs.getByRole('tab', { name: 'Send' }).click();
    await page.getByRole('combobox', { name: 'Tool', exact: true }).selectOption('refund');
    const order = page.getByLabel('order');
    const button = page.getByRole('button', { name: 'Send', exact: true });
    await button.click();
    const error = async () => page.locator(`[id="${await order.getAttribute('aria-describedby')}"]`).textContent();
    await expect.poll(error).toBe('This field is required; enter a value');
    expect(await order.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator(':focus').getAttribute('id')).toBe(await order.getAttribute('id'));
    await page.keyboard.type('o-77');
    await expect.poll(error).toBe('');
    expect(await order.getAttribute('aria-invalid')).toBe('false');
    await button.click();
    await page.getByText('Sent.').waitFor();
    expect(requests.filter((url) => url.endsWith('/api/send')).length).toBe(1);
    await tabs.getByRole('tab', { name: /Permissions1/ }).click();
    await page.getByText('order:o-77 (refund)').waitFor();
    await page.getByRole('button', { name: 'Grant' }).click();
    await page.getByRole('option').filter({ hasText: '"refunded":"o-77"' }).first().waitFor();
    await tabs.getByRole('tab', { name: 'Activity' }).click();
    await page.locator('.node').filter({ hasText: 'job refund completed' }).waitFor();
    await page.locator('.node').filter({ hasText: 'granted' }).waitFor();
  });

  test('a form is not sent with fields that are empty or no JSON; a text that is written by hand is', async () => {
    const runtime = await running('arcp', 'serve', '--ws', '0');
    const [address] = runtime.said['listening'] as string[];
    const inspector = await running('inspect', address!, '--port', '0', '--allow-send');
    const page = await openPage(String(inspector.said['page']));
    const before = requests.length;
    await page.getByRole('tab', { name: 'Send' }).click();
    await page.getByLabel('Type').selectOption('tool.error');
    const button = page.getByRole('button', { name: 'Send', exact: true });
    const invalid = page.locator('.compose [aria-invalid=true]');
    await button.click();
    await expect.poll(() => invalid.count()).toBe(2);
    expect(await page.locator(':focus').getAttribute('id')).toBe(await page.getByLabel('code *').getAttribute('id'));
    await page.keyboard.type('TOOL_FAILED');
    await page.getByLabel('message *').fill('no disk');
    await expect.poll(() => invalid.count()).toBe(0);
    await page.getByLabel('details (JSON)').fill('{');
    await page.getByText('This is not JSON').waitFor();
    await button.click();
    expect(requests.slice(before).filter((url) => url.endsWith('/api/send'))).toEqual([]);
    await page.getByLabel('Text to send').fill('{"written":"by hand"}');
    await button.click();
    await page.getByText('Sent.').waitFor();
  });

  test('a draft stays while other panels are shown, and never goes to another connection', async () => {
    const runtime = await running('arcp', 'serve', '--ws', '0', '--inspect', '--allow-send');
    const [address] = runtime.said['listening'] as string[];
    const first = await connect(address!);
    const page = await openPage(String(runtime.said['inspect']));
    const tabs = page.getByRole('tablist', { name: 'Panels' });
    await tabs.getByRole('tab', { name: 'Send' }).click();
    const connection = page.getByLabel('Connection');
    const chosen = await connection.inputValue();
    const text = page.getByLabel('Text to send');
    await text.fill('written by hand');
    const second = await connect(address!);
    await connection.locator('option').nth(1).waitFor({ state: 'attached' });
    await tabs.getByRole('tab', { name: 'Message' }).click();
    await tabs.getByRole('tab', { name: 'Send' }).click();
    expect([await connection.inputValue(), await text.inputValue()]).toEqual([chosen, 'written by hand']);
    await first.close();
    await page.getByText(`The connection ${chosen} has ended.`).waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).last().isDisabled()).toBe(true);
    expect(await text.inputValue()).toBe('written by hand');
    await second.close();
  });

  test('the server of a runtime shows what runs, and its inspector grants the permission of a client', async () => {
    const runtime = await running('arcp', 'serve', '--ws', '0', '--inspect', '--allow-send');
    const [address] = runtime.said['listening'] as string[];
    const client = await connect(address!, { onPermission: () => new Promise<never>(() => {}) });
    const job = client.invoke('refund', { order: 'o-5' });
    const page = await openPage(new URL('/', address!.replace('ws', 'http')).href);
    expect(await page.getByRole('heading').textContent()).toBe('pegwire arcp serve');
    expect(await page.getByRole('definition').allTextContents()).toContain(address);
    await page.getByRole('link').click();
    await page.getByLabel('Token').fill(tokenOf(runtime.said['inspect']));
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('tab', { name: /Permissions/ }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect(job.result()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    const second = client.invoke('refund', { order: 'o-6' });
    await page.getByText('order:o-6 (refund)').first().waitFor();
    await page.getByRole('button', { name: 'Grant' }).first().click();
    expect(await second.result()).toMatchObject({ refunded: 'o-6' });
    // The token was refused before it was entered.
    expect((await closePages()).every((text) => text.includes('401'))).toBe(true);
    await client.close();
  });

  test('a frame is sent to an endpoint by a form, and answered', async () => {
    const server = await running('serve', '--port', '0', '--inspect', '--allow-send', '--quiet');
    const page = await openPage(String(server.said['inspect']));
    await page.getByRole('tablist', { name: 'Panels' }).getByRole('tab', { name: 'Send' }).click();
    await page.getByLabel('Operation').fill('greet');
    await page.getByRole('button', { name: 'Send', exact: true }).last().click();
    await page.getByRole('option').filter({ hasText: 'done:greet' }).waitFor();
    // A text that is pasted is checked while it is typed.
    await page.getByLabel('Text to send').fill(`@${'x'.repeat(300_000)}`);
    await page.locator('.compose .error').waitFor();
  });
});

describe('the requests of the page', () => {
  test('need the token, the own origin, a host name of this machine, and permission to send', async () => {
    const { said } = await running('serve', '--port', '0', '--inspect', '--quiet');
    const url = said['inspect'];
    const status = async (answer: Promise<Response>): Promise<number> => {
      const response = await answer;
      await response.body?.cancel();
      return response.status;
    };
    expect(await status(request(url, 'api/feed'))).toBe(200);
    expect(await status(request(url, 'api/feed', { token: 'wrong' }))).toBe(401);
    expect(await status(request(url, 'api/feed', { headers: { origin: 'https://evil.example' } }))).toBe(403);
    expect(await status(request(url, 'api/feed', { method: 'DELETE' }))).toBe(405);
    expect(await status(request(url, 'api/other'))).toBe(404);
    expect(await status(request(url, '../inspect/../../package.json'))).toBe(404);
    expect(await status(request(url, '%2e%2e/package.json'))).toBe(404);
    const refused = await send(url, { session: 'http', side: 'client', text: '@a>ping:x{k:1}' });
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: 'read-only' } }]);
    const { hostname, port } = new URL(String(url));
    const rebound = await new Promise<string>((resolve) => {
      const socket = new WebSocket(`ws://${hostname}:${port}/inspect/`, { headers: { host: 'evil.example' } });
      socket.once('unexpected-response', (_, { statusCode }) => resolve(String(statusCode)));
      socket.once('error', () => resolve('error'));
    });
    expect(rebound).toBe('403');
    const page = await request(url, '', { token: 'none' });
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'/);
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|\*/);
    expect(await page.text()).not.toMatch(/<script>|style=|onload/);
  });

  test('are answered with the reason if a message cannot be sent', async () => {
    const { said } = await running('serve', '--port', '0', '--inspect', '--allow-send', '--quiet');
    const url = said['inspect'];
    const code = async (body: unknown, init: RequestInit = {}): Promise<unknown> =>
      ((await (await send(url, body, init)).json()) as { error: { code: string } }).error.code;
    expect(await code({ session: 'none', side: 'client', text: 'x' })).toBe('unknown-connection');
    expect(await code({ session: 'http', side: 'server', text: 'x' })).toBe('wrong-side');
    expect(await code({ session: 'http', side: 'both', text: 'x' })).toBe('invalid-body');
    expect(await code({ session: 'http', side: 'client', text: 1 })).toBe('invalid-body');
    expect(await code({}, { headers: { 'content-type': 'text/plain' } })).toBe('media-type');
    expect((await send(url, { session: 'http', side: 'client', text: '@a>ping:x{k:1}[mid:m1,seq:1]' })).status).toBe(
      200,
    );
    const records = await feedUntil(url, '>pong:');
    expect(records.map(({ side }) => side)).toEqual(expect.arrayContaining(['client', 'server']));
  });

  test('to a server without --inspect find only the page that tells what runs', async () => {
    const { said } = await running('serve', '--port', '0', '--quiet');
    const home = await fetch(new URL('/', String(said['http'])));
    expect([home.status, await home.text()]).toEqual([200, expect.stringContaining('Start it with --inspect')]);
    expect((await fetch(new URL('/inspect/', String(said['http'])))).status).toBe(404);
    expect(said['inspect']).toBeUndefined();
  });
});

describe('the feed', () => {
  test('of pegwire serve has frames of HTTP and WebSocket, and packets', async () => {
    const { said } = await running('serve', '--port', '0', '--inspect', '--quiet');
    const { http, ws, inspect } = said;
    await cli(['connect', String(http), '-'], { stdin: '@me>req:overhttp{a:1}[mid:m1,seq:1]' });
    await cli(['connect', String(ws), '-'], { stdin: '@me>req:overws{a:1}[mid:m1,seq:1]' });
    await fetch(new URL('/aacp/v1/packets', String(http)), {
      method: 'POST',
      headers: { 'content-type': 'application/aacp', 'aacp-nonce': 'n1', 'aacp-sent-at': String(Date.now()) },
      body: 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1',
    });
    const records = await feedUntil(inspect, 'FETCH|HR');
    const texts = records.map(({ side, text }) => `${side} ${text}`).join('\n');
    for (const operation of ['overhttp', 'overws'])
      expect(texts).toMatch(new RegExp(`client @\\w+>req:${operation}\\{[^]*server @pegwire>done:${operation}\\{`));
  });

  test('of pegwire arcp serve over HTTP has both sides', async () => {
    const { said } = await running('arcp', 'serve', '--http', '0', '--inspect');
    const [http2, sse] = said['listening'] as string[];
    for (const address of [http2!, sse!]) {
      const client = await connect(address);
      expect(await client.invoke('add', { a: 2, b: 3 }).result()).toBe(5);
      await client.close();
    }
    const records = await feedUntil(said['inspect'], 'session.close');
    expect(records.filter(({ text }) => text.includes('"tool.invoke"')).map(({ side }) => side)).toContain('client');
    expect(records.filter(({ text }) => text.includes('"tool.result"')).map(({ side }) => side)).toContain('server');
  });

  test('of a log continues with the lines that are appended, and with the file that takes its name', async () => {
    const { appendFileSync, renameSync } = await import('node:fs');
    const file = folder.write('growing.accp', '# a comment\n@a>req:first{k:1}\n');
    const { said } = await running('inspect', file, '--port', '0');
    await feedUntil(said['page'], 'req:first');
    appendFileSync(file, '@a>req:sec');
    // Longer than the end of a file is waited for.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    appendFileSync(file, 'ond{k:1}\n@a>req:third{k:1}\n');
    const records = await feedUntil(said['page'], 'req:third');
    expect(records.map(({ text }) => text)).toEqual(['@a>req:first{k:1}', '@a>req:second{k:1}', '@a>req:third{k:1}']);

    appendFileSync(file, '@a>req:fourth{k:1}\n@a>req:without{an:end}');
    renameSync(file, `${file}.1`);
    folder.write('growing.accp', '@a>req:fifth{k:1}\n');
    const all = await feedUntil(said['page'], 'req:fifth');
    expect(all.slice(3).map(({ text }) => text)).toEqual([
      '@a>req:fourth{k:1}',
      '@a>req:without{an:end}',
      '@a>req:fifth{k:1}',
    ]);
  });

  test('of a database continues while its runtime runs', async () => {
    const db = `${folder.path}/arcp.db`;
    const runtime = await running('arcp', 'serve', '--ws', '0', '--db', db);
    const client = await connect((runtime.said['listening'] as string[])[0]!);
    await client.invoke('count', { to: 2, ms: 0 }).result();
    const { said } = await running('inspect', db, '--port', '0');
    await feedUntil(said['page'], '"counted":2');
    await client.invoke('count', { to: 3, ms: 0 }).result();
    await feedUntil(said['page'], '"counted":3');
    await client.close();
  });
});

test('a file with ACCP sessions shows their values and frames; another SQLite file is refused', async () => {
  const file = `${folder.path}/sessions.db`;
  const store = await sqliteStore(file);
  const session = createSession({ agent: 'planner', id: 'sprint14', store });
  createCodec().encode({ agent: 'planner', intent: 'req', operation: 'schedule', payload: { task: 'auth' } }, session);
  await store.close();
  const { said } = await running('inspect', file, '--port', '0');
  const records = await feedUntil(said['page'], '@planner>req:schedule{');
  expect(new Set(records.map(({ session: of }) => of))).toEqual(new Set(['sprint14 planner']));
  expect(records.some(({ text }) => text.startsWith('{"collection":"outbox"'))).toBe(true);

  const registry = `${folder.path}/registry.db`;
  await (await sqliteRegistry(registry)).close();
  const { code, stderr } = await cli(['inspect', registry, '--port', '0']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('contains neither ARCP runtimes nor ACCP sessions')]);
});

describePostgres('PostgreSQL', () => {
  test('has the messages of a runtime, which continue', async () => {
    const { url, drop } = await newDatabase();
    try {
      const runtime = await running('arcp', 'serve', '--ws', '0', '--db', url);
      const client = await connect((runtime.said['listening'] as string[])[0]!);
      await client.invoke('count', { to: 2, ms: 0 }).result();
      const { said } = await running('inspect', url, '--port', '0');
      await feedUntil(said['page'], '"counted":2');
      await client.invoke('count', { to: 3, ms: 0 }).result();
      await feedUntil(said['page'], '"counted":3');
      await client.close();
      await Promise.all(programs.splice(0).map(({ stop }) => stop()));
    } finally {
      await drop();
    }
  });
});

describe('the proxy', () => {
  test('passes and records HTTP and WebSockets, and sends into them', async () => {
    const server = await running('serve', '--port', '0', '--quiet', '--token', 'secret');
    const { said } = await running(
      'inspect',
      '--listen',
      '0',
      '--to',
      String(server.said['http']),
      '--port',
      '0',
      '--allow-send',
    );
    const proxy = String(said['proxy']);
    expect(new URL(proxy).pathname).toBe('/accp/v1/frames');
    const direct = ['--token', 'secret'];
    const http = await cli(['connect', proxy, '-', ...direct], { stdin: '@me>req:one{a:1}[mid:m1,seq:1]' });
    const ws = await cli(['connect', proxy.replace('http', 'ws'), '-', ...direct], {
      stdin: '@me>req:two{a:1}[mid:m1,seq:1]',
    });
    expect([http.code, ws.code, http.stdout.includes('done:one'), ws.stdout.includes('done:two')]).toEqual([
      0,
      0,
      true,
      true,
    ]);
    expect((await cli(['connect', proxy, '-'], { stdin: '@me>req:no{a:1}[mid:m1,seq:1]' })).code).not.toBe(0);
    expect(
      (await cli(['connect', proxy.replace('http', 'ws'), '-'], { stdin: '@me>req:no{a:1}[mid:m1,seq:1]' })).code,
    ).not.toBe(0);
    const records = await feedUntil(said['page'], 'done:two');
    const sides = records
      .filter(({ text }) => /:(?:one|two)\{/.test(text))
      .map(({ side, text }) => `${side} ${/\w+:\w+(?=\{)/.exec(text)![0]}`);
    expect(sides).toEqual(['client req:one', 'server done:one', 'client req:two', 'server done:two']);
  });

  test('passes the messages of a runtime, and the inspector grants a permission as the client', async () => {
    const runtime = await running('arcp', 'serve', '--ws', '0');
    const to = String((runtime.said['listening'] as string[])[0]);
    const { said } = await running('inspect', '--listen', '0', '--to', to, '--port', '0', '--allow-send');
    const client = await connect(String(said['proxy']), { onPermission: () => new Promise<never>(() => {}) });
    const job = client.invoke('refund', { order: 'o-9' });
    const records = await feedUntil(said['page'], '"permission.request"');
    const found = records.find(({ text }) => text.includes('"permission.request"'))!;
    const { id, job_id, session_id } = JSON.parse(found.text) as Record<string, string>;
    const grant = {
      arcp: '1.0',
      id: 'msg_own',
      type: 'permission.grant',
      timestamp: new Date().toISOString(),
      job_id,
      session_id,
    };
    const text = JSON.stringify({ ...grant, correlation_id: id, payload: { lease_seconds: 30 } });
    expect((await send(said['page'], { session: found.session, side: 'client', text })).status).toBe(200);
    expect(await job.result()).toMatchObject({ refunded: 'o-9' });
    await client.close();
  });

  test('refuses pages of other origins and other host names, and reports a server that does not answer', async () => {
    const { said } = await running('inspect', '--listen', '0', '--to', 'http://127.0.0.1:1', '--port', '0');
    const proxy = String(said['proxy']);
    expect((await fetch(proxy)).status).toBe(502);
    // Another server, whose address a path may look like.
    const other = createServer((_, response) => response.end('other')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const elsewhere = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect((await fetch(`${proxy.replace(/\/$/, '')}//${elsewhere}/`)).status).toBe(502);
    other.close();
    expect((await fetch(proxy, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    const socket = new WebSocket(proxy.replace('http', 'ws'), { headers: { host: 'evil.example' } });
    const [, response] = await once(socket, 'unexpected-response');
    expect((response as { statusCode: number }).statusCode).toBe(403);
    await feedUntil(said['page'], 'ECONNREFUSED');
  });
});

describe('the arguments', () => {
  test.each([
    [[], 'inspect requires a source'],
    [['a', 'b'], 'remove "b"'],
    [['--listen', '1'], 'must be used together'],
    [['a', '--listen', '1', '--to', 'http://x'], 'inspect requires a source'],
    [['--listen', '0', '--to', 'ftp://x'], '--to must be an http'],
    [['/no/such/file'], 'Cannot read /no/such/file'],
    [['ws://127.0.0.1:1/arcp'], 'unreachable'],
    [['nope://x'], 'is not an address'],
    [['http://127.0.0.1:1'], 'http://HOST:PORT/accp/v1/frames'],
  ])('%j are refused: %s', async (args, message) => {
    const { code, stdout, stderr } = await cli(['inspect', ...args, '--port', '0']);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('--allow-send of a server requires --inspect, and --inspect a listener with HTTP', async () => {
    expect((await cli(['serve', '--allow-send'])).stderr).toContain('--allow-send requires --inspect');
    const { code, stderr } = await cli(['arcp', 'serve', '--inspect', '--socket', `${folder.path}/s.sock`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--inspect requires --ws or --http')]);
  });
});
