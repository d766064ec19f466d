/** Processes that are killed in the middle of a message: the peer gets an error, survives, and serves others. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { HttpBindingError, postFrame, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { connectWebSocket, type Link, LinkError } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type MessageInput, type Session } from '../../../src/accp/codec/index.js';
import { type CompiledProgram, compileProgram } from '../../helpers/bundled-program.js';
import { FRAMES_SERVER, type ServerProcess, startFramesServer } from './programs/frames-server-process.js';
import { type RunningProgram, runProgram } from './programs/run-program.js';

const codec = createCodec();
const programs: CompiledProgram[] = [];
const running: RunningProgram[] = [];
const sessions: Session[] = [];
const links: Link[] = [];

beforeAll(async () => {
  for (const source of [FRAMES_SERVER, new URL('programs/dying-client.ts', import.meta.url)])
    programs.push(await compileProgram(source));
});
afterAll(() => {
  for (const program of programs) program.remove();
});
afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close()));
  await Promise.all(running.splice(0).map((program) => program.kill()));
  for (const session of sessions.splice(0)) session.close();
});

async function startServer(): Promise<ServerProcess> {
  const server = await startFramesServer(programs[0]!.file);
  running.push(server);
  return server;
}

function startClient(binding: string, url: string): RunningProgram {
  const client = runProgram(programs[1]!.file, [binding, url]);
  running.push(client);
  return client;
}

function newSession(): Session {
  const session = createSession({ agent: 'other', sequence: 'sender' });
  sessions.push(session);
  return session;
}

async function connect({ webSocketUrl }: ServerProcess): Promise<Link> {
  const link = await connectWebSocket(webSocketUrl, {
    ...{ codec, session: newSession(), WebSocket },
    reconnect: { minDelayMs: 10, maxDelayMs: 20, maxAttempts: 3 },
  });
  links.push(link);
  return link;
}

const ask = (operation: string): MessageInput => ({ intent: 'req', operation, payload: { n: 1 } });
const frameOf = (message: MessageInput): string => codec.encode(message, newSession()).frames[0]!;

/** A server that has lost its client still serves existing and new clients. */
async function proveAlive(server: ServerProcess, link: Link): Promise<void> {
  expect((await link.request(ask('echo'))).payload).toEqual({ n: 1 });
  expect((await (await connect(server)).request(ask('echo'))).payload).toEqual({ n: 1 });
  expect(await postFrame(server.httpUrl, frameOf(ask('echo')))).toMatch(/^@server>done:echo/);
  expect(server.isRunning()).toBe(true);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a client that is killed', () => {
  test('while it sends large messages over WebSocket', async () => {
    const server = await startServer();
    const link = await connect(server);
    const dying = startClient('websocket', server.webSocketUrl);
    expect(await dying.line()).toBe('answered 500000');
    await dying.kill();
    await until(async () => (await server.figures()).connected === 1);
    await proveAlive(server, link);
  });

  test('in the middle of a WebSocket message', async () => {
    const server = await startServer();
    const link = await connect(server);
    const dying = startClient('half-frame', server.webSocketUrl);
    expect(await dying.line()).toBe('half');
    expect((await server.figures()).connected).toBe(2);
    await dying.kill();
    await until(async () => (await server.figures()).connected === 1);
    await proveAlive(server, link);
  });

  test('in the middle of the body of a request', async () => {
    const server = await startServer();
    const link = await connect(server);
    const dying = startClient('http', server.httpUrl);
    expect(await dying.line()).toBe('half');
    await dying.kill();
    await proveAlive(server, link);
    // The partial message was not handled.
    expect((await server.figures()).handled).toBe(3);
  });
});

describe('a server that is killed', () => {
  test('in the middle of a stream over HTTP: the frames that arrived are returned, then the stream is truncated', async () => {
    const server = await startServer();
    const frames = streamFrames(server.httpUrl, frameOf(ask('trickle')))[Symbol.asyncIterator]();
    for (let n = 0; n < 3; n++) expect((await frames.next()).value).toContain('>stream:trickle{');
    await server.kill();
    const rest = async (): Promise<void> => {
      while ((await frames.next()).done !== true);
    };
    const error = await rest().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(HttpBindingError);
    expect(error).toMatchObject({ code: 'truncated', status: 200 });
  });

  test('before it has answered over HTTP: it is unreachable, and stays so', async () => {
    const server = await startServer();
    const answer = postFrame(server.httpUrl, frameOf(ask('hang'))).catch((thrown) => thrown);
    await until(async () => (await server.figures()).handled === 1);
    await server.kill();
    expect(await answer).toMatchObject({ name: 'HttpBindingError', code: 'unreachable' });
    const later = await postFrame(server.httpUrl, frameOf(ask('echo'))).catch((thrown) => thrown);
    expect(later).toMatchObject({ name: 'HttpBindingError', code: 'unreachable' });
  });

  test('in the middle of a stream over WebSocket: the stream, requests and the connection end with the same error', async () => {
    const server = await startServer();
    const link = await connect(server);
    const request = link.request(ask('hang')).catch((thrown) => thrown);
    const chunks = link.stream(ask('trickle'))[Symbol.asyncIterator]();
    for (let n = 0; n < 3; n++) expect((await chunks.next()).value).toMatchObject({ index: n, data: 'x' });
    await server.kill();
    const rest = async (): Promise<void> => {
      while ((await chunks.next()).done !== true);
    };
    const errors = await Promise.all([request, rest().catch((thrown) => thrown), link.closed]);
    for (const error of errors) {
      expect(error).toBeInstanceOf(LinkError);
      expect(error).toMatchObject({ code: 'unreachable' });
    }
    await expect(link.request(ask('echo'))).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('a client that leaves a stream over HTTP ends its source', async () => {
    const server = await startServer();
    for await (const _ of streamFrames(server.httpUrl, frameOf(ask('trickle')))) break;
    await until(async () => (await server.figures()).cancelled === 1);
  });
});
