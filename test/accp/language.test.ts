/** Narrowed ACCP: what the options allow of what the reference reader accepts, neither more nor less. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import { type Dialect, printFrame, tryParseFrame } from '../../src/accp/index.js';
import { type AccpLanguageOptions, accpLanguage, type FieldOptions } from '../../src/accp/language/language.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';
import { runs } from '../helpers/runs.js';

// ---- What the options mean, by the tree ---------------------------------------------------------------------------

function reading(text: string, { dialect, maxDepth }: AccpLanguageOptions): Frame | null {
  const result = tryParseFrame(text, { dialect, maxDepth });
  return result.ok ? result.value : null;
}

function allows(options: AccpLanguageOptions, frame: Frame): boolean {
  const { agents, intents, operations, fields, metadata = 'optional' } = options;
  if (agents?.includes(frame.agent) === false || intents?.includes(frame.intent) === false) return false;
  if (operations?.includes(frame.operation) === false) return false;
  if (fields !== undefined && !fits(frame.payload, pairsOf(fields))) return false;
  if (metadata === 'optional') return true;
  if (metadata === 'none') return frame.metadata === null;
  if (metadata === 'required') return frame.metadata !== null;
  return fits(frame.metadata ?? [], pairsOf(metadata));
}

function pairsOf(fields: NonNullable<AccpLanguageOptions['fields']>): (readonly [string, FieldOptions])[] {
  return Symbol.iterator in fields ? [...fields] : Object.entries(fields);
}

function fits(params: readonly Param[], fields: readonly (readonly [string, FieldOptions])[]): boolean {
  const rest = [...params];
  for (const [key, field] of fields) {
    if (rest[0]?.key === key) {
      if (!isAllowed(rest.shift()!.value, field)) return false;
    } else if (!field.optional) return false;
  }
  return rest.length === 0;
}

function isAllowed(value: Value, { type = 'any', enum: values }: FieldOptions): boolean {
  if (values !== undefined) {
    const plain = value.kind === 'null' ? null : 'value' in value ? value.value : undefined;
    // A whole number stands for an integer: `3.0` is another value.
    const isOther = 'text' in value || (value.kind === 'decimal' && Number.isInteger(plain));
    return !isOther && values.some((one) => one === plain);
  }
  const types: readonly string[] = typeof type === 'string' ? [type] : type;
  return types.includes('any') || types.includes(value.kind);
}

// ---- Texts near the options' edge ---------------------------------------------------------------------------------

const VALUES = [
  ...['cats', '12', '-0', '007', '12abc', '2.5', '-.5', '1.', '1.2.3', 'true', 'false', 'truee', '~', '$x.y', '$'],
  ...['[1,[2]]', '[]', '{a:1}', '{a:{a:[]}}', '{a:1,a:2}', 'high', 'hi', 'hig', 'high\\,', '3', '03', '3.0', '12\\,'],
  ...['@dev', '@dev:plan', '\\@dev', 'a\\|b', 'a|b', '[k:v]', '[[[[[[1]]]]]]', '', '"', '1'.repeat(1001)],
];
const WORDS = {
  agents: ['planner', 'plan', 'x'],
  intents: ['req', 're', 'request', 'done'],
  operations: ['find', 'fin'],
};

/** Mostly what is wanted, at times something else: so that what is nearly allowed comes up as often as what is. */
function mostly<T>(wanted: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 5, arbitrary: wanted }, { weight: 1, arbitrary: other });
}

function nearList(fields: AccpLanguageOptions['fields'], separator: string, dialect: Dialect): fc.Arbitrary<string> {
  const pairs = fields === undefined ? [['q', {}] as const, ['seq', { optional: true }] as const] : pairsOf(fields);
  const params = pairs.map(([key, field]) => {
    const good = VALUES.filter((text) => {
      const payload = reading(`@a>a:a{v:${text}}`, { dialect })?.payload;
      return payload?.length === 1 && isAllowed(payload[0]!.value, field);
    });
    const value = mostly(fc.constantFrom(...good), fc.constantFrom(...VALUES));
    const param = value.map((text): string | null => `${key}:${text}`);
    return field.optional ? fc.option(param) : mostly(param, fc.constant(null));
  });
  const inOrder = fc.tuple(...params).map((list) => list.filter((param) => param !== null));
  const disturbed = inOrder.chain((list) =>
    fc.oneof(
      fc.constant([...list].reverse()),
      fc.constant([...list, ...list.slice(-1)]),
      fc.constant([...list, 'other:1']),
      fc.constant(['', ...list]),
    ),
  );
  return mostly(inOrder, disturbed).map((list) => list.join(separator));
}

