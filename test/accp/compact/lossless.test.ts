/** Both sides of compact frames: nothing is lost, the tables are equal after each frame, and no frame gets longer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Frame, Param, Value } from '../../../src/accp/ast.js';
import { type Codec, createCodec, createSession, type Message, type Session } from '../../../src/accp/codec/index.js';
import { Compactor, SpellingCosts } from '../../../src/accp/compact/compact.js';
import { expandFrame as expandByTables } from '../../../src/accp/compact/expand.js';
import { frameOf } from '../../../src/accp/compact/frame-of.js';
import { compactFrame, createRegistry, expandFrame } from '../../../src/accp/compact/index.js';
import { staticEntries } from '../../../src/accp/compact/static.js';
import { CompactTables } from '../../../src/accp/compact/tables.js';
import type { JsonObject } from '../../../src/accp/message/json.js';
import { parseFrame } from '../../../src/accp/parse.js';
import { printFrame } from '../../../src/accp/print.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { loadTokenCounter } from '../../../src/tokens/index.js';
import { frames as anyFrames } from '../../helpers/accp-arbitraries.js';
import { sized } from '../../helpers/runs.js';
import { strings as texts } from '../message/support.js';
import { entriesOf } from './entries.js';

/** Many payloads, several of which share tables. */
const COURSES = { numRuns: sized(90, 5000) };
const FRAMES = 20;

const counter = await loadTokenCounter('o200k_base');

const REGISTRY = createRegistry({
  schemas: { report: { code: 'RP', version: 1, fields: ['query', 'rows'], operations: ['report'] } },
  compact: {
    shapes: [{ operation: 'find', fields: ['a', 'b', 'query'] }, { fields: ['name', 'due', '1st'] }],
    strings: ['write_docs', '2026-04-08'],
    agents: ['planner', 'worker'],
  },
});

// ---- Frames whose parts repeat

