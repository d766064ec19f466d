/** A graph that waits for an approval, in a process of its own: `FILE ask|approve|show`, or `FILE write NAME`. */
import process from 'node:process';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { sqliteStore } from '../../src/accp/store/sqlite.js';
import { checkpointSaver } from '../../src/frameworks/langgraph.js';

const [file = '', step, name = ''] = process.argv.slice(2);
const store = await sqliteStore(file);
const checkpointer = await checkpointSaver(store);

const State = Annotation.Root({
  amount: Annotation<number>,
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});
const graph = new StateGraph(State)
  .addNode('prepare', ({ amount }) => {
    console.log(`prepared refund of ${amount}`);
    return { log: ['prepared'] };
  })
  .addNode('approve', ({ amount }) => ({ log: [`approved: ${interrupt({ question: `Refund ${amount}?` })}`] }))
  .addNode('pay', ({ amount, log }) => {
    console.log(`paid ${amount} after ${log.at(-1)?.slice('approved: '.length)}`);
    return { log: ['paid'] };
  })
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'approve')
  .addEdge('approve', 'pay')
  .addEdge('pay', END)
  .compile({ checkpointer });
const config = { configurable: { thread_id: 'refund' } };

if (step === 'ask') {
  await graph.invoke({ amount: 30 }, config);
  process.kill(process.pid, 'SIGKILL');
} else if (step === 'approve') {
  const { tasks } = await graph.getState(config);
  console.log(`waits: ${JSON.stringify(tasks[0]?.interrupts[0]?.value)}`);
  await graph.invoke(new Command({ resume: 'yes' }), config);
} else if (step === 'show') {
  const { values, next } = await graph.getState(config);
  console.log(`next: ${next.join() || 'none'}; ${JSON.stringify(values)}`);
} else {
  for (let n = 0; n < 20; n++) {
    const metadata = { source: 'loop' as const, step: n, parents: {}, by: name };
    const put = await checkpointer.put(
      { configurable: { thread_id: 'shared' } },
      { ...emptyCheckpoint(), id: uuid6(n) },
      metadata,
      {},
    );
    await checkpointer.putWrites(put, [['log', [name, n]]], `task-${name}`);
  }
}
store.close();
