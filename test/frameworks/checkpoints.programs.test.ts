/** The checkpoint saver, by the conformance suite of LangGraph, and across processes that are killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { validate } from '@langchain/langgraph-checkpoint-validation';
import * as vitest from 'vitest';
import { memoryStore } from '../../src/accp/codec/index.js';
import { type SqliteStore, sqliteStore } from '../../src/accp/store/sqlite.js';
import { checkpointSaver } from '../../src/frameworks/langgraph.js';
import { bundledProgram } from '../helpers/bundled-program.js';
import { ended, start } from '../helpers/child.js';

const { afterAll, describe, expect, test } = vitest;
// The suite of LangGraph expects the functions of its test runner to be global.
Object.assign(globalThis, vitest);

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-checkpoints-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => path.join(folder, `${files++}.db`);

validate({ checkpointerName: 'a store in memory', createCheckpointer: () => checkpointSaver(memoryStore()) });

let open: SqliteStore | undefined;
validate({
  checkpointerName: 'a store in a file',
  createCheckpointer: async () => {
    open = await sqliteStore(newFile());
    return checkpointSaver(open);
  },
  destroyCheckpointer: () => open?.close(),
});

/** A graph with branches that run at the same time, and a reducer whose result depends on their order. */
function branches(checkpointer: BaseCheckpointSaver) {
  const State = Annotation.Root({
    words: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  });
  return new StateGraph(State)
    .addNode('left', () => ({ words: ['left'] }))
    .addNode('right', () => ({ words: ['right'] }))
    .addNode('join', ({ words }) => ({ words: [words.join('+')] }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge(['left', 'right'], 'join')
    .addEdge('join', END)
    .compile({ checkpointer });
}

/** The history of two turns, without what differs between any two runs. */
async function historyOf(checkpointer: BaseCheckpointSaver) {
  const graph = branches(checkpointer);
  const config = { configurable: { thread_id: 't' } };
  for (const word of ['one', 'two']) await graph.invoke({ words: [word] }, config);
  const states = [];
  for await (const { values, next, metadata, parentConfig, tasks } of graph.getStateHistory(config)) {
    states.push({
      values,
      next,
      metadata: { ...metadata, thread_id: '' },
      hasParent: parentConfig !== undefined,
      tasks: tasks.map(({ name }) => name),
    });
  }
  return states;
}

test('a graph has the same history as with the saver of LangGraph', async () => {
  const store = await sqliteStore(newFile());
  const history = await historyOf(await checkpointSaver(store));
  store.close();
  expect(history.length).toBeGreaterThan(6);
  expect(history).toEqual(await historyOf(new MemorySaver()));
});

test('the work of a step does not grow with the length of a thread', async () => {
  const store = memoryStore();
  let read = 0;
  const counting = {
    ...store,
    claim: (session: string, agent: string) => {
      const data = store.claim(session, agent);
      return {
        ...data,
        *entries() {
          for (const entry of data.entries()) {
            read += 1;
            yield entry;
          }
        },
      };
    },
  };
  const saver = await checkpointSaver(counting);
  let config: RunnableConfig = { configurable: { thread_id: 't' } };
  const step = async (n: number): Promise<number> => {
    read = 0;
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(n), channel_values: { n }, channel_versions: { n } };
    config = await saver.put(config, checkpoint, { source: 'loop', step: n, parents: {} }, { n });
    await saver.putWrites(config, [['n', n]], 'task');
    const latest = await saver.getTuple({ configurable: { thread_id: 't' } });
    expect(latest?.checkpoint.channel_values).toEqual({ n });
    return read;
  };
  const counts: number[] = [];
  for (let n = 1; n <= 100; n++) counts.push(await step(n));
  expect(counts[99]).toBe(counts[9]);
});

test('a graph continues from an earlier checkpoint', async () => {
  const graph = branches(await checkpointSaver(memoryStore()));
  const config = { configurable: { thread_id: 't' } };
  await graph.invoke({ words: ['one'] }, config);
  const states = [];
  for await (const state of graph.getStateHistory(config)) states.push(state);
  // The state before the last step.
  const { words } = await graph.invoke(null, states[1]!.config);
  expect(words.at(-1)).toBe('one+left+right');
});

describe('two processes on one file', () => {
  const program = bundledProgram(new URL('approval-program.ts', import.meta.url));
  const run = (...args: readonly string[]) => ended(start([process.execPath, program(), ...args], { stdin: '' }));

  test('the second resumes at the interrupt at which the first was killed', async () => {
    const file = newFile();
    // It ends by SIGKILL after the interrupt.
    expect(await run(file, 'ask')).toMatchObject({ stdout: 'prepared refund of 30\n' });
    const second = await run(file, 'approve');
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toBe('waits: {"question":"Refund 30?"}\npaid 30 after yes\n');
    const third = await run(file, 'show');
    expect(third.stdout).toBe('next: none; {"amount":30,"log":["prepared","approved: yes","paid"]}\n');
  });

  test('both write to one thread, and lose nothing', async () => {
    const file = newFile();
    const ends = await Promise.all(['a', 'b', 'c'].map((name) => run(file, 'write', name)));
    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(ends.map(() => ({ code: 0, stderr: '' })));
    const store = await sqliteStore(file);
    const saver = await checkpointSaver(store);
    const sources: unknown[] = [];
    for await (const { metadata, pendingWrites } of saver.list({ configurable: { thread_id: 'shared' } })) {
      sources.push((metadata as unknown as { readonly by: string }).by);
      expect(pendingWrites).toHaveLength(1);
    }
    store.close();
    expect(sources.toSorted()).toEqual(['a', 'b', 'c'].flatMap((name) => Array.from({ length: 20 }, () => name)));
  });
});

test('threads with unusual names stay apart, and are deleted alone', async () => {
  const store = await sqliteStore(newFile());
  const saver = await checkpointSaver(store);
  const names = ['__proto__', 'a:b', 'a', 'index', 'zero\0byte', '\ud800', 'Zoë 😀'];
  const put = (thread_id: string) =>
    saver.put(
      { configurable: { thread_id } },
      { ...emptyCheckpoint(), id: uuid6(0), channel_values: { name: thread_id.length } },
      { source: 'input', step: -1, parents: {} },
      {},
    );
  for (const name of names) await put(name);
  await saver.deleteThread('a:b');
  expect(await saver.getTuple({ configurable: { thread_id: 'a:b' } })).toBeUndefined();
  const listed: unknown[] = [];
  for await (const { config } of saver.list({})) listed.push(config.configurable?.['thread_id']);
  expect(listed.toSorted()).toEqual(names.filter((name) => name !== 'a:b').toSorted());
  store.close();
});

test('refuses a configuration without a thread, with a code', async () => {
  const saver = await checkpointSaver(memoryStore());
  const checkpoint = emptyCheckpoint();
  await expect(saver.put({}, checkpoint, { source: 'input', step: -1, parents: {} }, {})).rejects.toMatchObject({
    name: 'FrameworkError',
    code: 'no-thread',
  });
  await expect(saver.putWrites({ configurable: { thread_id: 't' } }, [], 'task')).rejects.toMatchObject({
    code: 'no-thread',
  });
});

test('reports a closed store', async () => {
  const store = memoryStore();
  const saver = await checkpointSaver(store);
  store.close();
  await expect(saver.getTuple({ configurable: { thread_id: 't' } })).rejects.toMatchObject({ code: 'store-closed' });
});

test('a namespace keeps its threads from others, whatever their ids are, and a thread can be the number 0', async () => {
  const store = memoryStore();
  const one = branches(await checkpointSaver(store, { namespace: 'a' }));
  const other = branches(await checkpointSaver(store, { namespace: 'a:b' }));
  await one.invoke({ words: ['secret'] }, { configurable: { thread_id: 'b:c' } });
  expect((await other.getState({ configurable: { thread_id: 'c' } })).values).toEqual({});
  await (await checkpointSaver(store, { namespace: 'a:b' })).deleteThread('c');
  const wordsOf = async (thread_id: unknown): Promise<string[]> =>
    ((await one.getState({ configurable: { thread_id } })).values as { words: string[] }).words;
  expect((await wordsOf('b:c'))[0]).toBe('secret');
  await one.invoke({ words: ['zero'] }, { configurable: { thread_id: 0 } });
  expect((await wordsOf(0))[0]).toBe('zero');
});
