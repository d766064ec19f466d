/** Values that are made to cost much: a result or an error, and no more steps than the value has parts. */
import { describe, expect, test } from 'vitest';
import type { Value } from '../../../src/accp/index.js';
import type { Json } from '../../../src/accp/message/json.js';
import { createReading, readValue } from '../../../src/accp/message/read-value.js';
import { createWriting, writeParam } from '../../../src/accp/message/write-value.js';
import { sized } from '../../helpers/runs.js';
import { receive, refusal, send } from './support.js';

const POLICIES = ['transliterate', 'reject', 'externalize'] as const;

/** More keys than a message may have. */
const KEYS = sized(150_000, 1_000_000);
const MANY: Json = Object.fromEntries(Array.from({ length: KEYS }, (_, index) => [`k${index}`, 1]));

function nested(depth: number, wrap: (inner: Json) => Json): Json {
  let value: Json = null;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

describe.each(POLICIES)('%s', (text) => {
  test.each([
    ['arrays', (inner: Json): Json => [inner]],
    ['maps', (inner: Json): Json => ({ a: inner })],
    ['maps with bad keys', (inner: Json): Json => ({ 'a b': inner })],
  ])('100,000 levels of %s are an error', (_name, wrap) => {
    expect(refusal(() => send(nested(100_000, wrap), text))).toContain('E1004');
  });

  test('too many keys are an error', () => {
    expect(refusal(() => send(MANY, text))).toContain('the message has more than 100000 items');
  });

  test('a long array comes back', () => {
    const value = Array.from({ length: 99_000 }, (_, index) => (index % 2 === 0 ? index : `w${index}`));
    expect(receive(send(value, text), text === 'transliterate').value).toEqual(value);
  });

  test('shared parts do not multiply without bound', () => {
    let value: Json = ['x'];
    for (let level = 0; level < 50; level++) value = [value, value, value, value];
    expect(refusal(() => send(value, text))).toContain('E1004');
  });
});

test('any number of keys comes back without a limit', () => {
  const writing = createWriting({ text: 'transliterate', maxItems: Number.POSITIVE_INFINITY });
  const { value } = writeParam('k', MANY, writing);
  const back = readValue(value, 'k', createReading({ transliterated: true, resolve: () => null }));
  // Not by toHaveLength, which spells the list out.
  expect(Object.keys(back as object).length).toBe(KEYS);
});

test('hundreds of levels come back as JSON in a string, and thousands are an error', () => {
  const value = nested(900, (inner) => ({ 'a b': [inner] as Json }) as Json);
  const deep = nested(400, (inner) => ({ 'a b': [inner] }) as Json);
  expect(refusal(() => send(value, 'transliterate'))).toContain('nesting is deeper than 1000 levels');
  expect(JSON.stringify(receive(send(deep, 'transliterate'), true).value)).toBe(JSON.stringify(deep));
});

test.each([
  ['spaces', ' '],
  ['words', 'word '],
  ['capitals', 'aB'],
  ['open escapes', '=('],
  ['surrogates', '\ud83d'],
  ['line feeds', '\n'],
  ['accents between spaces', '\u00e9 '],
  ['zeros', '0'],
])('a long string of %s comes back', (_name, part) => {
  const text = part.repeat(100_000);
  const sent = createWriting({ text: 'transliterate' });
  const { value } = writeParam('k', text, sent);
  const back = readValue(value, 'k', createReading({ transliterated: true, resolve: () => null }));
  expect(back === text).toBe(true);
});

test.each([
  ['open escapes', `'${'=('.repeat(100_000)}`],
  ['marks', "'".repeat(100_000)],
  ['hyphens', `'${'-'.repeat(100_000)}`],
  ['JSON brackets', `"${'['.repeat(100_000)}`],
  ['big integer', `""#${'9'.repeat(100_000)}"`],
])('a long string of %s is read or rejected', (_name, value) => {
  const node: Value = { kind: 'string', value };
  const read = () => readValue(node, 'k', createReading({ transliterated: true, resolve: () => null }));
  const result = refusal(read);
  expect(Array.isArray(result) ? result[0] : typeof result).toMatch(/^(E1004|string)$/);
});

test('keys of objects are not looked up in Object.prototype', () => {
  const value = { hasOwnProperty: 1, valueOf: [2], toJSON: 'x', length: 3 };
  for (const text of POLICIES) {
    expect({ ...(receive(send(value, text), text === 'transliterate').value as object) }).toEqual(value);
  }
});
