/** The cases of conformance/acp, with the relay of `pegwire acp run` in front of the agent. */
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { byteChannel, createConnection, memoryChannels } from '../../../../src/acp/index.js';
import { Relay } from '../../../../src/cli/commands/acp/relay.js';
import { type Case, cases, expectedOf, minimalAgent, outputOf, piecesOf, sorted } from '../../../acp/cases.js';

/** Runs a case with the client on byte streams, and the agent in memory. */
async function relayed(one: Case, batches: 'split' | 'pass'): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = byteChannel(input, output);
  const [near, far] = memoryChannels();
  createConnection(far, { handlers: minimalAgent() });
  const agentEnded = new Promise<void>((resolve) => {
    const relay = new Relay(client, near, {
      batches,
      onMessage: () => {},
      onRejected: () => {},
      onEnd: (side) => {
        if (side === 'agent') resolve();
        else void near.end();
      },
    });
    relay.start();
  });
  for (const piece of piecesOf(one)) await new Promise((resolve) => input.write(piece, resolve));
  input.end();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  await agentEnded;
  await client.end();
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

/** An agent that receives the entries of a batch one by one does not answer the notifications among them. */
const NEEDS_BATCHES = 'B25';

describe('an agent behind the relay', () => {
  test.concurrent.each(cases)('$id: $name', async (one) => {
    const stdout = await relayed(one, one.id === NEEDS_BATCHES ? 'pass' : 'split');
    const ran = { stdout, stderr: '', code: 0 };
    // The relay answers invalid messages itself, before the agent answers the others.
    expect(sorted(outputOf(ran))).toEqual(sorted(expectedOf(one, ran)));
  });
});
