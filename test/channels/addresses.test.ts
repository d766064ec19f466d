/** Addresses: those that are refused at once. Connections by address are in the tests of each protocol. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { dialAddress } from '../../src/channels/node/addresses.js';
import { certificate } from '../helpers/tls-proxy.js';

test.each([
  ['', 'is not an address; the forms are ws://HOST:PORT/PATH, wss://HOST/PATH, '],
  ['nowhere', 'is not an address'],
  ['ftp://127.0.0.1', 'is not an address'],
  ['http://127.0.0.1', 'is not an address'],
  ['constructor:x', 'is not an address'],
  ['unix:', 'is not an address'],
  ['ws:', 'is not an address'],
  ['ws://', 'is invalid; the form is ws://HOST:PORT/PATH'],
  ['ws://a b/', 'is invalid'],
  ['tcp://127.0.0.1', 'has no port; the form is tcp://HOST:PORT'],
  ['http2://', 'is invalid; the form is http2://HOST:PORT/PATH'],
  ['sse:ftp://a', 'is invalid; the form is sse:https://HOST/PATH'],
  ['sse://127.0.0.1', 'is invalid; the form is sse:https://HOST/PATH'],
  ['quic://localhost', 'address must be quic://HOST:PORT'],
  ['quic://127.0.0.1:1', 'serverName is required'],
  ['nats://127.0.0.1/a*b', 'subject must be words of letters'],
  ['amqp://127.0.0.1?name=a%20b', 'subject must be words of letters'],
  ['stdio: ', 'has no program; the form is stdio:COMMAND'],
  ['stdio:a\0b', 'has no program'],
])('refuses %j at once', (address, message) => {
  expect(() => dialAddress(address, { protocol: 'arcp' })).toThrow(TypeError);
  expect(() => dialAddress(address, { protocol: 'arcp' })).toThrow(message);
});

test.each([
  'ampq://user:S3CRET@127.0.0.1',
  'ws://user:S3CRET@',
  'tcp://user:S3CRET@127.0.0.1',
  'sse:ftp://user:S3CRET@127.0.0.1',
  'quic://user:S3CRET@127.0.0.1',
  'sse:https://user:S3CRET@127.0.0.1',
  'https://user:S3CRET@127.0.0.1',
  'http2://S3CRET@127.0.0.1',
  'amqp://user:S3CRET/S3CRET@127.0.0.1',
  'nats://user:S3CRET?S3CRET@127.0.0.1',
  'nats://user:S3CRET#S3CRET@127.0.0.1',
  'ampq://user:S3CRET@S3CRET@127.0.0.1',
  'tcp://user:S3 CRET@127.0.0.1',
])('refuses an address without showing its password: %s', (address) => {
  let message = '';
  try {
    dialAddress(address, { protocol: 'arcp' });
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain('***@');
  expect(message).not.toMatch(/S3|CRET/);
});

test.each([
  ['sse:https://127.0.0.1/', 'use https:, or set NODE_EXTRA_CA_CERTS'],
  ['sse:http://127.0.0.1/', 'use https:, or set NODE_EXTRA_CA_CERTS'],
  ['amqp://127.0.0.1', 'use amqps:'],
])('refuses certificates that a connection would not check: %s', (address, instead) => {
  const error = new TypeError(`"${address}" does not accept ca and serverName; ${instead}`);
  for (const trust of [{ ca: certificate }, { serverName: 'localhost' }])
    expect(() => dialAddress(address, { protocol: 'arcp', ...trust })).toThrow(error);
});

test('verifies the certificate of NATS with ca and serverName, and requires one', async () => {
  const key = readFileSync(new URL('../fixtures/tls/key.pem', import.meta.url));
  let hasTls = true;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.write(`INFO ${JSON.stringify({ version: '2.9.0', proto: 1, max_payload: 1024, tls_required: hasTls })}\r\n`);
    if (!hasTls) return;
    const secure = new TLSSocket(socket, { isServer: true, key, cert: certificate });
    secure.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dial = (trust: object) => dialAddress(address, { protocol: 'arcp', ...trust })();
  await expect(dial({})).rejects.toThrow('self-signed certificate');
  await expect(dial({ ca: certificate, serverName: 'other.test' })).rejects.toThrow('other.test');
  hasTls = false;
  await expect(dial({ ca: certificate })).rejects.toThrow("server does not support 'tls'");
  server.close();
});

test.each([
  'ws://127.0.0.1:1/',
  'unix:/no/such',
  'tcp://127.0.0.1:1',
  'pipe:/no/such',
  'stdio:/no/such/program',
  'http2://127.0.0.1:1/',
  'sse:http://127.0.0.1:1/',
  'nats://127.0.0.1:1',
  'amqp://127.0.0.1:1',
])('reports in words that nothing answers at %s', async (address) => {
  const dialing = dialAddress(address, { protocol: 'arcp' })();
  await expect(dialing).rejects.toThrow(/Cannot connect|could not be started|there is no such/);
  await expect(dialing).rejects.not.toThrow(/\bE[A-Z]{3,}\b/);
});
