/** The cases of conformance/acp over a socket: a custom transport keeps the messages and their rules as they are on stdio. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConnection, type Listener, listenSocket } from '../../src/acp/index.js';
import type { Ran } from './agent-process.js';
import { cases, expectedOf, minimalAgent, piecesOf, toldOf } from './cases.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-cases-'));
const file = path.join(folder, 'agent.sock');
let listener: Listener;
beforeAll(async () => {
  listener = await listenSocket(file, (channel) => createConnection(channel, { handlers: minimalAgent() }));
});
afterAll(async () => {
  await listener.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the pieces one after the other, ends what it says, and reads to the end. */
async function exchange(pieces: readonly Uint8Array[]): Promise<Ran> {
  const socket = connect({ path: file, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', resolve).on('error', reject);
  });
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
  socket.end();
  await ended;
  return { stdout: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)), stderr: '', code: 0 };
}

describe('over a Unix-domain socket', () => {
  test.concurrent.each(cases)('$id: $name', async (one) => {
    const ran = await exchange(piecesOf(one));
    expect(toldOf(ran)).toEqual(expectedOf(one, ran));
  });
});
