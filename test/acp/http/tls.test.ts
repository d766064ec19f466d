/** ACP over TLS: HTTP/2 and HTTP/1.1 by ALPN, and WebSocket. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcpListener, connectAcp, listenAcp } from '../../../src/acp/http/index.js';
import { ourTurn, servePrompts, TURN } from './turn.js';

const fixture = (name: string): string => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');
const ca = fixture('certificate.pem');
const tls = { cert: ca, key: fixture('key.pem') };
let server: AcpListener;
beforeAll(async () => {
  server = await listenAcp((channel) => servePrompts(channel), { host: 'localhost', tls, allowHttp1: false });
});
afterAll(() => server.close());

test('a turn over HTTP/2, which is the only version of streams here', async () => {
  expect(server.http).toMatch(/^https:\/\/localhost:/);
  expect(await ourTurn(connectAcp(server.http, { ca }))).toEqual(TURN);
});

test('a turn over WebSocket', async () => {
  expect(server.ws).toMatch(/^wss:\/\/localhost:/);
  expect(await ourTurn(connectAcp(server.ws, { ca }))).toEqual(TURN);
});

test.each(['http', 'ws'] as const)(
  'pages of its own origin can use it over %s, and those of its name without TLS cannot',
  async (transport) => {
    const headers = (origin: string) => ({ headers: { origin }, ca });
    const { origin } = new URL(server.http);
    expect(await ourTurn(connectAcp(server[transport], headers(origin)))).toEqual(TURN);
    const other = ourTurn(connectAcp(server[transport], headers(origin.replace('https:', 'http:'))));
    await expect(other).rejects.toMatchObject({ code: 'closed' });
  },
);

test.each(['http', 'ws'] as const)('a certificate of another authority ends the channel over %s', async (transport) => {
  const attempt = ourTurn(connectAcp(server[transport], { ca: fixture('other-authority.pem') }));
  await expect(attempt).rejects.toMatchObject({ code: 'closed' });
});