const keys = fc.constantFrom('a', 'b', 'name', 'due', 'q', 'asgn', 'task', '1', '1st', '_1', '__2', 'schema', 'rows');
const strings = fc.constantFrom(
  ...['impl_auth', 'write_docs', 'abc', '-', '#', '#-', '##', '#1234', '2026-04-08', '09:05', '2026-04-08T09:05:27Z'],
  ...['2026-04-08T09:05:27.25+05:30', 'a|b,c', '$x', '1.2.3', 'TA', 'a_much_longer_string_that_several_frames_contain'],
);
const scalars: fc.Arbitrary<Value> = fc.oneof(
  { weight: 5, arbitrary: strings.map((value) => ({ kind: 'string' as const, value })) },
  { weight: 2, arbitrary: fc.integer({ min: -9, max: 99 }).map((value) => ({ kind: 'integer' as const, value })) },
  { weight: 1, arbitrary: fc.constantFrom<Value>({ kind: 'null' }, { kind: 'boolean', value: true }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0', '1', '.7', '..', '007', 'warm.x').map((path) => ({ kind: 'ref' as const, path })),
  },
);

function params(values: fc.Arbitrary<Value>, maxLength: number): fc.Arbitrary<Param[]> {
  return fc.uniqueArray(fc.record({ key: keys, value: values }), { selector: ({ key }) => key, maxLength });
}

function valuesTo(depth: number): fc.Arbitrary<Value> {
  if (depth === 0) return scalars;
  const inner = valuesTo(depth - 1);
  const maps = params(inner, 3).map((entries) => ({ kind: 'map' as const, entries }));
  return fc.oneof(
    { weight: 3, arbitrary: scalars },
    { weight: 1, arbitrary: maps },
    { weight: 1, arbitrary: fc.array(inner, { maxLength: 3 }).map((items) => ({ kind: 'array' as const, items })) },
    { weight: depth > 1 ? 1 : 0, arbitrary: tables(depth) },
  );
}

function tables(depth: number): fc.Arbitrary<Value> {
  const rows = params(depth < 2 ? scalars : valuesTo(depth - 2), 3);
  return fc
    .array(rows, { minLength: 2, maxLength: 4 })
    .map((list) => ({ kind: 'array' as const, items: list.map((entries) => ({ kind: 'map' as const, entries })) }));
}

const schemas = fc.constantFrom('TA', 'TC', 'RP', 'a-b').map(
  (value): Param => ({
    key: 'schema',
    value: { kind: 'string', value },
  }),
);

const repeating: fc.Arbitrary<Frame> = fc
  .record({
    operation: fc.constantFrom('find', 'report', 'x', 'tool', 'schedule'),
    payload: params(valuesTo(5), 4),
    schema: fc.option(schemas, { freq: 3 }),
  })
  .map(({ operation, payload, schema }) => {
    const own = schema === null ? payload : [...payload.filter(({ key }) => key !== 'schema'), schema];
    return { kind: 'frame', agent: 'planner', intent: 'req', operation, payload: own, metadata: null };
  });

const courses = fc.array(fc.oneof({ weight: 4, arbitrary: repeating }, anyFrames), {
  minLength: FRAMES,
  maxLength: FRAMES,
  size: 'max',
});

// ---- Properties

function byKey({ payload }: Frame): unknown {
  return payload.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Returns `true` if a plain frame contains something that compact frames spell longer. */
function isMarked(plain: string): boolean {
  return /[:,[](?:-(?=[,|}\]])|#)|[{|,]_*[0-9]\w*:|\$\.*[0-9]+(?=[,|}\]])/.test(plain);
}

function stateOf({ shapes, strings: texts }: CompactTables): unknown {
  return { shapes: entriesOf(shapes), strings: entriesOf(texts) };
}

test.each([
  ['the common registry', createRegistry()],
  ['another registry', REGISTRY],
])('frames come back, and both sides have the same tables, with %s', (_name, registry) => {
  let counted = 0;
  fc.assert(
    fc.property(courses, (course) => {
      const sent = new CompactTables(staticEntries(registry), true);
      const received = new CompactTables(staticEntries(registry), true);
      const compactor = new Compactor(sent, new SpellingCosts(counter));
      for (const [count, frame] of course.entries()) {
        const plain = printFrame({ ...frame, metadata: null });
        const compacted = compactor.compact(parseFrame(plain), plain, count);
        if (compacted === null) {
          expect(frame.operation).toMatch(/^\d+$/);
          continue;
        }
        const { text } = compacted;
        const [back, whole] = expandByTables(parseFrame(text), received);
        expect(whole).toBe(printFrame(back));
        expect(byKey(parseFrame(whole))).toEqual(byKey(parseFrame(plain)));
        expect([back.agent, back.intent, back.operation]).toEqual([frame.agent, frame.intent, frame.operation]);
        expect(stateOf(received)).toEqual(stateOf(sent));
        if (isMarked(plain)) continue;
        expect(counter.count(text), text).toBeLessThanOrEqual(counter.count(plain));
        counted++;
      }
    }),
    COURSES,
  );
  expect(counted).toBeGreaterThan(COURSES.numRuns * 4);
});

test('without a session, every frame comes back from the registry alone', () => {
  fc.assert(
    fc.property(fc.oneof(repeating, anyFrames), (frame) => {
      const plain = parseFrame(printFrame(frame));
      fc.pre(!/^\d+$/.test(plain.operation) && !/^\d+$/.test(plain.agent));
      const text = compactFrame(plain, { registry: REGISTRY, counter });
      const back = expandFrame(parseFrame(text), REGISTRY);
      expect(parseFrame(printFrame(back, { sortParams: true }))).toEqual(
        parseFrame(printFrame(plain, { sortParams: true })),
      );
      if (!isMarked(printFrame({ ...plain, metadata: null }))) {
        expect(counter.count(text)).toBeLessThanOrEqual(counter.count(printFrame(plain)));
      }
    }),
    { numRuns: sized(300, 30_000) },
  );
});

// ---- Codecs

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(strings, strings, texts, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: false }),
    fc.array(fc.record({ name: strings, due: strings }, { noNullPrototype: true }), { minLength: 2, maxLength: 3 }),
  ),
})).value;

