/** Agents that answer `echo` with its params: a bare loop, ours, and those of the official SDK. */

import { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { agent, ndJsonStream } from '@agentclientprotocol/sdk';
import { createConnection, toStream } from '../../src/acp/portable.js';
import { byteChannel } from '../../src/channels/node/byte-channel.js';
import { createPipe, type Pipe } from './pipe.js';

export const BARE = 'bare loop';
export const PEGWIRE = 'pegwire connection';
export const ON_OURS = 'official agent() on our transport';
export const OFFICIAL = 'official SDK';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

/** Lines, `JSON.parse`, a lookup in a Map, `JSON.stringify`. It checks nothing and does not support arrays. */
function bareLoop(): Pipe {
  const pipe = createPipe();
  const handlers = new Map([['echo', async (params: unknown) => params]]);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const answer = async ({ id, method, params }: Request): Promise<void> => {
    const result = await handlers.get(method)!(params);
    pipe.output.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  };
  pipe.input.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop()!;
    for (const line of lines) void answer(JSON.parse(line) as Request);
  });
  return pipe;
}

function ours(): Pipe {
  const pipe = createPipe();
  createConnection(byteChannel(pipe.input, pipe.output), { handlers: { echo: (params) => params } });
  return pipe;
}

const parser = { parse: (params: unknown) => params };

function onOurs(): Pipe {
  const pipe = createPipe();
  const stream = toStream(byteChannel(pipe.input, pipe.output));
  agent({ name: 'echo' })
    .onRequest('echo', parser, ({ params }) => params)
    .connect(stream as never);
  return pipe;
}

function official(): Pipe {
  const pipe = createPipe();
  const output = Writable.toWeb(pipe.output) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(pipe.input) as ReadableStream<Uint8Array>;
  agent({ name: 'echo' })
    .onRequest('echo', parser, ({ params }) => params)
    .connect(ndJsonStream(output, input));
  return pipe;
}

export interface Agent {
  readonly name: string;
  readonly open: () => Pipe;
  readonly takesBatches: boolean;
}

export const AGENTS: readonly Agent[] = [
  { name: BARE, open: bareLoop, takesBatches: false },
  { name: PEGWIRE, open: ours, takesBatches: true },
  { name: ON_OURS, open: onOurs, takesBatches: true },
  { name: OFFICIAL, open: official, takesBatches: false },
];
