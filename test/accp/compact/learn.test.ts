/** Registries that are learned from a sample: what they contain, what they save, and that nothing is lost with them. */
import { encode as toon } from '@toon-format/toon';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import corpus from '../../../bench/corpus/messages.json' with { type: 'json' };
import { createCodec, createRegistry, createSession, type MessageInput } from '../../../src/accp/codec/index.js';
import { compactFrame, expandFrame, learnRegistry } from '../../../src/accp/compact/index.js';
import { canonicalizeFrame, type Frame, parseFrame, printFrame } from '../../../src/accp/index.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';
import { frames } from '../../helpers/accp-arbitraries.js';
import { runs } from '../../helpers/runs.js';

const counter = await loadTokenCounter('o200k_base');
const roomy = { soft: 1e6, hard: 1e6 };
const ROOMY = { header: roomy, body: roomy, metadata: roomy, total: roomy };

const messages = corpus.map(({ message: { agent, intent, operation, schema, payload } }) => ({
  ...{ agent, intent, operation },
  ...(schema === undefined ? {} : { schema }),
  payload,
})) as readonly (MessageInput & { readonly agent: string })[];

/** Returns the frame of a message without metadata. Updates of state are encoded with another intent, so that none is a conflict. */
function frameOf(message: MessageInput): Frame {
  const isState = message.operation === 'state';
  const codec = createCodec({ text: 'transliterate', state: false, counter, limits: ROOMY });
  const session = createSession({ agent: 'a', id: 's' });
  const envelope = { correlation_id: 'c' };
  const { frames: sent } = codec.encode({ ...message, ...(isState ? { intent: 'done' } : {}), envelope }, session);
  expect(sent).toHaveLength(1);
  return { ...parseFrame(sent[0]!), intent: message.intent, metadata: null };
}

const req = (payload: MessageInput['payload'], operation = 'find', agent = 'a'): MessageInput => ({
  ...{ agent, intent: 'req', operation, payload },
});

const shapesOf = (sample: readonly MessageInput[], operation: string): (readonly string[])[] =>
  (learnRegistry(sample, { counter }).compact?.shapes ?? [])
    .filter((shape) => shape.operation === operation)
    .map(({ fields }) => fields);

const stringsOf = (...values: readonly MessageInput['payload'][]): readonly string[] =>
  learnRegistry(
    values.map((payload) => req(payload)),
    { counter },
  ).compact?.strings ?? [];

/** Frames are equal but for the order of parameters. */
const sorted = (frame: Frame): string =>
  printFrame(canonicalizeFrame({ ...frame, payload: frame.payload.toSorted((a, b) => (a.key < b.key ? -1 : 1)) }));

describe('a registry of the message types of the corpus', () => {
  const learned = learnRegistry(messages, { counter });
  const registry = createRegistry(learned);
  const json = messages.map((message) => counter.count(JSON.stringify(message)));
  const other = messages.map((message) => counter.count(toon(message)));
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

  test('saves two fifths of the tokens without a session, and no message is longer than as JSON or TOON', () => {
    const texts = messages.map((message) => compactFrame(frameOf(message), { registry, counter }));
    const tokens = texts.map((text) => counter.count(text));
    expect(tokens.filter((count, at) => count > Math.min(json[at]!, other[at]!))).toEqual([]);
    expect(sum(tokens) / sum(json)).toBeLessThan(0.6);
    expect(sum(tokens) / sum(other)).toBeLessThan(0.62);
    for (const [at, text] of texts.entries())
      expect(sorted(expandFrame(parseFrame(text), registry))).toBe(sorted(frameOf(messages[at]!)));
  });

  test('saves more in a session', () => {
    const ends = ['a', 'b'].map((agent) => ({
      codec: createCodec({ compact: true, text: 'transliterate', state: false, counter, registry, limits: ROOMY }),
      session: createSession({ agent, id: 's' }),
    }));
    const [a, b] = ends as [(typeof ends)[0], (typeof ends)[0]];
    const deliver = (to: typeof a, from: typeof a, sent: readonly string[]): void => {
      for (const frame of sent) {
        const outcome = to.codec.decode(frame, to.session);
        if (outcome.outcome !== 'message' && outcome.outcome !== 'pending')
          throw new Error(`${frame}: ${outcome.outcome}`);
        deliver(from, to, outcome.replies);
      }
    };
    deliver(b, a, a.codec.announce(a.session).frames);
    deliver(a, b, b.codec.announce(b.session).frames);
    const tokens = messages.map((message, at) => {
      const intent = message.operation === 'state' ? 'done' : message.intent;
      const envelope = { correlation_id: `c${at}` };
      const { frames: sent } = a.codec.encode({ ...message, intent, envelope }, a.session);
      deliver(b, a, sent);
      expect(sent).toHaveLength(1);
      return counter.count(sent[0]!.replace(/\[[^\]]*\]$/, ''));
    });
    expect(sum(tokens) / sum(json)).toBeLessThan(0.59);
    expect(sum(tokens) / sum(other)).toBeLessThan(0.61);
    expect(tokens.filter((count, at) => count > Math.min(json[at]!, other[at]!))).toEqual([]);
  });

  test('is the same from messages, frames and again, and is JSON', () => {
    expect(learnRegistry(messages, { counter })).toEqual(learned);
    expect(learnRegistry(messages.map(frameOf), { counter })).toEqual(learned);
    expect(JSON.parse(JSON.stringify(learned))).toEqual(learned);
  });
});

