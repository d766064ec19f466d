/** Narrowed AACP: the language accepts exactly the texts that the reference parser accepts and the options allow. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Field, Packet } from '../../src/aacp/ast.js';
import { canonicalizePacket, type Dialect, printPacket, tryParsePacket, validatePacket } from '../../src/aacp/index.js';
import { type AacpLanguageOptions, aacpLanguage, type FieldOptions } from '../../src/aacp/language/language.js';
import type { Grammar } from '../../src/fuzz/grammar/grammar.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { runs } from '../helpers/runs.js';

// ---- The meaning of the options, checked on the tree ----------------------------------------------------------------

function reading(text: string, dialect?: Dialect): Packet | null {
  const result = tryParsePacket(text, { dialect });
  return result.ok ? result.value : null;
}

const DEFAULTS: readonly (readonly [string, FieldOptions])[] = [
  ['return', {}],
  ['p', { enum: ['1', '2', '3'], optional: true }],
  ['aacp', { enum: ['1.1'] }],
];

/** All fields in order, with the allowed values; null if the options do not restrict fields. */
function fieldsOf({ returnAgents, fields }: AacpLanguageOptions): readonly (readonly [string, FieldOptions])[] | null {
  if (returnAgents === undefined && fields === undefined) return null;
  const own = Object.entries(fields ?? {}) as [string, FieldOptions][];
  const head = DEFAULTS.map(([key, byDefault]) => {
    const given = own.find(([name]) => name === key)?.[1] ?? byDefault;
    const values = given.enum ?? (key === 'return' ? returnAgents : undefined) ?? byDefault.enum;
    return [key, { ...given, enum: values }] as const;
  });
  return [...head, ...own.filter(([key]) => !DEFAULTS.some(([name]) => name === key))];
}

function allows(options: AacpLanguageOptions, packet: Packet): boolean {
  if (options.tasks?.includes(packet.task) === false || options.domains?.includes(packet.domain) === false)
    return false;
  const fields = fieldsOf(options);
  if (fields === null) return true;
  const rest: Field[] = [...packet.fields];
  for (const [key, { enum: values, optional }] of fields) {
    if (rest[0]?.key === key) {
      const { value } = rest.shift()!;
      if (value === '' || values?.includes(value) === false) return false;
    } else if (!optional) return false;
  }
  const listed = fields.map(([key]) => key);
  if (options.fields !== undefined) return rest.length === 0;
  return rest.every(({ key, value }) => value !== '' && !listed.includes(key));
}

// ---- Texts close to the limits of the options -----------------------------------------------------------------------

const VALUES = [
  '',
  'HR',
  'HR-Agent',
  'HR-Agent2',
  '1',
  '12',
  '1.1',
  '1.10',
  'json',
  'jso',
  'two  words',
  ' x',
  'x ',
  'a:b',
  '\ud800',
  'é',
];
const WORDS = { tasks: ['FETCH', 'FETCH2', 'FET'], domains: ['HR', 'H', 'FIN'] };

/** Usually the wanted part, sometimes another one: texts that are almost allowed must be as frequent as allowed ones. */
function mostly<T>(wanted: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 8, arbitrary: wanted }, { weight: 1, arbitrary: other });
}

function nearTexts(options: AacpLanguageOptions): fc.Arbitrary<string> {
  const word = (name: keyof typeof WORDS): fc.Arbitrary<string> =>
    mostly(fc.constantFrom(...(options[name] ?? WORDS[name])), fc.constantFrom(...WORDS[name]));
  const slots = (fieldsOf(options) ?? DEFAULTS).map(([key, field]) => {
    const value = mostly(
      fc.constantFrom(...(field.enum ?? ['HR-Agent', 'two  words', 'é'])),
      fc.constantFrom(...VALUES),
    );
    const slot = value.map((text): string | null => `${key}:${text}`);
    return field.optional ? fc.option(slot) : mostly(slot, fc.constant(null));
  });
  const inOrder = fc.tuple(...slots).map((list) => list.filter((slot) => slot !== null));
  const disturbed = inOrder.chain((list) =>
    fc.oneof(
      fc.constant([...list].reverse()),
      fc.constant([...list, ...list.slice(0, 1)]),
      fc.constant([...list, 'other:1', 'p_2:3']),
      fc.constant([...list, 'other:']),
      fc.constant(['', ...list]),
    ),
  );
  const fields = fc.oneof({ weight: 2, arbitrary: inOrder }, { weight: 1, arbitrary: disturbed });
  return fc
    .tuple(word('tasks'), word('domains'), fields)
    .map(([task, domain, list]) => [task, domain, ...list].join('|'));
}

const OPTIONS: readonly (readonly [name: string, options: AacpLanguageOptions])[] = [
  ['words that begin alike', { tasks: ['FET', 'FETCH', 'FETCH2'], domains: ['H', 'HR'] }],
  ['a task', { tasks: ['FETCH'] }],
  ['who gets the result', { returnAgents: ['HR', 'HR-Agent', 'HR-Agent2'] }],
  ['no fields but the first', { fields: {} }],
  [
    'fields in their order',
    { fields: { res: {}, fmt: { enum: ['json', 'jso'], optional: true }, fmt_2: { optional: true } } },
  ],
  [
    'first fields of its own',
    {
      fields: {
        fmt: { optional: true },
        p: { enum: ['1', '12'] },
        aacp: { optional: true },
        return: { optional: true },
      },
    },
  ],
  [
    'optional fields only',
    { fields: { return: { optional: true }, aacp: { optional: true, enum: ['1.1', '1.10'] }, a: { optional: true } } },
  ],
  [
    'fields and who gets the result',
    { domains: ['HR'], returnAgents: ['HR-Agent'], fields: { return: {}, res: { optional: true } } },
  ],
  ['values of any characters', { fields: { res: { enum: ['two  words', '\ud800', 'é', '"\\', '\u2028'] } } }],
];

