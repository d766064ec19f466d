import { fork } from 'node:child_process';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { dialOf, openClient } from 'pegwire/arcp/client';
import { postgresStore } from 'pegwire/arcp/postgres';
import { createRuntime, listenWebSocket, sqliteStore } from 'pegwire/arcp/runtime';

const [database = 'incident.db', name] = process.argv.slice(2);
const say = (who, text) => console.log(`${who.padEnd(6)}  ${text}`);
await (name === undefined ? respond() : serve());

/** A runtime, in a process of its own. Both have the same agents; only west runs those in the queue evidence. */
async function serve() {
  const store = await (database.startsWith('postgres:') ? postgresStore(database) : sqliteStore(database));
  const queues = name === 'east' ? ['default'] : ['default', 'evidence'];
  const runtime = createRuntime({ store, name, workers: { queues, leaseMs: 2000 } })
    .agent('coordinator', {}, async ({ task }, { attempt, delegate, handOff }) => {
      say(name, `coordinator, attempt ${attempt}`);
      for (const agent of ['metrics-agent', 'deploy-agent']) await (await delegate(agent, task)).result();
      return handOff('on-call', { reason: 'A rollback is needed' });
    })
    .agent('metrics-agent', { queue: 'evidence' }, async (_, { attempt, metric }) => {
      say(name, `metrics-agent, attempt ${attempt}`);
      await metric({ name: 'checkout.errors', value: 0.31 });
      await pause(1000);
    })
    .agent('deploy-agent', { queue: 'evidence' }, async (_, { attempt, shared }) => {
      say(name, `deploy-agent, attempt ${attempt}`);
      await shared.set('suspect', 'checkout 1.9.0');
    })
    .agent(
      'on-call',
      { permissions: ['deploy.rollback'] },
      async (_, { attempt, handoff, permission, shared, step }) => {
        say(name, `on-call, attempt ${attempt}`);
        const suspect = await shared.get('suspect');
        const lease = await permission({
          permission: 'deploy.rollback',
          reason: `${handoff.reason}; suspect: ${suspect}`,
        });
        return step('rollback', async () => {
          await lease.use();
          say(name, `rolls back ${suspect}`);
          return { rolledBack: suspect };
        });
      },
    );
  const { url } = await listenWebSocket(runtime, { port: 0 });
  runtime.start();
  process.send(url);
  process.on('disconnect', () => process.exit());
}

/** The client: it connects to the runtimes in turn, and kills the first one as soon as the metrics are known. */
async function respond() {
  const [urls, runtimes] = [[], {}];
  const start = async (runtime) => {
    runtimes[runtime] = fork(process.argv[1], [database, runtime]);
    urls.push(await new Promise((resolve) => runtimes[runtime].once('message', resolve)));
  };
  let connections = 0;
  const dial = () => dialOf(urls[connections++ % urls.length])();
  await start('east');
  const client = await openClient(dial, {
    onMessage: ({ type, payload }) => {
      if (type === 'job.started' && runtimes.west === undefined) start('west');
      if (type !== 'metric' || payload.name !== 'checkout.errors') return;
      say('client', 'kill -9 east');
      runtimes.east.kill('SIGKILL');
    },
    onPermission: ({ payload: { reason } }) => {
      say('client', `approves: ${reason}`);
      return { decision: 'grant', max_uses: 1 };
    },
  });
  say('client', 'checkout fails for a third of all customers');
  const result = await client.delegate('coordinator', 'checkout fails').result();
  say('client', `it is over: ${JSON.stringify(result)}`);
  await client.close();
  process.exit();
}
