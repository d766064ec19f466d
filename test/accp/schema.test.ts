import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import { parseFrame, printFrame } from '../../src/accp/index.js';
import { type FrameJson, frameJsonSchema, frameSchema, valueSchema } from '../../src/accp/language/schema.js';
import { toJson } from '../../src/cli/io/json.js';
import { accpCases } from '../conformance/fixtures.js';
import { frames, frameTexts } from '../helpers/accp-arbitraries.js';
import { runs } from '../helpers/runs.js';

const validates = new Ajv2020({ strict: true }).compile(frameJsonSchema());
const WITH_TREE = accpCases().filter(({ ast }) => ast !== undefined);

/** A frame with one parameter. */
function frameWith(value: unknown, more: object = {}): unknown {
  const payload = [{ key: 'v', value }];
  return { kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload, metadata: null, ...more };
}

function jsonOf(frame: Frame): unknown {
  return JSON.parse(toJson(frame));
}

type ValueOut = z.output<typeof valueSchema>;
type FrameOut = z.output<typeof frameSchema>;
/** Types with and without an optional member extend each other: so the members are compared, too. */
type Members<Node extends { readonly kind: string }> = { [N in Node as N['kind']]: keyof N };

test('the types of the schemas are those of the tree', () => {
  expectTypeOf<Value>().toExtend<ValueOut>();
  expectTypeOf<ValueOut>().toExtend<Value>();
  expectTypeOf<Members<ValueOut>>().toEqualTypeOf<Members<Value>>();
  expectTypeOf<Frame>().toExtend<FrameOut>();
  expectTypeOf<FrameOut>().toExtend<Frame>();
  expectTypeOf<Members<FrameOut>>().toEqualTypeOf<Members<Frame>>();
  expectTypeOf<keyof FrameOut['payload'][number]>().toEqualTypeOf<keyof Param>();
  expectTypeOf<keyof NonNullable<FrameOut['span']>>().toEqualTypeOf<keyof NonNullable<Frame['span']>>();
});

test.each(WITH_TREE)('the tree of $id matches the schema', ({ ast, input, dialect }) => {
  expect(validates(ast), JSON.stringify(validates.errors)).toBe(true);
  expect(frameSchema.parse(ast)).toEqual(parseFrame(input, { dialect }));
});

describe('the JSON of a frame', () => {
  test.each(['strict', 'lenient'] as const)('matches the schema, and comes back as the tree: %s texts', (dialect) => {
    fc.assert(
      fc.property(frameTexts(dialect), fc.boolean(), (text, spans) => {
        const frame = parseFrame(text, { dialect, spans });
        const json = jsonOf(frame);
        expect(validates(json), JSON.stringify(validates.errors)).toBe(true);
        expect(frameSchema.parse(json)).toEqual(frame);
        expect(z.encode(frameSchema, frame)).toEqual(json);
      }),
      runs(300),
    );
  });

  test('matches the schema for handwritten trees', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        const json: unknown = JSON.parse(JSON.stringify(z.encode(frameSchema, frame)));
        expect(validates(json), JSON.stringify(validates.errors)).toBe(true);
        // Small integers come back as numbers, and JSON knows no negative zero: the text is the same.
        expect(printFrame(frameSchema.parse(json))).toBe(printFrame(frame));
      }),
      runs(300),
    );
  });

  test('has strings for big integers and infinities, and decodes them', () => {
    const json = {
      big: { kind: 'integer', value: '-9007199254740993' },
      huge: { kind: 'decimal', value: 'Infinity', text: `${'9'.repeat(400)}.0` },
      low: { kind: 'decimal', value: '-Infinity', text: `-${'9'.repeat(400)}.0` },
    };
    const values = Object.values(json).map((value) => valueSchema.parse(value));
    expect(values.map((value) => 'value' in value && value.value)).toEqual([-9007199254740993n, Infinity, -Infinity]);
    expect(values.map((value) => z.encode(valueSchema, value))).toEqual(Object.values(json));
  });
});

