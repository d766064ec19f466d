import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type * as z from 'zod';
import type { Field, Packet } from '../../src/aacp/ast.js';
import { parsePacket } from '../../src/aacp/index.js';
import { packetJsonSchema, packetSchema } from '../../src/aacp/language/schema.js';
import { toJson } from '../../src/cli/io/json.js';
import { packetCases, validatorCases } from '../conformance/fixtures.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { runs } from '../helpers/runs.js';

const validates = new Ajv2020({ strict: true }).compile(packetJsonSchema());
const ACCEPTED = packetCases().filter(({ canonical }) => canonical !== undefined);

type PacketOut = z.output<typeof packetSchema>;

test('the types of the schema are those of the tree', () => {
  expectTypeOf<Packet>().toExtend<PacketOut>();
  expectTypeOf<PacketOut>().toExtend<Packet>();
  // Types with and without an optional member extend each other, so the members are compared, too.
  expectTypeOf<keyof PacketOut>().toEqualTypeOf<keyof Packet>();
  expectTypeOf<keyof PacketOut['fields'][number]>().toEqualTypeOf<keyof Field>();
  expectTypeOf<keyof NonNullable<PacketOut['span']>>().toEqualTypeOf<keyof NonNullable<Packet['span']>>();
});

function expectInShape(packet: Packet): void {
  const json: unknown = JSON.parse(toJson(packet));
  expect(validates(json), JSON.stringify(validates.errors)).toBe(true);
  expect(packetSchema.parse(json)).toEqual(packet);
}

test.each(ACCEPTED)('the tree of $id matches the schema', ({ packet }) => {
  expectInShape(parsePacket(packet));
});

test.each(validatorCases())('the tolerant tree of $id matches the schema', ({ packet }) => {
  expectInShape(parsePacket(packet, { dialect: 'tolerant', spans: true }));
});

test.each([
  ['strict', packetTexts('strict')],
  ['tolerant', fc.oneof(packetTexts('tolerant'), packetMutants('tolerant'))],
] as const)('the tree of any text matches the schema: %s', (dialect, texts) => {
  fc.assert(
    fc.property(texts, fc.boolean(), (text, spans) => expectInShape(parsePacket(text, { dialect, spans }))),
    runs(500),
  );
});

describe('a value that is not a packet tree is rejected', () => {
  const packet = { kind: 'packet', task: 'FETCH', domain: 'HR', fields: [{ key: 'k', value: 'v' }] };

  test.each<[string, unknown]>([
    ['no object', 'FETCH|HR'],
    ['nothing in it', {}],
    ['another kind', { ...packet, kind: 'frame' }],
    ['an unknown member', { ...packet, note: '' }],
    ['no domain', { kind: 'packet', task: 'FETCH', fields: [] }],
    ['a task that is null', { ...packet, task: null }],
    ['fields as an object', { ...packet, fields: { k: 'v' } }],
    ['a field without a value', { ...packet, fields: [{ key: 'k' }] }],
    ['a number as a value', { ...packet, fields: [{ key: 'k', value: 1 }] }],
    ['a field with bare: false', { ...packet, fields: [{ key: 'k', value: 'v', bare: false }] }],
    ['half a span', { ...packet, span: { start: 0 } }],
    ['a fraction in a span', { ...packet, span: { start: 0, end: 1.5 } }],
  ])('%s', (_name, tree) => {
    expect(validates(packet)).toBe(true);
    expect(validates(tree)).toBe(false);
    expect(packetSchema.safeParse(tree).success).toBe(false);
  });
});

test('the JSON Schema names its definitions, and is the same each time', () => {
  const schema = packetJsonSchema();
  expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'AACP packet' });
  expect(Object.keys(schema.$defs!).toSorted()).toEqual(['field', 'span']);
  expect(Object.values(schema.$defs!).filter((part) => !(part as { description?: string }).description)).toEqual([]);
  expect(JSON.stringify(packetJsonSchema())).toBe(JSON.stringify(schema));
  expect(JSON.stringify(schema)).not.toContain('readOnly');
});