describe.each(OPTIONS)('a language narrowed to %s', (_name, options) => {
  const language = aacpLanguage(options);

  test('accepts a text exactly when the parser accepts it and the options allow it', () => {
    const texts = fc.oneof(
      { weight: 6, arbitrary: nearTexts(options) },
      packetTexts('strict'),
      packetMutants('strict'),
    );
    const seen = { allowed: 0, refused: 0 };
    const law = fc.property(texts, (text) => {
      const packet = reading(text);
      const isAllowed = packet !== null && allows(options, packet);
      seen[isAllowed ? 'allowed' : 'refused']++;
      expect(language.grammar.accepts(text)).toBe(isAllowed);
    });
    fc.assert(law, runs(400));
    expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(20);
  });

  test('reports that it is narrowed', () => {
    expect(language).toMatchObject({ name: 'aacp', narrowed: true, dialect: 'strict', depth: null });
  });
});

describe.each(['strict', 'tolerant'] as const)('the whole %s dialect', (dialect) => {
  const language = aacpLanguage({ dialect });
  const texts = fc.oneof(packetTexts(dialect), packetMutants(dialect));

  test('accepts the texts that the parser accepts, with the same trees', () => {
    const law = fc.property(texts, (text) => {
      const result = tryParsePacket(text, { dialect });
      const verdict = language.grammar.parse(text);
      expect(verdict.ok).toBe(result.ok);
      if (verdict.ok && result.ok) expect(verdict.value).toStrictEqual(result.value);
    });
    fc.assert(law, runs(300));
    expect(language.narrowed).toBe(false);
  });

  test('returns the tree and the canonical text, or the position and the reason', () => {
    const law = fc.property(texts, (text) => {
      const result = tryParsePacket(text, { dialect });
      const answer = language.read(text);
      if (!result.ok) {
        const { code, span, message } = result.error;
        expect(answer).toMatchObject({ ok: false, code, offset: span?.start, message });
        return;
      }
      expect(answer).toMatchObject({ ok: true, ast: result.value });
      if (dialect === 'strict')
        expect(answer).toMatchObject({ canonical: printPacket(canonicalizePacket(result.value)) });
    });
    fc.assert(law, runs(200));
  });
});

test('a text that only the tolerant dialect accepts has no canonical text', () => {
  expect(aacpLanguage({ dialect: 'tolerant' }).read('fetch|HR|x')).not.toHaveProperty('canonical');
});

test('the exported grammar accepts spaces at the end of a value only if code checks them', () => {
  const { grammar, exportable } = aacpLanguage();
  const names = ({ ast }: Grammar): string[] => ast.rules.map(({ name }) => name);
  expect(names(grammar)).toContain('text_end');
  expect(names(exportable)).not.toContain('text_end');
});

test('packets with the first fields are valid for the validator', () => {
  const { grammar } = aacpLanguage({ fields: { res: { optional: true } } });
  for (const text of ['ACK|HR|return:A|p:1|aacp:1.1|res:x', 'ACK|HR|return:A|aacp:1.1']) {
    expect(grammar.accepts(text)).toBe(true);
    expect(validatePacket(text).errors).toStrictEqual([]);
  }
});

describe('invalid options', () => {
  const word = 'a capital letter, then capital letters, digits, "_" and "-"';
  const value = 'a value: text without "|", control characters, and blanks at its ends';
  const cases: readonly (readonly [options: unknown, message: string])[] = [
    [{ tasks: ['fetch'] }, `tasks: "fetch" is not a TASK: ${word}`],
    [{ domains: ['HR|x:1'] }, `domains: "HR|x:1" is not a DOM: ${word}`],
    [{ domains: [] }, 'domains must contain at least one word'],
    [{ returnAgents: ['A|p:1'] }, `returnAgents: "A|p:1" is not ${value}`],
    [{ returnAgents: [''] }, `returnAgents: "" is not ${value}`],
    [{ task: ['FETCH'] }, 'options: there is no "task"; did you mean "tasks"?'],
    [
      { fields: { Res: {} } },
      'fields: "Res" is not a key: a lower-case letter, followed by lower-case letters, digits and "_"',
    ],
    [{ fields: { res: { enum: [' x'] } } }, `fields.res.enum: " x" is not ${value}`],
    [{ fields: { res: { enum: ['x\n'] } } }, `fields.res.enum: "x\u240a" is not ${value}`],
    [{ fields: { res: { type: 'string' } } }, 'fields.res: there is no "type"'],
    [{ fields: { res: { optional: 1 } } }, 'fields.res.optional must be true or false'],
    [{ dialect: 'lenient' }, "dialect must be one of strict, tolerant; got 'lenient'"],
    [{ dialect: 'tolerant', tasks: ['ACK'] }, 'tasks: the tolerant dialect accepts any text and cannot be narrowed'],
    [
      { returnAgents: ['A'], fields: { return: { enum: ['B'] } } },
      'returnAgents and fields.return.enum have the same meaning; pass only one of them',
    ],
  ];

  test.each(cases)('%j', (options, message) => {
    expect(() => aacpLanguage(options as AacpLanguageOptions)).toThrow(new TypeError(message));
  });
});
