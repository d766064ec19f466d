/** A refund that a person must approve: `npx tsx test/examples/customer-support-refund.ts`. */
import * as z from 'zod';
import { run, type Scenario } from './arcp/stage.js';

const ORDERS: Readonly<Record<string, { readonly customer: string; readonly total: number }>> = {
  ord_4812: { customer: 'Ada', total: 42 },
};

export const scenario: Scenario = {
  title: 'Customer support: a refund',
  story:
    'A support agent looks an order up and asks for a refund. The runtime may not pay by itself: it requests permission, waits for the grant, ' +
    'pays once, and informs the customer meanwhile.',
  setUp: (runtime) => {
    runtime
      .tool(
        'orders.lookup',
        { description: 'Looks an order up', input: z.object({ order: z.string() }) },
        ({ order }) => ORDERS[order],
      )
      .tool(
        'orders.refund',
        {
          ...{ description: 'Refunds an order', durable: true, permissions: ['payment.refund.create'] },
          input: z.object({ order: z.string(), amount: z.number() }),
        },
        async ({ order, amount }, { permission, step, stream }) => {
          const status = stream({ kind: 'text', name: 'customer' });
          await status.write(`We have received your request for a refund of ${amount} €.`);
          const lease = await permission({
            ...{ permission: 'payment.refund.create', resource: `order:${order}`, operation: 'refund' },
            ...{ reason: 'Issue a customer-approved refund', leaseMs: 300_000 },
          });
          const paid = await step('pay', async () => {
            await lease.use();
            return { refunded: order, amount };
          });
          await status.write(' It is on its way.');
          await status.close();
          return paid;
        },
      );
  },
  play: async (stage) => {
    const client = await stage.connect({
      onPermission: ({ payload }) => {
        stage.say(`A supervisor reads: ${payload.reason}, ${payload.resource}. She grants it for a minute.`);
        return { decision: 'grant', lease_seconds: 60, granted_by: 'supervisor' };
      },
    });
    stage.say('The agent looks the order up.');
    const order = await client.invoke<{ readonly total: number }>('orders.lookup', { order: 'ord_4812' }).result();
    stage.say('It asks for the refund.');
    const refund = client.invoke(
      'orders.refund',
      { order: 'ord_4812', amount: order.total },
      { operationKey: 'refund:ord_4812' },
    );
    await refund.result();
    stage.say('Asked for once more, by mistake: it was done before.');
    await client
      .invoke('orders.refund', { order: 'ord_4812', amount: order.total }, { operationKey: 'refund:ord_4812' })
      .result();
    await stage.answered();
    await client.close();
  },
};

await run(scenario, import.meta.url);
