/** Operations that meet: in one session, in two sessions of one store, and from within the tools of the host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CheckpointResult,
  type CodecOptions,
  createCodec,
  createSession,
  memoryStore,
  type Session,
  type SessionStore,
  StoreError,
} from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';

let folder: string;
let files = 0;
const fresh = (): string => path.join(folder, `${files++}.db`);
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pegwire-concurrent-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Step = 'encode' | 'checkpoint' | 'answer' | 'externalize' | 'tick';
const STEPS = fc.array(
  fc.record({
    who: fc.constantFrom<0 | 1>(0, 1),
    what: fc.constantFrom<Step>('encode', 'checkpoint', 'answer', 'externalize', 'tick'),
  }),
  { minLength: 4, maxLength: 30 },
);

/** Frames that cold state has of a checkpoint. */
function framesOf(session: Session, id: string): { agent: string; payload: { n: number } }[] {
  return (session.state.resolve(`cold.${id}`) as never as { frames: [] }).frames;
}

describe('concurrent operations of two sessions of one store', () => {
  test.each<[name: string, open: () => Promise<readonly [SessionStore, SessionStore]>]>([
    ['in memory', async () => ((store) => [store, store] as const)(memoryStore())],
    [
      'in one SQLite file, opened twice',
      async () => {
        const file = fresh();
        return [await sqliteStore(file), await sqliteStore(file)];
      },
    ],
  ])('happen once: %s', async (_, open) => {
    const stores = await open();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const id = `s${run++}`;
        const waiting: (() => void)[] = [];
        const codecs = [0, 1].map(() =>
          createCodec({
            checkpoints: 'manual',
            checkpointTools: {
              summarize: ({ frames }) =>
                new Promise<string>((resolve) => waiting.push(() => resolve(`${frames.length} frames`))),
            },
          }),
        );
        const sessions = stores.map((store, index) =>
          createSession({ agent: `a${index}`, id, store, sequence: 'sender' }),
        );
        const frames: string[] = [];
        const results: Promise<CheckpointResult>[] = [];
        const owners: number[] = [];
        const paths = new Set<string>();
        let sent = 0;
        for (const { who, what } of steps) {
          const session = sessions[who]!;
          if (what === 'encode') {
            const message = { intent: 'req', operation: 'x', payload: { n: sent++ } };
            frames.push(...codecs[who]!.encode(message, session).frames);
          } else if (what === 'checkpoint') {
            owners.push(who);
            results.push(codecs[who]!.checkpoint(session));
          } else if (what === 'answer') {
            waiting.shift()?.();
            await Promise.resolve();
          } else if (what === 'externalize') {
            paths.add(session.state.externalize('one large value '.repeat(10)));
          } else session.tick();
        }
        while (waiting.length > 0) {
          waiting.shift()!();
          await new Promise(setImmediate);
        }
        const finished = await Promise.all(results);
        // Numbers and identifiers are given once, checkpoints have names of their own, and equal values have one key.
        const heads = frames.map((frame) => /^@(a.).*\[mid:([^,]*),seq:([0-9]+)/.exec(frame)!.slice(1));
        expect(new Set(heads.map(([agent, , seq]) => `${agent} ${seq}`)).size).toBe(frames.length);
        expect(new Set(heads.map(([, mid]) => mid)).size).toBe(frames.length);
        expect(new Set(finished.map(({ id }) => id)).size).toBe(finished.length);
        expect(paths.size).toBeLessThanOrEqual(1);
        // Each message is in one checkpoint of its sender, or still in hot state.
        const kept: number[] = [];
        finished.forEach(({ id, summary }, index) => {
          const owner = owners[index]!;
          const raw = framesOf(sessions[owner]!, id);
          // With four in the hands of the tools, the oldest one is finished without them.
          if (summary.endsWith('frames')) expect(summary).toBe(`${raw.length} frames`);
          for (const { agent, payload } of raw) {
            expect(agent).toBe(`a${owner}`);
            kept.push(payload.n);
          }
        });
        expect(new Set(kept).size).toBe(kept.length);
      }),
      { numRuns: 20 },
    );
    for (const store of new Set(stores)) store.close();
  });
});

