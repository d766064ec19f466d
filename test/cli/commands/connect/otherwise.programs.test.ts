/** `pegwire connect` with servers that do not behave like `pegwire serve`. */
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Ended, ended, start } from '../../../helpers/child.js';
import { cli, lines, PROGRAM } from '../../../helpers/cli.js';

const connect = (url: string, stdin: string, ...args: readonly string[]): Promise<Ended> =>
  cli(['connect', url, ...args], { stdin });

/** Serves HTTP with a handler while a function runs. */
async function withServer(listener: RequestListener, work: (url: string) => Promise<void>): Promise<void> {
  const other = createServer(listener);
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
  } finally {
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
  }
}

describe('other servers', () => {
  const REQUEST = '@me>req:x{}[mid:m1,seq:1]';

  test('a request without an answer is given up, with exit code 1', async () => {
    await withServer(
      () => {},
      async (url) => {
        const { code, stderr } = await connect(url, REQUEST, '--timeout', '200ms');
        expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^error\[unanswered\]: .*\n$/) });
      },
    );
    await withServer(
      (_, response) => response.writeHead(204).end(),
      async (url) => {
        expect(await connect(url, REQUEST)).toEqual({
          code: 1,
          stdout: '',
          stderr: 'error[unanswered]: The request was not answered.\n',
        });
      },
    );
  });

  test.each([
    ['a page', 200, 'text/html', /must be application\/accp; got text\/html/],
    ['another status', 500, 'text/plain', /responded with status 500/],
    ['another place', 302, 'text/plain', /redirects to another address/],
  ])('%s is not an endpoint for frames, with exit code 2', async (_, status, type, message) => {
    await withServer(
      (__, response) => response.writeHead(status, { 'content-type': type, location: '/' }).end('x'),
      async (url) => {
        const { code, stdout, stderr } = await connect(url, REQUEST);
        expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
        expect(stderr).toMatch(message);
      },
    );
  });

  test('an answer that is not a frame does not count', async () => {
    const junk = '\u001b]0;owned\u0007 Sorry, not a frame\n';
    const bodies: string[] = [];
    await withServer(
      (request, response) => {
        request.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
        request.on('end', () => response.writeHead(200, { 'content-type': 'application/accp' }).end(junk));
      },
      async (url) => {
        const { code, stdout, stderr } = await connect(url, REQUEST);
        expect({ code, stdout }).toEqual({ code: 1, stdout: '␛]0;owned␇ Sorry, not a frame\n' });
        expect(stderr).toBe('error[unanswered]: The request was not answered.\n');
        expect((await connect(url, 'hello')).code).toBe(1);
      },
    );
    // A frame, the registry and a text were sent; the registry is not answered.
    expect(bodies).toHaveLength(3);
  });

  test('a frame that is too large does not prevent the next', async () => {
    await withServer(
      (request, response) => {
        const isLong = Number(request.headers['content-length']) > 1000;
        request.resume().on('end', () => response.writeHead(isLong ? 413 : 204).end());
      },
      async (url) => {
        const input = lines(`@me>sync:x{k:${'x'.repeat(2000)}}[mid:m1,seq:1]`, '@me>sync:x{}[mid:m2,seq:2]');
        const { code, stderr } = await connect(url, input);
        expect(code).toBe(1);
        expect(stderr).toMatch(/^error\[http-status\]: The server responded with status 413\.\n +--> stdin:1:1\n/);
        expect(stderr).not.toContain('stdin:2');
      },
    );
  });

  test.each([['--raw'], []])('a connection without any frame is given up %s', async (...args) => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stdout } = await connect(url, REQUEST, '--timeout', '200ms', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  test('the first frames of a WebSocket are printed, and a lost connection is not waited for', async () => {
    const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'accp' });
    await new Promise((resolve) => sockets.once('listening', resolve));
    sockets.on('connection', (socket) => {
      socket.send('@srv>sync:note{}[mid:s1,seq:1]');
      socket.send(Buffer.from('binary'));
      socket.on('message', () => socket.terminate());
    });
    const url = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
    // The timeout is longer than the test, so the test does not wait for it.
    const child = start([...PROGRAM, 'connect', url, '--raw', '--timeout', '1h'], { stdin: REQUEST });
    const { code, stdout, stderr } = await ended(child);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '@srv>sync:note{}[mid:s1,seq:1]\n' });
    expect(stderr).toContain('Ignored a binary message of 6 bytes.');
    await new Promise((resolve) => sockets.close(resolve));
  });

  test('a WebSocket that does not answer is given up, and a lost one ends the program', async () => {
    const peers: WebSocket[] = [];
    const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'accp' });
    await new Promise((resolve) => sockets.once('listening', resolve));
    sockets.on('connection', (socket) => peers.push(socket));
    const url = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
    // The timeout also applies to the handshake.
    const raw = await connect(url, REQUEST, '--raw', '--timeout', '2s');
    expect(raw).toEqual({ code: 1, stdout: '', stderr: 'error[unanswered]: 1 request not answered within 2 s.\n' });
    // The input stays open; the server ends the connection.
    const child = start([...PROGRAM, 'connect', url, '--raw']);
    sockets.once('connection', (socket) => socket.close(1008, 'no more'));
    const { code, stderr } = await ended(child);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'error[unreachable]: The server closed the connection with 1008 no more.\n',
    });
    for (const peer of peers) peer.terminate();
    await new Promise((resolve) => sockets.close(resolve));
  });
});
