/** A web page that follows a job of a runtime of another origin, over server-sent events. */
import { type Channel, connectEventStream, openClient } from '../../../src/arcp/client/portable.js';
import type { Envelope } from '../../../src/arcp/index.js';
import { runProgram } from '../../helpers/page-program.js';

export interface Parameters {
  /** The runtime, which loses connections. */
  readonly url: string;
  /** A runtime that does not list the origin of the page. */
  readonly unlisted: string;
  readonly token: string;
}

export interface Transcript {
  /** The numbers of connections that were tried, and of those that were opened. */
  readonly dials: number;
  readonly connections: number;
  readonly progress: readonly unknown[];
  readonly words: readonly unknown[];
  readonly result: unknown;
  /** The identifiers of all messages. */
  readonly ids: readonly string[];
  /** The code of the error with which the other runtime refuses the page. */
  readonly refusal: string;
}

await runProgram(async ({ url, unlisted, token }: Parameters): Promise<Transcript> => {
  let dials = 0;
  let connections = 0;
  const ids: string[] = [];
  const dial = async (): Promise<Channel> => {
    dials++;
    const channel = await connectEventStream(url, { protocol: 'arcp', token });
    connections++;
    return channel;
  };
  const client = await openClient(dial, {
    reconnect: { minDelayMs: 10, maxDelayMs: 100 },
    onMessage: ({ id }) => ids.push(id),
  });
  const job = client.invoke('count', { to: 30 });
  const progressed = (async () => {
    const values: unknown[] = [];
    for await (const message of job.events())
      if (message.type === 'job.progress') values.push((message as Envelope<'job.progress'>).payload.current);
    return values;
  })();
  const words: unknown[] = [];
  for await (const word of job.stream('words')) words.push(word);
  const result = await job.result();
  const progress = await progressed;
  await client.close();
  const refusal = await connectEventStream(unlisted, { protocol: 'arcp', token }).then(
    () => 'none',
    ({ code }: { readonly code: string }) => code,
  );
  return { dials, connections, progress, words, result, ids, refusal };
});
