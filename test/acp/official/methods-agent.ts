/** The minimal agent, with the official SDK's `agent()` on our transport. */
import process from 'node:process';
import { agent } from '@agentclientprotocol/sdk';
import { byteChannel, toStream } from '../../../src/acp/index.js';

const parser = { parse: (params: unknown) => params };
let notes = 0;

agent({ name: 'methods' })
  .onRequest('echo', parser, ({ params }) => params)
  .onRequest('fail', parser, () => {
    throw new Error('failed on purpose');
  })
  .onRequest('sleep', parser, async ({ params }) => {
    const { ms } = params as { ms: number };
    return new Promise((resolve) => setTimeout(resolve, ms, ms));
  })
  .onRequest('log', parser, ({ params }) => {
    process.stderr.write(`${JSON.stringify(params)}\n`);
  })
  .onNotification('note', parser, () => {
    notes++;
  })
  .onNotification('fail', parser, () => {
    throw new Error('failed on purpose');
  })
  .onNotification('sleep', parser, async ({ params }) => {
    const { ms } = params as { ms: number };
    await new Promise((resolve) => setTimeout(resolve, ms));
  })
  .onRequest('notes', parser, () => notes)
  .connect(toStream(byteChannel(process.stdin, process.stdout)));