function nearTexts(options: AccpLanguageOptions): fc.Arbitrary<string> {
  const { dialect = 'strict', metadata = 'optional' } = options;
  const word = (name: keyof typeof WORDS): fc.Arbitrary<string> =>
    mostly(fc.constantFrom(...(options[name] ?? WORDS[name])), fc.constantFrom(...WORDS[name]));
  const block = nearList(typeof metadata === 'string' ? undefined : metadata, ',', dialect).map((list) => `[${list}]`);
  const isUsual = metadata === 'required' || typeof metadata !== 'string';
  const tail = isUsual ? mostly(block, fc.constant('')) : mostly(fc.constant(''), block);
  return fc
    .tuple(word('agents'), word('intents'), word('operations'), nearList(options.fields, '|', dialect), tail)
    .map(([agent, intent, operation, payload, end]) => `@${agent}>${intent}:${operation}{${payload}}${end}`);
}

const OPTIONS: readonly (readonly [name: string, options: AccpLanguageOptions])[] = [
  ['words that begin alike', { agents: ['plan', 'planner'], intents: ['re', 'req', 'request'], operations: ['find'] }],
  ['one parameter of text', { fields: { q: { type: 'string' } } }],
  ['a parameter of each kind of number', { fields: { q: { type: 'integer' }, limit: { type: 'decimal' } } }],
  ['numbers of both kinds, or null', { fields: { q: { type: ['decimal', 'integer', 'null'] } }, metadata: 'none' }],
  ['text or a keyword', { fields: { q: { type: ['string', 'boolean'] }, limit: { type: ['boolean', 'ref'] } } }],
  [
    'text or one kind of number',
    { fields: { q: { type: ['integer', 'string'] }, limit: { type: ['string', 'decimal'], optional: true } } },
  ],
  ['all scalars', { fields: { q: { type: ['string', 'boolean', 'integer', 'decimal'] } } }],
  ['lists only', { fields: { q: { type: 'array' }, limit: { type: ['map', 'array'], optional: true } } }],
  ['nothing that nests', { maxDepth: 0, fields: { q: {}, limit: { optional: true } } }],
  ['little that nests', { maxDepth: 1, metadata: 'required' }],
  ['an enum', { fields: { pri: { enum: ['hi', 'high', 'a|b', 3, 2.5, true, null] } } }],
  ['no parameters', { fields: {}, metadata: {} }],
  [
    'optional parameters before and after one that is not',
    { fields: { q: { optional: true }, limit: { optional: true, type: 'integer' }, pri: {}, p: { optional: true } } },
  ],
  [
    'optional parameters only',
    { fields: { q: { optional: true }, limit: { optional: true }, pri: { optional: true } }, metadata: 'none' },
  ],
  [
    'keys that look like numbers, in their order',
    {
      fields: [
        ['10', { optional: true }],
        ['9', {}],
      ],
    },
  ],
  ['metadata by fields', { metadata: { mid: {}, seq: { type: 'integer' } } }],
  ['metadata of optional fields', { metadata: { mid: { optional: true }, seq: { type: 'integer', optional: true } } }],
  ['mentions as text', { dialect: 'lenient', fields: { q: { type: 'string' }, limit: { optional: true } } }],
  ['mentions in an enum', { dialect: 'lenient', fields: { q: { enum: ['@dev', '@dev:plan', 'hi'] } } }],
];

describe.each(OPTIONS)('a language narrowed to %s', (_name, options) => {
  const language = accpLanguage(options);
  const dialect: Dialect = options.dialect ?? 'strict';

  test('accepts exactly the texts that the parser accepts and the options allow', () => {
    const texts = fc.oneof(
      { weight: 6, arbitrary: nearTexts(options) },
      { weight: 1, arbitrary: frameTexts(dialect) },
      { weight: 1, arbitrary: frameMutants(dialect) },
    );
    const seen = { allowed: 0, refused: 0 };
    const law = fc.property(texts, (text) => {
      const frame = reading(text, options);
      const isAllowed = frame !== null && allows(options, frame);
      seen[isAllowed ? 'allowed' : 'refused']++;
      expect(language.grammar.accepts(text)).toBe(isAllowed);
    });
    fc.assert(law, runs(400));
    expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(20);
  });

  test('is marked as narrowed', () => {
    expect(language).toMatchObject({ name: 'accp', narrowed: true, dialect });
    expect(language.depth).toStrictEqual({
      rules: ['array', 'map'],
      max: options.maxDepth ?? 5,
      checks: ['entered', 'left'],
    });
  });
});

describe.each(['strict', 'lenient'] as const)('the whole %s dialect', (dialect) => {
  const language = accpLanguage({ dialect });

  test('accepts the texts that the parser accepts', () => {
    const law = fc.property(fc.oneof(frameTexts(dialect), frameMutants(dialect)), (text) => {
      expect(language.grammar.accepts(text)).toBe(tryParseFrame(text, { dialect }).ok);
    });
    fc.assert(law, runs(300));
  });

  test('is not narrowed, and builds the trees of the parser', () => {
    expect(language.narrowed).toBe(false);
    const text = '@a>req:x{m:{b:1.50,a:007}}[mid:m1]';
    expect(language.grammar.parse(text)).toStrictEqual({ ok: true, value: reading(text, {}) });
  });

  test('is read with the tree as JSON and the canonical text', () => {
    const law = fc.property(frameTexts(dialect), (text) => {
      const answer = language.read(text);
      const frame = reading(text, { dialect })!;
      expect(answer).toMatchObject({ ok: true, canonical: printFrame(frame) });
    });
    fc.assert(law, runs(100));
    const read = language.read(`@a>req:x{n:9007199254740993|d:${'9'.repeat(400)}.5}`);
    expect(read).toMatchObject({
      ast: {
        payload: [
          { key: 'n', value: { kind: 'integer', value: '9007199254740993' } },
          { key: 'd', value: { kind: 'decimal', value: 'Infinity' } },
        ],
      },
    });
  });

  test('reports the position and reason of an error', () => {
    const text = '@a>req:x{n:1|n:2}';
    const result = tryParseFrame(text, { dialect });
    if (result.ok) throw new Error('The text should be refused');
    const { code, reason, span, message } = result.error;
    expect(language.read(text)).toStrictEqual({ ok: false, code, reason, offset: span?.start, message });
  });
});

