/** Readers that read nothing: the sender's memory stays small, and all data arrives once they read. Each sender is a process of its own. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FRAME_TYPE, FrameSplitter, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { connectWebSocket } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type MessageInput, type Session } from '../../../src/accp/codec/index.js';
import { bundledProgram, type CompiledProgram, compileProgram } from '../../helpers/bundled-program.js';
import { floodAgent } from './programs/flooded-agent.js';
import { FRAMES_SERVER, type ServerProcess, startFramesServer } from './programs/frames-server-process.js';
import { megabytes } from './programs/measure-connections.js';

/** 200 MB in total, in chunks that fit into a frame. */
const CHUNKS = 200_000;
const CHUNK_BYTES = 1000;
/** Number of chunks that are read after the sender has stopped. */
const READ = 1000;
/** Chunks of an earlier stream, so that one-time allocations are not counted. */
const WARM_UP = 1000;
/** 100 MB in total. */
const REQUESTS = 12_500;
const REQUEST_BYTES = 8000;
/** Chunks of a stream without back-pressure. */
const FAST = 1500;
/** Limit of the memory that the sender may use for them. */
const MOST = 64 * 1_048_576;
/** Milliseconds without progress after which the sender counts as stopped. */
const STILL = 150;

let program: CompiledProgram | undefined;
let server: ServerProcess;
const sessions: Session[] = [];
beforeAll(async () => {
  program = await compileProgram(FRAMES_SERVER);
});
afterAll(() => program?.remove());
afterEach(async () => {
  await server?.kill();
  for (const session of sessions.splice(0)) session.close();
});

const codec = createCodec();

function newSession(): Session {
  const session = createSession({ agent: 'reader', sequence: 'sender' });
  sessions.push(session);
  return session;
}

const flood = (count: number): MessageInput => ({
  ...{ intent: 'req', operation: 'flood' },
  payload: { count, size: CHUNK_BYTES },
});

/** Waits until no more chunks are made. @returns the total number of chunks */
async function standstill(): Promise<number> {
  const { produced: first } = await server.figures();
  for (let before = first; ; ) {
    await new Promise((resolve) => setTimeout(resolve, STILL));
    const { produced } = await server.figures();
    if (produced === before && produced > WARM_UP) return produced;
    before = produced;
  }
}

