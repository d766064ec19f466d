/** A runtime and an ACCP peer, which the tests of all frameworks call. */
import * as z from 'zod';
import { connectHttp, createEndpoint, createHandler, type Link } from '../../src/accp/bindings/http/index.js';
import { AccpError, createCodec, createRegistry, createSession } from '../../src/accp/codec/index.js';
import { type Client, memoryChannels, openClient } from '../../src/arcp/client/index.js';
import { ArcpError } from '../../src/arcp/index.js';
import { createRuntime } from '../../src/arcp/runtime/index.js';

export interface Remote {
  readonly client: Client;
  readonly link: Link;
  readonly registry: ReturnType<typeof createRegistry>;
  /** The tools that ran, in order. */
  readonly calls: string[];
  /** Resolves when `wait` runs, on either side. */
  readonly waiting: () => Promise<void>;
  /** Resolves when the handler of `wait` was aborted, on either side. */
  readonly aborted: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startRemote(): Promise<Remote> {
  const calls: string[] = [];
  let [startWait, endWait] = [() => {}, () => {}];
  let [waiting, aborted] = [Promise.resolve(), Promise.resolve()];
  const rearm = (): void => {
    waiting = new Promise((resolve) => (startWait = resolve));
    aborted = new Promise((resolve) => (endWait = resolve));
  };
  rearm();
  const wait = (signal: AbortSignal): Promise<never> => {
    startWait();
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        endWait();
        reject(signal.reason);
      });
    });
  };

  const runtime = createRuntime()
    .tool('add', { description: 'Adds two numbers', input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => {
      calls.push('add');
      return a + b;
    })
    .tool('ingest', { durable: true }, async (_, { progress }) => {
      for (const percent of [50, 100]) await progress({ percent, message: `${percent} %` });
      return {
        rows: [
          { id: 1, name: 'Ann Lee' },
          { id: 2, name: 'Bo' },
        ],
      };
    })
    .tool('order.find', { input: z.object({ id: z.number() }) }, ({ id }) => {
      throw new ArcpError('NOT_FOUND', `There is no order ${id}`, { details: { id } });
    })
    .tool('bigint', {}, () => ({ id: 90071992547409931n }))
    .tool('wait', { durable: true }, (_, { signal }) => wait(signal));
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  });

  const registry = createRegistry({
    schemas: {
      sales_report: {
        ...{
          code: 'SR',
          version: 1,
          fields: ['region', 'amount', 'currency'],
          operations: ['analyze', 'review', 'wait'],
        },
        types: { region: 'string', amount: 'decimal', currency: 'string' },
        defaults: { currency: 'EUR' },
      },
    },
  });
  const endpoint = createEndpoint({
    codec: createCodec({ registry }),
    agent: 'sales',
    handle: async ({ intent, operation, payload }, { signal }) => {
      if (intent !== 'req') return null;
      calls.push(operation);
      if (operation === 'wait') return wait(signal);
      if (operation === 'review') throw new AccpError({ code: 'E2001', message: 'The report is unknown.' });
      const { region, amount, currency } = payload;
      return {
        intent: 'done',
        operation,
        schema: 'SR',
        payload: { region: region!, amount: Number(amount) * 2, currency: currency! },
      };
    },
  });
  const handle = createHandler(endpoint);
  const session = createSession({ agent: 'assistant', sequence: 'sender' });
  const link = await connectHttp('http://sales.example/accp/v1/frames', {
    ...{ codec: createCodec({ registry }), session },
    fetch: async (input, init) => handle(new Request(input as string, init as RequestInit)),
  });

  return {
    ...{ client, link, registry, calls },
    waiting: () => waiting,
    aborted: async () => {
      await aborted;
      rearm();
    },
    close: async () => {
      await link.close();
      session.close();
      endpoint.close();
      await client.close();
      await runtime.close();
    },
  };
}