/** Numbers that the printer changes, and keys of any kind. */
const hostile = fc.dictionary(
  fc.oneof(keys, fc.stringMatching(/^[_0-9a-zA-Z]{1,6}$/)),
  fc.oneof(json, fc.constantFrom(-0, 1e20 / 3e15, 0.1234567, -1e-9, 12n ** 30n, 'true', '-1', '~', '')),
  { maxKeys: 6, noNullPrototype: false },
);

test('the tree of a message gives the same compact frame as its text', () => {
  const tables = [true, false].map(() => new CompactTables(staticEntries(REGISTRY), true));
  const [byTree, byText] = tables.map((own) => new Compactor(own, new SpellingCosts(counter)));
  fc.assert(
    fc.property(hostile, fc.constantFrom(undefined, 'RP'), (payload, schema) => {
      const tree = frameOf({ intent: 'req', operation: 'find', schema, payload: payload as JsonObject }, REGISTRY);
      const plain = printFrame(tree);
      expect(byTree!.compact(tree, plain, undefined)).toEqual(byText!.compact(parseFrame(plain), plain, undefined));
      expect(stateOf(tables[0]!)).toEqual(stateOf(tables[1]!));
    }),
    { numRuns: sized(300, 30_000) },
  );
});

const messages = fc.record({
  /** The side that sends. */
  from: fc.constantFrom(0, 1),
  agent: fc.constantFrom('own', 'helper'),
  operation: fc.constantFrom('find', 'report', 'x'),
  payload: fc.dictionary(
    keys.filter((key) => key !== 'schema'),
    json,
    { maxKeys: 4, noNullPrototype: false },
  ),
  /** The receiver begins again from its store. */
  restarts: fc.boolean(),
});

type Side = { session: Session; readonly codec: Codec; readonly open: () => Session };

function side(agent: string, sequence: 'sender' | 'session', registry: ReturnType<typeof createRegistry>): Side {
  const store = memoryStore();
  const open = (): Session => createSession({ agent, id: 's', sequence, store });
  const now = (): number => 1_714_000_000_000;
  // The announcement of an agent is not that of the other agents of its endpoint.
  const codec = createCodec({ compact: true, counter, registry, text: 'transliterate', state: false, now });
  return { session: open(), codec, open };
}

function deliver(frames: readonly string[], to: Side, from: Side): Message | undefined {
  let message: Message | undefined;
  for (const frame of frames) {
    const outcome = to.codec.decode(frame, to.session);
    if (outcome.outcome === 'rejected') throw outcome.error;
    if (outcome.outcome === 'message') ({ message } = outcome);
    if (outcome.outcome !== 'dropped') deliver(outcome.replies, from, to);
  }
  return message;
}

test.each([
  ['sender', REGISTRY],
  ['sender', createRegistry()],
  ['session', REGISTRY],
  ['session', createRegistry()],
] as const)('codecs exchange any messages, sequence %s', (sequence, registry) => {
  let compact = 0;
  fc.assert(
    fc.property(fc.array(messages, { maxLength: 12, size: 'max' }), (exchange) => {
      const sides = [side('planner', sequence, registry), side('worker', sequence, registry)] as const;
      deliver(sides[0].codec.announce(sides[0].session).frames, sides[1], sides[0]);
      for (const { from, agent: who, operation, payload, restarts } of exchange) {
        const [sender, receiver] = [sides[from]!, sides[1 - from]!];
        const agent = who === 'own' ? sender.session.agent : `${sender.session.agent}-2`;
        const sent = sender.codec.encode(
          { agent, intent: 'done', operation, payload: payload as JsonObject },
          sender.session,
        );
        if (restarts) {
          receiver.session.close();
          receiver.session = receiver.open();
        }
        const message = deliver(sent.frames, receiver, sender)!;
        expect(message).toMatchObject({ agent, operation });
        expect(message.payload).toEqual(expanded(payload));
        if (sent.frames.some((frame) => /tbl:|>done:\d+\{\d+:\[/.test(frame))) compact++;
      }
    }),
    { numRuns: sized(50, 10_000) },
  );
  expect(compact).toBeGreaterThan(100);
});

const FULL: Readonly<Record<string, string>> = { q: 'query' };

function expanded(payload: object): object {
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [FULL[key] ?? key, value]));
}
