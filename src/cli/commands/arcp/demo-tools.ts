/** Demo tools, without side effects. */
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { Runtime } from '../../../arcp/runtime/index.js';

const count = z.object({ to: z.int().min(1).max(100_000).default(5), ms: z.int().min(0).max(60_000).default(200) });

/** Adds the demo tools, agent and workflow to a runtime. */
export function addDemoTools(runtime: Runtime): Runtime {
  return runtime
    .tool('echo', { description: 'Returns its arguments', isPublic: true }, (input) => input)
    .tool(
      'add',
      { description: 'Adds two numbers', isPublic: true, input: z.object({ a: z.number(), b: z.number() }) },
      ({ a, b }) => a + b,
    )
    .tool(
      'count',
      {
        description: 'Counts, one number at a time; continues from its last checkpoint if it is restarted',
        durable: true,
        input: count,
      },
      async ({ to, ms }, { restored, progress, stream, checkpoint, signal }) => {
        const out = stream({ kind: 'text', name: 'numbers' });
        for (let n = Number(restored ?? 0) + 1; n <= to; n++) {
          await pause(ms, undefined, { signal });
          await out.write(`${n}\n`);
          await progress({ percent: Math.round((100 * n) / to), current: n, total: to });
          await checkpoint(n);
        }
        await out.close();
        return { counted: to };
      },
    )
    .tool(
      'refund',
      {
        ...{ description: 'Refunds an order if permission is granted', durable: true },
        ...{ permissions: ['payment.refund.create'], input: z.object({ order: z.string().min(1) }) },
      },
      async ({ order }, { permission, step, log }) => {
        await log('info', `Looking up ${order}`);
        const lease = await permission({
          ...{ permission: 'payment.refund.create', resource: `order:${order}`, operation: 'refund' },
          ...{ reason: 'Issue a refund', leaseMs: 300_000 },
        });
        return step('refund', async (operationKey) => {
          await lease.use();
          return { refunded: order, operation: operationKey };
        });
      },
    )
    .agent('writer', { description: 'Writes about its task' }, async ({ task }, { stream }) => {
      const out = stream({ kind: 'text', name: 'draft' });
      for (const word of `This is a draft about "${task}".`.split(' ')) await out.write(`${word} `);
      await out.close();
      return `A draft about ${task}`;
    })
    .workflow('tour', { description: 'Calls, counts and delegates' }, async (_, { call, delegate, progress }) => {
      const sum = await call('add', { a: 2, b: 3 });
      await progress({ percent: 50, message: 'Halfway' });
      const draft = await (await delegate('writer', 'the number five')).result();
      return { sum, draft };
    });
}