describe('the shapes', () => {
  test('list the keys of payloads in the order of the messages, with those of others that lack some', () => {
    const common = { region: 'a', currency: 'b', quarter: 3 };
    const sample = [{ ...common, note: 'x' }, common, common, common].map((payload) => req(payload));
    expect(shapesOf(sample, 'find')).toEqual([['region', 'currency', 'quarter', 'note']]);
  });

  test('are two if that is shorter than absent values', () => {
    const question = { asked_by: 'a', question_text: 'b', urgency: 1, topic_area: 'c' };
    const answer = { answered_by: 'a', answer_text: 'b', confidence: 1, sources_used: 2 };
    const sample = [question, answer, question, answer].map((payload) => req(payload));
    expect(new Set(shapesOf(sample, 'find'))).toEqual(new Set([Object.keys(question), Object.keys(answer)]));
  });

  test('of maps and rows have sorted keys', () => {
    const owner = { team: 'x', mail_alias: 'y' };
    const rows = [1, 2, 3].map((number) => ({ unit_price: number, quantity: 2, article: 'z' }));
    const { compact } = learnRegistry([req({ owner, rows })], { counter });
    const maps = compact!.shapes!.filter(({ operation, schema }) => operation === undefined && schema === undefined);
    expect(maps.map(({ fields }) => fields).toSorted()).toEqual([
      ['article', 'quantity', 'unit_price'],
      ['mail_alias', 'team'],
    ]);
  });

  test('may have no keys', () => {
    const sample = [req({}, 'heartbeat_of_the_scheduler'), req({}, 'null')];
    expect(learnRegistry(sample, { counter }).compact).toEqual({
      shapes: [{ operation: 'heartbeat_of_the_scheduler', fields: [] }],
    });
  });

  test('have full names, and the code of the schema', () => {
    const message = { ...req({ assignee: 'a', priority: 'b', review_board: 'c' }, 'schedule'), schema: 'TA' };
    expect(learnRegistry([message], { counter }).compact!.shapes).toEqual([
      { operation: 'schedule', schema: 'TA', fields: ['assignee', 'priority', 'review_board'] },
    ]);
  });

  test('are not learned from keys that are data of one message', () => {
    const sample = Array.from({ length: 6 }, (_, at) =>
      req({ [`invoice_2026_${4711 + at}`]: 1, [`txn_88${at}31`]: 2, count: at }),
    );
    expect(shapesOf(sample, 'find')).toEqual([]);
  });
});

describe('the strings', () => {
  test('are names that occur in several messages', () => {
    expect(stringsOf({ region: 'north_america' }, { place: 'north_america' })).toEqual(['north_america']);
    expect(stringsOf({ regions: ['north_america', 'north_america'] }, {})).toEqual([]);
  });

  test.each([
    'sk-live-abcdefghij',
    'ghp_aaaaaaaaaaaaaaaa',
    'eyJhbGciOiJIUzI1NiJ9',
    'AKIAIOSFODNN7EXAMPLE',
    'dGhpcyBpcyBhIHNlY3JldA==',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    'deadbeefcafe',
    '550e8400-e29b-41d4-a716-446655440000',
    'order_55120',
    'INC-4821',
    'txn_20260409_001',
    '2026-04-17',
    '10:45',
    'jane.doe@example.com',
  ])('do not include %s', (text) => {
    expect(stringsOf({ value: text }, { value: text }, { value: text })).toEqual([]);
  });

  test('do not include what is a secret elsewhere', () => {
    const sample = [{ hint: 'correct_horse_battery' }, { hint: 'correct_horse_battery' }];
    expect(stringsOf(...sample)).toEqual(['correct_horse_battery']);
    expect(stringsOf(...sample, { login: { Password: ['correct_horse_battery'] } })).toEqual([]);
  });

  test('are within the bounds of a registry', () => {
    const syllables = ['ba', 'de', 'fi', 'go', 'hu', 'ka', 'le', 'mi', 'no'];
    const names = syllables.flatMap((a) =>
      syllables.flatMap((b) => syllables.flatMap((c) => syllables.map((d) => `${a}${b}_${c}${d}_${a}`))),
    );
    expect(names.length).toBeGreaterThan(4096);
    const strings = stringsOf({ names }, { names });
    expect(strings).toHaveLength(4096);
    createRegistry({ schemas: {}, compact: { strings } });
  });

  test('that save most come first', () => {
    const payload = { a: 'customer_success_team', b: ['north_america', 'north_america', 'north_america'] };
    const [first] = stringsOf(payload, payload);
    expect(first).toBe('north_america');
  });
});