test('a narrowed language is read like the whole dialect', () => {
  const language = accpLanguage({ intents: ['req'], maxDepth: 0 });
  expect(language.read('@a>done:x{v:[1]}')).toMatchObject({ ok: true, canonical: '@a>done:x{v:[1]}' });
});

test('a frame of a hundred optional parameters is read in their order', () => {
  const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
  const fields = Object.fromEntries(keys.map((key) => [key, { optional: true, type: 'integer' as const }]));
  const { grammar } = accpLanguage({ fields });
  expect(grammar.accepts(`@a>a:a{${keys.map((key) => `${key}:1`).join('|')}}`)).toBe(true);
  expect(grammar.accepts('@a>a:a{k99:1}')).toBe(true);
  expect(grammar.accepts('@a>a:a{k99:1|k98:1}')).toBe(false);
});

describe('options that are rejected', () => {
  const cases: readonly (readonly [options: unknown, message: string])[] = [
    [{ intents: ['r q'] }, 'intents: "r q" is not an intent: letters'],
    [{ intents: ['req>x:y{}@a'] }, 'intents: "req>x:y{}@a" is not an intent: letters'],
    [{ agents: [] }, 'agents must contain at least one word'],
    [{ agents: 'planner' }, 'agents must be a list'],
    [{ agents: ['@planner'] }, 'agents: "@planner" is not an agent id: letters, digits, "-" and "_"'],
    [{ operations: [7] }, 'operations: "7" is not an operation: letters, digits and "_"'],
    [{ intent: ['req'] }, 'options: there is no "intent"; did you mean "intents"?'],
    [{ dialect: 'loose' }, "dialect must be one of strict, lenient; got 'loose'"],
    [{ maxDepth: 6 }, 'maxDepth must be an integer from 0 to 5; got 6'],
    [{ maxDepth: 1.5 }, 'maxDepth must be an integer from 0 to 5; got 1.5'],
    [{ metadata: 'non' }, "metadata must be one of optional, none, required; got 'non'; did you mean 'none'?"],
    [{ metadata: { 'm id': {} } }, 'metadata: "m id" is not a key: letters, digits and "_"'],
    [{ fields: 3 }, 'fields must be a record of fields'],
    [{ fields: ['q'] }, 'fields must be a list of [key, field] pairs'],
    [{ fields: { 'q:1|r': {} } }, 'fields: "q:1|r" is not a key: letters, digits and "_"'],
    [{ fields: { q: 'string' } }, 'fields.q must be an object'],
    [{ fields: { q: { typ: 'string' } } }, 'fields.q: there is no "typ"; did you mean "type"?'],
    [{ fields: { q: { optional: 'yes' } } }, 'fields.q.optional must be true or false'],
    [{ fields: { q: { type: [] } } }, 'fields.q.type must contain at least one type'],
    [{ fields: { q: { type: 'string', enum: ['a'] } } }, 'fields.q has both a type and an enum; use one of them'],
    [{ fields: { q: { enum: [] } } }, 'fields.q.enum must contain at least one value'],
    [{ fields: { q: { enum: [{}] } } }, 'fields.q.enum: "[object Object]" is not a string, number, boolean or null'],
    [{ fields: { q: { enum: [0.1234567] } } }, 'fields.q.enum: 0.1234567 has more than six decimal places'],
    [{ maxDepth: 0, fields: { q: { type: 'map' } } }, 'fields.q.type: map needs a maxDepth of at least 1'],
  ];

  test.each(cases)('%j', (options, message) => {
    expect(() => accpLanguage(options as AccpLanguageOptions)).toThrow(new TypeError(message));
  });

  test.each(['42', '', 'two words', 'é', 'true'])('the text %j, which no frame can contain as a string', (value) => {
    expect(() => accpLanguage({ fields: { q: { enum: [value] } } })).toThrow(
      /^fields\.q\.enum: .* cannot be written: /,
    );
  });

  test('a duplicate key', () => {
    const fields = [
      ['q', {}],
      ['q', {}],
    ] as const;
    expect(() => accpLanguage({ fields })).toThrow(new TypeError('fields has the key "q" twice'));
  });
});