describe('an input that is not a tree of a frame is rejected', () => {
  const string = { kind: 'string', value: 'x' };

  test.each<[string, unknown]>([
    ['no object', null],
    ['a list', []],
    ['nothing in it', {}],
    ['another kind', frameWith(string, { kind: 'envelope' })],
    ['an unknown member', frameWith(string, { note: 1 })],
    ['metadata left out', { kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload: [] }],
    ['an empty metadata block', frameWith(string, { metadata: [] })],
    ['an agent with a space', frameWith(string, { agent: 'a b' })],
    ['an intent with a digit', frameWith(string, { intent: 'req1' })],
    ['an empty operation', frameWith(string, { operation: '' })],
    ['a key with a line end', frameWith(string, { payload: [{ key: 'v\n', value: string }] })],
    ['a parameter without a value', frameWith(string, { payload: [{ key: 'v' }] })],
    ['a span that is none', frameWith(string, { span: { start: -1, end: 2 } })],
    ['a span that is null', frameWith(string, { span: null })],
    ['a value without a kind', frameWith({ value: 'x' })],
    ['an unknown kind', frameWith({ kind: 'number', value: 1 })],
    ['an inherited name for a kind', frameWith({ kind: 'constructor' })],
    ['an empty string', frameWith({ kind: 'string', value: '' })],
    ['a string beyond visible ASCII', frameWith({ kind: 'string', value: 'é' })],
    ['a fraction as an integer', frameWith({ kind: 'integer', value: 1.5 })],
    ['an integer that a double rounds', frameWith({ kind: 'integer', value: 2 ** 53 })],
    ['a small integer as a string', frameWith({ kind: 'integer', value: '12' })],
    ['a big integer with a leading zero', frameWith({ kind: 'integer', value: '09007199254740993' })],
    ['an integer with the text of a decimal', frameWith({ kind: 'integer', value: 1, text: '1.0' })],
    ['a decimal as a string', frameWith({ kind: 'decimal', value: '1.5' })],
    ['a decimal that is no number', frameWith({ kind: 'decimal', value: 'NaN' })],
    ['a decimal with the text of an integer', frameWith({ kind: 'decimal', value: 1, text: '1' })],
    ['a boolean as a string', frameWith({ kind: 'boolean', value: 'true' })],
    ['null with a value', frameWith({ kind: 'null', value: null })],
    ['a path with a dollar sign', frameWith({ kind: 'ref', path: '$a' })],
    ['an array without items', frameWith({ kind: 'array' })],
    [
      'a wrong item deep inside',
      frameWith({ kind: 'array', items: [{ kind: 'array', items: [{ kind: 'ref', path: '' }] }] }),
    ],
    ['a wrong entry', frameWith({ kind: 'map', entries: [{ key: 'a', value: { kind: 'map', entries: {} } }] })],
    ['an entry that is a pair', frameWith({ kind: 'map', entries: [['a', string]] })],
  ])('%s', (_name, tree) => {
    expect(validates(frameWith(string))).toBe(true);
    expect(validates(tree)).toBe(false);
    expect(frameSchema.safeParse(tree).success).toBe(false);
  });

  test('a safe integer as sixteen digits in a string, by the zod schema alone', () => {
    expect(frameSchema.safeParse(frameWith({ kind: 'integer', value: '1000000000000000' })).success).toBe(false);
    expect(frameSchema.safeParse(frameWith({ kind: 'integer', value: '9007199254740992' })).success).toBe(true);
  });

  test('not a number as a decimal, on the way to JSON', () => {
    const frame = frameWith({ kind: 'decimal', value: Number.NaN }) as Frame;
    expect(() => z.encode(frameSchema, frame)).toThrow(z.ZodError);
  });
});

test('the JSON Schema names its parts, and is the same each time', () => {
  const schema = frameJsonSchema();
  expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'ACCP frame' });
  const kinds = ['array', 'boolean', 'decimal', 'integer', 'map', 'null', 'param', 'ref', 'span', 'string', 'value'];
  expect(Object.keys(schema.$defs!).toSorted()).toEqual(kinds);
  expect(Object.values(schema.$defs!).filter((part) => !(part as { description?: string }).description)).toEqual([]);
  expect(JSON.stringify(frameJsonSchema())).toBe(JSON.stringify(schema));
  expect(JSON.stringify(schema)).not.toContain('readOnly');
});

test('the type of the JSON form has no bigint', () => {
  expectTypeOf<bigint>().not.toExtend<IntegerJson['value']>();
  expectTypeOf<string>().toExtend<IntegerJson['value']>();
});

type IntegerJson = Extract<FrameJson['payload'][number]['value'], { readonly kind: 'integer' }>;