describe('a tool that works on a session while it makes a checkpoint', () => {
  const codecWith = (summarize: NonNullable<CodecOptions['checkpointTools']>['summarize']) =>
    createCodec({ checkpoints: 'manual', checkpointTools: { summarize } });
  const say = (n: number) => ({ intent: 'req', operation: 'x', payload: { n } });

  test('uses no identifier of a checkpoint of another session', async () => {
    const store = await sqliteStore(fresh());
    const [a, b] = ['a', 'b'].map((agent) => createSession({ agent, id: 's', store, sequence: 'sender' }));
    const plain = createCodec({ checkpoints: 'manual' });
    const inner: CheckpointResult[] = [];
    const codec = codecWith(() => {
      inner.push(b!.state.checkpoint('phase') as CheckpointResult);
      return 'short';
    });
    codec.encode(say(1), a!);
    plain.encode(say(2), b!);
    const { id } = await codec.checkpoint(a!);
    expect(inner.map((one) => one.id)).not.toContain(id);
    expect(framesOf(a!, id).map(({ agent }) => agent)).toEqual(['a']);
    expect(framesOf(b!, inner[0]!.id).map(({ agent }) => agent)).toEqual(['b']);
    store.close();
  });

  test('numbers its frames like any other', async () => {
    const a = createSession({ agent: 'a', id: 's', sequence: 'sender' });
    const b = createSession({ agent: 'b', id: 's', sequence: 'sender' });
    const frames: string[] = [];
    const codec = codecWith(() => {
      frames.push(...codec.encode(say(2), a).frames);
      return 'short';
    });
    frames.push(...codec.encode(say(1), a).frames);
    await codec.checkpoint(a);
    frames.push(...codec.encode(say(3), a).frames);
    expect(frames.map((frame) => codec.decode(frame, b).outcome)).toEqual(['message', 'message', 'message']);
  });
});

describe('a session that is opened by several at once', () => {
  test('continues in one of them', async () => {
    const file = fresh();
    const stores = await Promise.all(Array.from({ length: 4 }, () => sqliteStore(file)));
    const sessions = stores.map((store) => createSession({ agent: 'a', id: 's', store }));
    const codec = createCodec();
    const outcomes = await Promise.all(
      sessions.map(async (session) => {
        try {
          return codec.encode({ intent: 'req', operation: 'x' }, session).frames.length;
        } catch (thrown) {
          return (thrown as StoreError).reason;
        }
      }),
    );
    expect(outcomes.toSorted()).toEqual([1, 'taken', 'taken', 'taken']);
    for (const store of stores) store.close();
  });

  test('gives each unfinished checkpoint to one of them', async () => {
    const store = memoryStore();
    const codec = (calls: string[], name: string) =>
      createCodec({
        checkpoints: 'manual',
        checkpointTools: {
          summarize: async () => {
            calls.push(name);
            await new Promise(setImmediate);
            return name;
          },
        },
      });
    const calls: string[] = [];
    const first = codec(calls, 'first');
    const before = createSession({ agent: 'a', id: 's', store });
    first.encode({ intent: 'req', operation: 'x', payload: { n: 1 } }, before);
    const begun = first.checkpoint(before);
    before.close();
    const second = codec(calls, 'second');
    const after = createSession({ agent: 'a', id: 's', store });
    await Promise.all(
      [1, 2, 3].map(async (n) => second.encode({ intent: 'req', operation: 'x', payload: { n } }, after)),
    );
    await expect(begun).rejects.toBeInstanceOf(StoreError);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(calls).toEqual(['first', 'second']);
    expect(after.state.resolve('warm.ckpt_1.summary')).toBe('second');
  });
});

describe('a store that fails in the middle of an operation', () => {
  test('ends the session, and no frame is answered as if it had been processed', () => {
    const inner = memoryStore();
    let fails = false;
    const store: SessionStore = {
      ...inner,
      claim(session, agent) {
        const endpoint = inner.claim(session, agent);
        return {
          ...endpoint,
          readCold(key) {
            if (fails) throw new StoreError('failed', 'The disk is gone.');
            return endpoint.readCold(key);
          },
        };
      },
    };
    const session = createSession({ agent: 'b', id: 's', store });
    session.state.set('cold', 'k', 1);
    fails = true;
    const codec = createCodec();
    expect(() => codec.decode('@a>req:x{k:$cold.k}[mid:m1,seq:1]', session)).toThrow(StoreError);
    fails = false;
    expect(() => codec.decode('@a>req:x{}[mid:m2,seq:2]', session)).toThrow(StoreError);
  });
});
