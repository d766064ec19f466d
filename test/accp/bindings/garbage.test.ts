/** Bytes that are not HTTP, WebSocket or frames: the server answers or closes the connection, survives, and serves others meanwhile. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FRAMES_PATH, postFrame } from '../../../src/accp/bindings/http/index.js';
import { connectWebSocket, type Link } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type MessageInput } from '../../../src/accp/codec/index.js';
import { type CompiledProgram, compileProgram } from '../../helpers/bundled-program.js';
import { runs } from '../../helpers/runs.js';
import { FRAMES_SERVER, type ServerProcess, startFramesServer } from './programs/frames-server-process.js';
import { closeCode, endWith, exchangeBytes, webSocketFrame as frame, handshake } from './programs/raw-bytes.js';

const codec = createCodec();
const session = createSession({ agent: 'other', sequence: 'sender' });
const posting = createSession({ agent: 'poster', sequence: 'sender' });
let program: CompiledProgram | undefined;
let server: ServerProcess;
/** A client that is connected all the time. */
let link: Link;

beforeAll(async () => {
  program = await compileProgram(FRAMES_SERVER);
  server = await startFramesServer(program.file);
  link = await connectWebSocket(server.webSocketUrl, { codec, session, WebSocket, reconnect: false });
});
afterAll(async () => {
  await link?.close();
  await server?.kill();
  program?.remove();
  session.close();
  posting.close();
});

/** Checks that earlier and new clients are still served. */
afterEach(async () => {
  const ask: MessageInput = { intent: 'req', operation: 'echo', payload: { n: 1 } };
  expect((await link.request(ask)).payload).toEqual({ n: 1 });
  expect(await postFrame(server.httpUrl, codec.encode(ask, posting).frames[0]!)).toMatch(/^@server>done:echo/);
  expect(server.isRunning()).toBe(true);
});

const HEAD = `POST ${FRAMES_PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/accp\r\n`;
const FRAME = '@a>req:echo{q:1}[mid:m1,seq:1]';
const CLOSE = 'Connection: close\r\n';

