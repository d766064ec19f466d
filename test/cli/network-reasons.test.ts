/** Network errors are reported in words, by every command and binding that connects or listens. */
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { fetchRules } from '../../src/aacp/fallback/index.js';
import { connectWebSocket } from '../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession } from '../../src/accp/codec/index.js';
import { connect } from '../../src/arcp/client/index.js';
import { cli, scratchFolder } from '../helpers/cli.js';

const scratch = scratchFolder();
/** An address without a host, and one that is not of this machine (RFC 5737). */
const [NOBODY, ELSEWHERE] = [`127.0.0.1:${await freePort()}`, '192.0.2.1'];
/** Names that never resolve (RFC 6761), with or without a resolver. */
const NO_HOST = 'nowhere.invalid:8080';
const REFUSED = /the connection was refused/;
const UNKNOWN = /the host was not found|the host name cannot be resolved at the moment/;
const NO_ADDRESS = /this machine does not have that address/;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The wording of Node, undici and ws never appears. */
const RAW = /\bE[A-Z_]{4,}\b|fetch failed|getaddrinfo|\blisten E|connect E/;

const hello = scratch.write(
  'log.jsonl',
  '{"arcp":"1.0","id":"m1","type":"session.open","timestamp":"2026-01-01T00:00:00Z","payload":{"capabilities":{},"client":{"kind":"x","version":"1"}}}\n',
);
const model = (place: string): string[] => [
  ...['encode', 'aacp', '--english', 'Paint the fence green', '--domain', 'HR', '--registry', 'none'],
  ...['--model', `http://${place}/v1#m`],
];

describe('a command', () => {
  test.each([
    [['arcp', 'invoke', `ws://${NOBODY}`, 'x'], REFUSED],
    [['arcp', 'invoke', `ws://${NO_HOST}`, 'x'], UNKNOWN],
    [['arcp', 'tail', `ws://${NOBODY}`, 'job'], REFUSED],
    [['arcp', 'replay', hello, `ws://${NOBODY}`], REFUSED],
    [['arcp', 'serve', '--ws', '0', '--host', ELSEWHERE, '--insecure'], NO_ADDRESS],
    [['connect', `http://${NOBODY}`], REFUSED],
    [['connect', `http://${NO_HOST}`], UNKNOWN],
    [['connect', `ws://${NOBODY}`], REFUSED],
    [['connect', `ws://${NO_HOST}`], UNKNOWN],
    [['connect', '--raw', `ws://${NOBODY}`], REFUSED],
    [['serve', '--port', '0', '--host', ELSEWHERE, '--insecure'], NO_ADDRESS],
    [model(NOBODY), REFUSED],
    [model(NO_HOST), UNKNOWN],
  ])('%j', async (args, reason) => {
    const { code, stdout, stderr } = await cli(args, { stdin: '@a>req:x{q:1}[mid:m1,seq:1]\n' });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(reason);
    expect(stdout + stderr).not.toMatch(RAW);
  });
});

describe('the library', () => {
  const session = createSession({ agent: 'client', sequence: 'sender' });
  const attempts = { maxAttempts: 0 };

  test.each<readonly [string, () => Promise<unknown>]>([
    [
      'connectWebSocket',
      () => connectWebSocket(`ws://${NOBODY}`, { codec: createCodec(), session, WebSocket, reconnect: attempts }),
    ],
    ['connect of ARCP', () => connect(`ws://${NOBODY}`, { reconnect: { maxAttempts: 1 } })],
    ['fetchRules', () => fetchRules(`http://${NOBODY}/rules.json`, { sha256: '0'.repeat(64) })],
  ])('%s', async (_, connecting) => {
    const { message } = await connecting().then(
      () => new Error('connected'),
      (thrown: Error) => thrown,
    );
    expect(message).toMatch(REFUSED);
    expect(message).not.toMatch(RAW);
  });
});
