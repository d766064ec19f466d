/** Several agents, one incident: `npx tsx test/examples/incident-response.ts`. */
import { run, type Scenario } from './arcp/stage.js';

export const scenario: Scenario = {
  title: 'Incident response',
  story:
    'A coordinator gives two agents the same incident. They share what they find; then the coordinator hands over to whoever is on call, ' +
    'who may roll back once that was approved. All of it is one trace.',
  setUp: (runtime) => {
    runtime
      .agent('metrics-agent', { description: 'Reads metrics' }, async (_, { metric, shared }) => {
        await metric({ name: 'checkout.errors', value: 0.31, unit: '' });
        await shared.set('errors', 'up from 0.01 to 0.31 at 21:04');
        return 'The error rate has risen.';
      })
      .agent('deploy-agent', { description: 'Knows what was deployed' }, async (_, { shared, log }) => {
        await log('info', 'checkout 1.9.0 was deployed at 21:03');
        await shared.set('suspect', 'checkout 1.9.0');
        return 'There was a deployment right before.';
      })
      .agent(
        'on-call',
        { description: 'Acts', permissions: ['deploy.rollback'] },
        async (_, { shared, permission, step, handoff }) => {
          const lease = await permission({
            ...{ permission: 'deploy.rollback', resource: 'service:checkout', operation: 'rollback' },
            ...{ reason: `${handoff?.reason}; suspect: ${await shared.get('suspect')}`, risk: 'high' },
          });
          return step('rollback', async () => {
            await lease.use();
            return { rolledBack: 'checkout 1.9.0' };
          });
        },
      )
      .agent('coordinator', { description: 'Leads' }, async ({ task }, { delegate, handOff, checkpoint, restored }) => {
        if (restored === undefined) {
          for (const agent of ['metrics-agent', 'deploy-agent']) await (await delegate(agent, task)).result();
          await checkpoint({ looked: true }, { label: 'findings are in' });
        }
        return handOff('on-call', { reason: 'A rollback is needed' });
      });
  },
  play: async (stage) => {
    const client = await stage.connect({
      onPermission: ({ payload }) => {
        stage.say(`The engineer on duty reads: ${payload.reason}. Approved.`);
        return { decision: 'grant', granted_by: 'engineer', max_uses: 1 };
      },
    });
    stage.say('An alert comes in.');
    const incident = client.delegate('coordinator', 'checkout fails for a third of all customers');
    const result = await incident.result();
    stage.say(`It is over: ${JSON.stringify(result)}`);
    await client.close();
  },
};

await run(scenario, import.meta.url);
