/** `pegwire serve` as a program: its output, addresses and shutdown. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { postPacket } from '../../../src/aacp/bindings/http/index.js';
import type { AuditRecord } from '../../../src/aacp/dispatch/index.js';
import { type Ended, ended, start } from '../../helpers/child.js';
import { cli, jsonLines, PROGRAM } from '../../helpers/cli.js';
import { type Serving, serving } from './connect/server.js';

const TYPE = { 'content-type': 'application/accp' };
const REQUEST = '@me>req:x{a:1}[mid:m1,seq:1]';

const serve = (...args: readonly string[]): Promise<Serving> => serving(PROGRAM, args);

async function curl(...args: readonly string[]): Promise<string> {
  const { stdout, code } = await ended(start(['curl', '--silent', '--max-time', '30', ...args], { stdin: '' }));
  expect(code).toBe(0);
  return stdout;
}

async function wrong(...args: readonly string[]): Promise<Ended> {
  const result = await cli(['serve', ...args]);
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 2, stdout: '' });
  return result;
}

describe('its addresses', () => {
  test('are printed to stdout, and answer curl', async () => {
    const { http, ws, stop } = await serve();
    expect(ws).toBe(http.replace('http', 'ws'));
    const answer = await curl('-H', 'Content-Type: application/accp', '--data-raw', REQUEST, http);
    expect(answer).toMatch(/^@pegwire>done:x\{a:1\}\[/);
    expect(JSON.parse(await curl(http.replace('/accp/v1/frames', '/healthz')))).toMatchObject({ status: 'ok' });
    const { code, stdout, stderr } = await stop();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${http}\n${ws}\n` });
    const entries = stderr.split('\n').filter((line) => line.includes('127.0.0.1'));
    expect(entries).toEqual([
      expect.stringMatching(/^\S+Z 127\.0\.0\.1 POST \/accp\/v1\/frames 200 [0-9]+ms [0-9]+B$/),
      expect.stringMatching(/^\S+Z 127\.0\.0\.1 GET \/healthz 200 [0-9]+ms [0-9]+B$/),
    ]);
  });

  test('are one JSON line with --json, as is each entry of the access log', async () => {
    const { http, ws, stop } = await serve('--json', '--path', '/x', '--agent', 'echo', '--host', 'localhost');
    expect(http).toMatch(/^http:\/\/localhost:[0-9]+\/x$/);
    await curl('-H', 'Content-Type: application/accp', '--data-raw', REQUEST, http);
    const { code, stdout, stderr } = await stop();
    expect({ code, addresses: jsonLines(stdout) }).toEqual({ code: 0, addresses: [{ http, ws }] });
    expect(jsonLines(stderr)).toMatchObject([{ method: 'POST', path: '/x', status: 200 }]);
  });

  test('include a Unix-domain socket, over which pegwire connect has a session', async () => {
    const socket = path.join(mkdtempSync(path.join(tmpdir(), 'pegwire-serve-')), 'agent.sock');
    const { http, ws, stop } = await serve('--quiet', '--agent', 'echo', '--socket', socket);
    for (const more of [[], ['--raw']]) {
      const { code, stdout, stderr } = await cli(['connect', `unix:${socket}`, '-', ...more], { stdin: REQUEST });
      // Without a session, a request is not the first frame.
      expect({ stderr, code, isAnswered: stdout.includes('>done:x{a:1}') }).toEqual(
        more.length === 0
          ? { stderr: expect.stringContaining('is sent as a message'), code: 0, isAnswered: true }
          : { stderr: expect.anything(), code: 1, isAnswered: false },
      );
    }
    const { code, stdout } = await stop();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${http}\n${ws}\nunix:${socket}\n` });
    rmSync(path.dirname(socket), { recursive: true });
  });

  test('are the only output with --quiet', async () => {
    const { http, stop } = await serve('--quiet');
    await fetch(http, { method: 'POST', body: REQUEST, headers: TYPE });
    expect((await stop()).stderr).not.toContain('POST');
  });
});

test('the number of sessions between requests is limited', async () => {
  const { http, stop } = await serve('--max-sessions', '1', '--agent', 'echo');
  const ask = async (sid: string, seq: number): Promise<string> => {
    const body = `@me>req:x{a:1}[mid:${sid}${seq},seq:${seq},sid:${sid}]`;
    return (await fetch(http, { method: 'POST', body, headers: TYPE })).text();
  };
  expect(await ask('one', 1)).toContain('>done:x{');
  expect(await ask('one', 2)).toContain('>done:x{');
  expect(await ask('two', 1)).toContain('>done:x{');
  // The session is new, so it has not seen numbers 1 and 2.
  expect(await ask('one', 3)).toContain('>fail:');
  await stop();
});

describe('a token', () => {
  test.each([
    ['as an option', ['--token', 'abc'], {}],
    ['from the environment', [], { PEGWIRE_TOKEN: 'abc' }],
    ['as an option, which goes before the environment', ['--token', 'abc'], { PEGWIRE_TOKEN: 'def' }],
  ])('%s is required, and appears in no log', async (_, args, env) => {
    const { http, stop } = await serving(PROGRAM, args, env);
    const post = (headers: Record<string, string>) =>
      fetch(http, { method: 'POST', body: REQUEST, headers: { ...TYPE, ...headers } }).then(({ status }) => status);
    expect(await post({})).toBe(401);
    expect(await post({ authorization: 'Bearer def' })).toBe(401);
    expect(await post({ authorization: 'Bearer abc' })).toBe(200);
    const { stdout, stderr } = await stop();
    expect(`${stdout}${stderr}`).not.toMatch(/abc|def/);
  });
});

test('pages of a given origin are accepted, others are not', async () => {
  const { http, stop } = await serve('--origin', 'https://a.example', '--origin', 'https://b.example');
  const statuses = ['https://a.example', 'https://b.example', 'https://c.example'].map((origin) =>
    fetch(http, { method: 'POST', body: REQUEST, headers: { ...TYPE, origin } }).then(({ status }) => status),
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 403]);
  await stop();
});

test('a frame over the limit is rejected', async () => {
  const { http, stop } = await serve('--max-frame', '20');
  expect((await fetch(http, { method: 'POST', body: REQUEST, headers: TYPE })).status).toBe(413);
  await stop();
});

describe('a signal', () => {
  const COUNT = '@me>req:tool{tool:count|args:{to:4,ms:100}|schema:TC}[mid:m1,seq:1]';

  test.each(['SIGINT', 'SIGTERM'] as const)('%s lets a stream end, and closes WebSockets', async (signal) => {
    const { http, ws, stop } = await serve();
    const socket = new WebSocket(ws, 'accp');
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const response = await fetch(http, { method: 'POST', body: COUNT, headers: TYPE });
    const over = stop(signal);
    expect((await closed)[0]).toBe(1001);
    expect((await response.text()).trimEnd().split('\n')).toHaveLength(5);
    expect((await over).code).toBe(0);
  });

  test('that is repeated ends it at once', async () => {
    const { http, child, over, noted } = await serve('--grace', '10m');
    const body = COUNT.replace('to:4', 'to:10000');
    const response = await fetch(http, { method: 'POST', body, headers: TYPE });
    const cut = expect(response.text()).rejects.toThrow();
    child.kill('SIGINT');
    await noted('press Ctrl-C again');
    child.kill('SIGINT');
    expect((await over).code).toBe(0);
    await cut;
  });

  test('ends it if no request is open', async () => {
    expect((await (await serve()).stop()).code).toBe(0);
  });
});

describe('incorrect usage', () => {
  test('a port that is in use', async () => {
    const { http, stop } = await serve();
    const { port } = new URL(http);
    const { stderr } = await wrong('--port', port);
    expect(stderr).toBe(`error[address]: 127.0.0.1:${port} is already in use.\n`);
    expect(jsonLines((await wrong('--port', port, '--json')).stderr)).toMatchObject([{ error: { code: 'address' } }]);
    await stop();
  });

  test.each([
    [
      ['--host', '0.0.0.0'],
      /could reach 0\.0\.0\.0 without a token; set --token or PEGWIRE_TOKEN, or use --insecure\./,
    ],
    [['--host', '::'], /could reach :: without a token; set --token/],
    [['--port', 'x'], /--port must be an integer from 0 to 65535; got "x"/],
    [['--port', '65536'], /--port must be an integer from 0 to 65535/],
    [['--agent', 'ech'], /--agent must be both, echo or tools; got "ech"; did you mean "echo"\?/],
    [['--token', 'a b'], /token must consist of letters/],
    [['--origin', 'a.example'], /An origin must be a scheme and a host/],
    [['--max-frame', '0'], /--max-frame must be a positive integer/],
    [['--grace', '-1'], /--grace must be a duration such as 500ms, 30s, 2m, 1h or 7d; got "-1"/],
    [['--host', '192.0.2.1', '--token', 'a'], /Cannot listen on 192\.0\.2\.1:/],
    [['accp'], /serve takes only options; remove "accp"/],
  ])('%j', async (args, message) => {
    expect((await wrong('--port', '0', ...args)).stderr).toMatch(message);
  });
});

describe('AACP packets', () => {
  const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary';
  const urlOf = (http: string): string => http.replace('/accp/v1/frames', '/aacp/v1/packets');

  test('are acknowledged on the same port, and recorded', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'pegwire-serve-')), 'audit.jsonl');
    const { http, stop } = await serve('--quiet', '--aacp-audit', file);
    const envelope = { nonce: 'n1', sentAt: Date.now() };
    expect(await postPacket(urlOf(http), PACKET, { envelope })).toMatchObject({
      ok: true,
      packet: 'ACK|HR|return:HR-Agent|p:1|aacp:1.1|status:received_FETCH',
    });
    expect(await postPacket(urlOf(http), PACKET, { envelope })).toMatchObject({ ok: false, reason: 'repeated' });
    const old = { nonce: 'n2', sentAt: Date.now() - 60_000 };
    expect(await postPacket(urlOf(http), PACKET, { envelope: old })).toMatchObject({ ok: false, reason: 'too-old' });
    expect((await stop()).code).toBe(0);
    const records = jsonLines(readFileSync(file, 'utf8')) as AuditRecord[];
    expect(records.map(({ event, reason }) => [event, reason])).toEqual([
      ['handed-over', null],
      ['done', null],
      ['refused', 'repeated'],
      ['refused', 'too-old'],
    ]);
    expect((await cli(['aacp', 'audit', 'verify', file])).code).toBe(0);
    rmSync(path.dirname(file), { recursive: true });
  });

  test('need the token of the server, and can be sent by the pages of its origins', async () => {
    const { http, stop } = await serve('--quiet', '--token', 'open-sesame', '--origin', 'https://a.example');
    const url = urlOf(http);
    await expect(postPacket(url, PACKET)).rejects.toMatchObject({ code: 'http-status', status: 401 });
    const headers = { authorization: 'Bearer open-sesame' };
    expect(await postPacket(url, PACKET, { headers })).toMatchObject({ ok: true });
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'aacp-nonce,content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('aacp-nonce,content-type');
    await expect(
      postPacket(url, PACKET, { headers: { ...headers, origin: 'https://b.example' } }),
    ).rejects.toMatchObject({ status: 403 });
    await stop();
  });

  test('need a log that can be opened', async () => {
    const { stderr } = await wrong('--port', '0', '--aacp-audit', path.join(tmpdir(), 'no', 'such', 'folder', 'a'));
    expect(stderr).toMatch(/audit-unavailable/);
  });
});