/** Checks the order of chunks. @returns a function that takes a frame and returns the number of chunks so far */
function inTurn(): (frame: string) => number {
  let chunks = 0;
  return (frame) => {
    const [, index, data] = /\{idx:(\d+)\|d:(x+)/.exec(frame) ?? [];
    if (index === undefined) return chunks;
    if (Number(index) !== chunks || data!.length !== CHUNK_BYTES) throw new Error(`chunk ${index} came for ${chunks}`);
    return ++chunks;
  };
}

describe('200 MB of a stream for a reader that reads nothing', () => {
  test('over WebSocket', async () => {
    server = await startFramesServer(program!.file);
    const socket = new WebSocket(server.webSocketUrl, 'accp');
    const link = await connectWebSocket(() => socket, { codec, session: newSession(), reconnect: false });
    for await (const _ of link.stream(flood(WARM_UP)));
    const { peak: before } = await server.figures();
    const chunks = link.stream(flood(CHUNKS))[Symbol.asyncIterator]();
    const started = chunks.next();
    socket.pause();
    const produced = await standstill();
    const { peak: waiting } = await server.figures();
    socket.resume();
    await started;
    let next = 1;
    while (next < READ) {
      const { value } = await chunks.next();
      if (value?.index !== next++ || String(value.data).length !== CHUNK_BYTES)
        throw new Error(`not chunk ${next - 1}`);
    }
    socket.terminate();
    await link.close();
    await prove('WebSocket', { before, waiting, produced });
  });

  test('over HTTP', async () => {
    server = await startFramesServer(program!.file);
    const session = newSession();
    const ask = async (count: number): Promise<IncomingMessage> => {
      const headers = { 'content-type': FRAME_TYPE };
      const sent = request(server.httpUrl, { method: 'POST', headers, agent: false });
      sent.end(codec.encode(flood(count), session).frames[0]!);
      const [response] = await once(sent, 'response');
      return response as IncomingMessage;
    };
    const read = async (response: IncomingMessage, count: number): Promise<void> => {
      const take = inTurn();
      const splitter = new FrameSplitter({});
      for await (const bytes of response)
        for (const frame of splitter.push(bytes as Uint8Array)) if (take(frame) === count) return;
    };
    await read(await ask(WARM_UP), WARM_UP);
    const { peak: before } = await server.figures();
    const response = await ask(CHUNKS);
    const produced = await standstill();
    const { peak: waiting } = await server.figures();
    // Leaving the loop destroys the response.
    await read(response, READ);
    await prove('HTTP', { before, waiting, produced });
  });
});

describe('a stream that is read as fast as it is made', () => {
  const session = (): Session => newSession();

  test.each([
    [
      'over WebSocket',
      async () => {
        const socket = new WebSocket(server.webSocketUrl, 'accp');
        const link = await connectWebSocket(() => socket, { codec, session: session(), reconnect: false });
        for await (const _ of link.stream(flood(FAST)));
        await link.close();
      },
    ],
    [
      'over HTTP',
      async () => {
        for await (const _ of streamFrames(server.httpUrl, codec.encode(flood(FAST), session()).frames[0]!));
      },
    ],
  ])('does not starve other clients %s', async (_, read) => {
    server = await startFramesServer(program!.file);
    let isRead = false;
    const reading = read().then(() => {
      isRead = true;
    });
    const seen = new Set<number>();
    while (!isRead) seen.add((await server.figures()).produced);
    await reading;
    // Answers from the middle of the stream.
    expect([...seen].filter((produced) => produced > 0 && produced < FAST).length).toBeGreaterThan(3);
  });
});

describe('100 MB of requests from a client that reads no answers', () => {
  const agent = bundledProgram(new URL('../../fixtures/minimal-agent.mjs', import.meta.url));

  // Other systems do not report the peak memory of another process.
  test.skipIf(process.platform !== 'linux')(
    'the agent stops reading, and answers all requests once the client reads',
    async () => {
      const flooded = await floodAgent(agent());
      try {
        const warm = flooded.flood(1000, CHUNK_BYTES);
        await flooded.read(1000);
        await warm;
        const before = flooded.peak();
        const earlier = flooded.accepted();
        const flood = flooded.flood(REQUESTS, REQUEST_BYTES);
        let accepted = 0;
        for (let last = -1; last !== accepted || accepted === 0; ) {
          last = accepted;
          await new Promise((resolve) => setTimeout(resolve, 2 * STILL));
          accepted = flooded.accepted() - earlier;
        }
        const waiting = flooded.peak();
        await Promise.all([flood, flooded.read(REQUESTS)]);
        const peak = flooded.peak();
        console.log(
          `JSON-RPC: an agent of ${megabytes(before)} took ${megabytes(waiting - before)} more while nothing was read`,
          `(${megabytes(accepted)} were taken), and ${megabytes(peak - before)} when all was`,
        );
        // Up to 64 MiB of answers may wait (maxBacklog); beyond, requests are not read.
        expect(accepted).toBeLessThan(80 * 1_048_576);
        expect(peak - before).toBeLessThan(5 * MOST);
      } finally {
        await flooded.close();
      }
    },
  );
});

/** The sender has used little memory, and makes no more chunks for a reader that has disconnected. */
async function prove(
  name: string,
  { before, waiting, produced }: { readonly before: number; readonly waiting: number; readonly produced: number },
): Promise<void> {
  const { peak, produced: all } = await server.figures();
  console.log(
    `${name}: a server of ${megabytes(before)} took ${megabytes(waiting - before)} more while nothing was read`,
    `(${produced - WARM_UP} of ${CHUNKS} chunks made), and ${megabytes(peak - before)} when ${READ} chunks were`,
  );
  expect(produced).toBeLessThan(CHUNKS / 4);
  expect(waiting - before).toBeLessThan(MOST);
  expect(all).toBeLessThan(CHUNKS / 2);
}