describe('over TCP to the HTTP server', () => {
  test.each<[string, (string | Uint8Array)[], RegExp]>([
    ['no request line', ['hello\r\n\r\n'], /^HTTP\/1\.1 400 /],
    ['an invalid method', [`FRAME ${FRAMES_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['an invalid version', [`POST ${FRAMES_PATH} HTTP/9.9\r\nHost: a\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['a frame without HTTP around it', [`${FRAME}\n`], /^HTTP\/1\.1 400 /],
    ['the greeting of TLS', [Buffer.from('16030100a5010000a10303', 'hex')], /^HTTP\/1\.1 400 /],
    ['NUL bytes', [Buffer.alloc(1000)], /^HTTP\/1\.1 400 /],
    ['NUL in a header', [`${HEAD}X-A: a\0b\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['a header without a name', [`${HEAD}: a\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['headers of 100 kB', [`${HEAD}X-A: ${'a'.repeat(100_000)}\r\n\r\n`], /^(HTTP\/1\.1 431 |$)/],
    ['10,000 headers', [`${HEAD}${'a: b\r\n'.repeat(10_000)}\r\n`], /^(HTTP\/1\.1 431 |$)/],
    ['a length that is not a number', [`${HEAD}Content-Length: many\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['a length below zero', [`${HEAD}Content-Length: -1\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['a length beyond all numbers', [`${HEAD}Content-Length: 99999999999999999999\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['two lengths', [`${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['a length and chunks', [`${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`], /^HTTP\/1\.1 400 /],
    ['invalid chunks', [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, 'xyz\r\nabc\r\n'], /^HTTP\/1\.1 400 /],
    [
      'a chunk beyond all lengths',
      [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, 'ffffffffffffffffff\r\n'],
      /^HTTP\/1\.1 400 /,
    ],
    [
      'a chunk longer than its declared length',
      [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `3\r\n${FRAME}\r\n0\r\n\r\n`],
      /^HTTP\/1\.1 400 /,
    ],
    ['a target that is not a path', [`POST http://[ HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n`], /^HTTP\/1\.1 [45]\d\d /],
    ['an invalid host', [`POST ${FRAMES_PATH} HTTP/1.1\r\nHost: a b\0\r\n${CLOSE}\r\n`], /^HTTP\/1\.1 400 /],
    [
      'a host with strange characters',
      [`POST ${FRAMES_PATH} HTTP/1.1\r\nHost: <>^|:x\r\n${CLOSE}\r\n`],
      /^HTTP\/1\.1 [45]\d\d /,
    ],
    ['a path of two slashes', [`POST // HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n`], /^HTTP\/1\.1 [45]\d\d /],
    [
      'a length longer than the largest frame',
      [`${HEAD}${CLOSE}Content-Length: 99999999\r\n\r\n@a`],
      /^HTTP\/1\.1 413 /,
    ],
    [
      'bytes that are not UTF-8',
      [`${HEAD}${CLOSE}Content-Length: 2\r\n\r\n`, Buffer.from([0xc0, 0xff])],
      /^HTTP\/1\.1 400 [\s\S]*E1001/,
    ],
    [
      'NUL bytes for a frame',
      [`${HEAD}${CLOSE}Content-Length: 9\r\n\r\n`, Buffer.alloc(9)],
      /^HTTP\/1\.1 400 [\s\S]*E1001/,
    ],
    ['a body longer than its length', [`${HEAD}Content-Length: 2\r\n\r\n${FRAME}`], /^HTTP\/1\.1 400 /],
    ['an upgrade to another protocol', [`${HEAD}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`], /^HTTP\/1\.1 [45]\d\d /],
    [
      'a WebSocket without its key',
      [`GET ${FRAMES_PATH} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
      /^HTTP\/1\.1 400 /,
    ],
    ['a WebSocket at another path', [handshake('/elsewhere')], /^HTTP\/1\.1 400 /],
  ])('%s', async (_, pieces, expected) => {
    const bytes = await exchangeBytes(server.port, pieces);
    expect(bytes.toString('latin1')).toMatch(expected);
  });

  test.each<[string, string]>([
    ['in the request line', 'POST /accp'],
    ['in the headers', `${HEAD}Content-`],
    ['in the body', `${HEAD}Content-Length: 1000\r\n\r\n@a>req`],
    ['in a chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\nff\r\n@a>`],
    ['in a handshake', handshake().slice(0, 60)],
  ])('half a request, which ends %s', async (_, half) => {
    const { handled } = await server.figures();
    await endWith(server.port, half);
    expect((await server.figures()).handled).toBe(handled);
  });

  test('any bytes at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, isBody) => {
        const head = isBody ? `${HEAD}${CLOSE}Content-Length: ${bytes.length}\r\n\r\n` : '';
        await endWith(server.port, head, bytes);
        expect(server.isRunning()).toBe(true);
      }),
      runs(50),
    );
  });
});

let raws = 0;
/** The first frame of a session of its own. */
const hello = (): string => `@raw>sync:registry{v:1|hash:000000}[mid:r1,seq:1,sid:raw-${++raws}]`;

describe('over a WebSocket', () => {
  test.each<[string, () => (string | Uint8Array)[], number]>([
    ['a frame without a mask', () => [frame(hello(), { isMasked: false })], 1002],
    ['a reserved opcode', () => [frame('', { opcode: 3 })], 1002],
    ['a reserved control opcode', () => [frame('', { opcode: 15 })], 1002],
    ['reserved bits', () => [frame(hello(), { bits: 0xf0 })], 1002],
    ['a continuation of nothing', () => [frame('a', { opcode: 0 })], 1002],
    ['a message within a message', () => [frame('a', { bits: 0 }), frame('b')], 1002],
    ['a ping in fragments', () => [frame('a', { opcode: 9, bits: 0 })], 1002],
    ['a ping of 126 bytes', () => [frame('a'.repeat(126), { opcode: 9 })], 1002],
    ['a close frame of one byte', () => [frame('a', { opcode: 8 })], 1002],
    ['a close frame with an invalid code', () => [frame(Buffer.from([3, 0xed]), { opcode: 8 })], 1002],
    ['a close frame whose reason is not UTF-8', () => [frame(Buffer.from([3, 0xe8, 0xff]), { opcode: 8 })], 1007],
    ['a length beyond all numbers', () => [Buffer.from('81ffffffffffffffffff00000000', 'hex')], 1009],
    ['a length beyond the limit', () => [frame('', { length: 2_000_000 })], 1009],
    [
      'a message beyond the limit, in fragments',
      () => [frame('a'.repeat(600_000), { bits: 0 }), frame('a'.repeat(600_000), { opcode: 0 })],
      1009,
    ],
    ['text that is not UTF-8', () => [frame(Buffer.from([0xff, 0xfe]))], 1007],
    ['a binary message', () => [frame(hello(), { opcode: 2 })], 1003],
    ['text that is not a frame', () => [frame('hello')], 1008],
    ['an empty message', () => [frame('')], 1008],
    ['NUL bytes for a frame', () => [frame(Buffer.alloc(100))], 1008],
    ['a frame that is not a registry', () => [frame(FRAME)], 1008],
    ['a binary message after the registry', () => [frame(hello()), frame('a', { opcode: 2 })], 1003],
    ['text that is not UTF-8 after the registry', () => [frame(hello()), frame(Buffer.from([0xff]))], 1007],
    ['bytes that are not a WebSocket frame after the registry', () => [frame(hello()), 'GET / HTTP/1.1\r\n\r\n'], 1002],
    ['the end after half a frame', () => [frame(hello()), frame('ab', { bits: 0 }), frame('', { opcode: 8 })], 0],
  ])('%s', async (_, pieces, code) => {
    const bytes = await exchangeBytes(server.port, [handshake(), ...pieces()], (heard) => closeCode(heard) !== null);
    expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
    expect(closeCode(bytes)).toBe(code);
  });

  test('text that is not a frame, after the registry, is rejected, and the session continues', async () => {
    const request = '@raw>req:echo{q:1}[mid:r2,seq:2]';
    const pieces = [handshake(), frame(hello()), frame('hello'), frame(request)];
    const bytes = await exchangeBytes(server.port, pieces, (heard) => heard.includes('>done:echo'));
    expect(bytes.includes('E1001')).toBe(true);
  });

  test.each<[string, () => Uint8Array]>([
    ['in its header', () => frame(hello()).subarray(0, 1)],
    ['in its mask', () => frame(hello()).subarray(0, 4)],
    ['in its payload', () => frame(hello()).subarray(0, 20)],
    ['between its fragments', () => frame(hello().slice(0, 10), { bits: 0 })],
  ])('half a message, which ends %s', async (_, half) => {
    const before = await server.figures();
    await endWith(server.port, handshake(), half());
    expect((await server.figures()).connected).toBe(before.connected);
  });

  test('any bytes at all, before or after the registry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), fc.boolean(), async (bytes, isGreeted) => {
        await endWith(server.port, handshake(), isGreeted ? frame(hello()) : '', bytes);
        expect(server.isRunning()).toBe(true);
      }),
      runs(50),
    );
  });
});
