/** Addresses: those that are refused at once. Connections by address are in the tests of each protocol. */
import { expect, test } from 'vitest';
import { dialAddress } from '../../src/channels/node/addresses.js';

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
])('refuses an address without showing its password: %s', (address) => {
  let message = '';
  try {
    dialAddress(address, { protocol: 'arcp' });
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain('***@');
  expect(message).not.toContain('S3CRET');
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