describe('the agents', () => {
  test('are the names that save tokens', () => {
    const sample = ['customer_success_team', 'a', 'customer_success_team'].map((agent) => req({}, 'find', agent));
    expect(learnRegistry(sample, { counter }).compact!.agents).toEqual(['customer_success_team']);
  });

  test('are omitted if one of them is a number', () => {
    const sample = ['customer_success_team', '7'].map((agent) => req({}, 'find', agent));
    expect(learnRegistry(sample, { counter }).compact?.agents).toBeUndefined();
  });
});

describe('the registry', () => {
  test('has nothing if there is nothing to learn', () => {
    expect(learnRegistry([])).toEqual({ schemas: {} });
    expect(learnRegistry([req({})])).toEqual({ schemas: {} });
  });

  test('defines the schemas that the sample names', () => {
    const sample = [
      { ...req({ summary: 'x', severity: 'low' }), schema: 'INC' },
      { ...req({ summary: 'x', zone: 'y', 'not a word': 1 }), schema: 'INC' },
    ];
    const learned = learnRegistry(sample, { counter });
    expect(learned.schemas).toEqual({ INC: { code: 'INC', version: 1, fields: ['summary', 'severity', 'zone'] } });
    expect(createRegistry(learned).byCode('INC')).toBeDefined();
  });

  test('extends another one', () => {
    const own = {
      schemas: { incident: { code: 'INC', version: 2, fields: ['summary'], defaults: { severity: 'low' } } },
      operations: ['triage'],
      compact: { strings: ['forgotten'] },
    };
    const base = createRegistry({
      ...own,
      schemas: { incident: { ...own.schemas.incident, fields: ['summary', 'severity'] } },
    });
    const sample = [{ ...req({ summary: 'x', severity: 'low', affected_users: 3 }), schema: 'INC' }];
    const learned = learnRegistry(sample, { registry: base, counter });
    expect(Object.keys(learned.schemas)).toEqual(['incident']);
    expect(learned.operations).toEqual(['triage']);
    // Defaults are omitted.
    expect(learned.compact).toEqual({
      shapes: [{ operation: 'find', schema: 'INC', fields: ['summary', 'affected_users'] }],
    });
  });

  test('rejects messages that have no frame', () => {
    const deep = { a: { b: undefined as never, n: Number.NaN } };
    expect(() => learnRegistry([req(deep)])).toThrow(expect.objectContaining({ code: 'E1004', path: 'payload.a.n' }));
    // A message that takes several frames.
    expect(learnRegistry([req({ s: 'x y '.repeat(400_000) }), req({ k: 1 })])).toEqual({ schemas: {} });
    expect(() => learnRegistry([req({}, 'a b')])).toThrow(expect.objectContaining({ code: 'E1004' }));
  });
});

test('every frame of any sample has the same meaning with the learned registry', () => {
  fc.assert(
    fc.property(fc.array(frames, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 3 }), (some, times) => {
      const usable = some.filter(({ agent, operation }) => !/^[0-9]+$/.test(agent) && !/^[0-9]+$/.test(operation));
      const sample = Array.from({ length: times }, () => usable).flat();
      const registry = createRegistry(learnRegistry(sample));
      for (const frame of usable) {
        const plain = { ...frame, metadata: null };
        const back = expandFrame(parseFrame(compactFrame(plain, { registry })), registry);
        expect(sorted(back)).toBe(sorted(plain));
      }
    }),
    runs(300),
  );
});

test('every message with alike keys and strings has the same meaning with the learned registry', () => {
  const word = fc.constantFrom(
    'north_america',
    'in review',
    "it's",
    '2026-04-17',
    '-',
    '#1',
    '',
    '42',
    'é',
    '__proto__',
  );
  const key = fc.constantFrom(
    'region',
    'status',
    '__proto__',
    'constructor',
    '7',
    'true',
    'a b',
    'schema',
    'priority',
    'note',
  );
  const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null));
  const value = fc.letrec((tie) => ({
    map: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    value: fc.oneof({ maxDepth: 3 }, leaf, tie('map'), fc.array(tie('value'), { maxLength: 4 })),
  }));
  const message = fc.record({
    agent: fc.constantFrom('customer_success_team', 'b'),
    intent: fc.constantFrom('req', 'done'),
    operation: fc.constantFrom('analyze', 'plan', 'true'),
    schema: fc.constantFrom(undefined, 'ZZ', 'INC'),
    payload: value.map as fc.Arbitrary<NonNullable<MessageInput['payload']>>,
  });
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), (sample) => {
      const registry = createRegistry(learnRegistry(sample, { counter }));
      const codec = createCodec({ text: 'transliterate', state: false, registry, limits: ROOMY });
      for (const one of sample) {
        const session = createSession({ agent: 'a', id: 's' });
        const [text] = codec.encode({ ...one, envelope: { correlation_id: 'c' } }, session).frames;
        const plain = { ...parseFrame(text!), metadata: null };
        const back = expandFrame(parseFrame(compactFrame(plain, { registry, counter })), registry);
        expect(sorted(back)).toBe(sorted(plain));
      }
    }),
    runs(300),
  );
});
