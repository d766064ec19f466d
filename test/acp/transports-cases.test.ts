/** The cases of conformance/acp over a socket: custom transports have the same rules as stdio. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConnection, type Listener, listenSocket } from '../../src/acp/index.js';
import type { RunResult } from './agent-process.js';
import { cases, expectedOf, minimalAgent, outputOf, piecesOf } from './cases.js';

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

/** Writes chunks one after the other, ends the output, and reads to the end. */
async function exchange(input: readonly Uint8Array[]): Promise<RunResult> {
  const socket = connect({ path: file, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', resolve).on('error', reject);
  });
  for (const chunk of input) await new Promise((resolve) => socket.write(chunk, resolve));
  socket.end();
  await ended;
  return { stdout: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)), stderr: '', code: 0 };
}

describe('over a Unix domain socket', () => {
  test.concurrent.each(cases)('$id: $name', async (one) => {
    const ran = await exchange(piecesOf(one));
    expect(outputOf(ran)).toEqual(expectedOf(one, ran));
  });
});
