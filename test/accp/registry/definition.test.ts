import { describe, expect, test } from 'vitest';
import { checkDefinition } from '../../../src/accp/registry/definition.js';
import { refusal, refused } from './refusals.js';

const REPORT = {
  code: 'SR',
  version: 1,
  fields: ['period', 'revenue', 'growth_pct', 'segments', 'notes'],
  defaults: { period: 'quarterly', segments: [] },
};

function path(changes: object, name = 'sales_report'): string | undefined {
  const error = refusal(() => checkDefinition(name, { ...REPORT, ...changes }));
  if (error !== null) expect(error[0]).toBe('E1004');
  return error?.[1];
}

describe('a definition is accepted', () => {
  test("as the draft's example has it", () => {
    expect(checkDefinition('sales_report', REPORT)).toEqual(REPORT);
  });

  test('with types and operations', () => {
    const definition = {
      ...REPORT,
      types: { period: 'string', segments: 'array' },
      operations: ['report', 'forecast'],
    };
    expect(checkDefinition('sales_report', definition)).toEqual(definition);
  });

  test('as a frozen copy without prototypes', () => {
    const segments: string[] = [];
    const definition = checkDefinition('x', { ...REPORT, defaults: { segments, notes: { a: 1 } } });
    segments.push('late');
    expect(definition.defaults).toEqual({ segments: [], notes: { a: 1 } });
    for (const object of [definition, definition.defaults, definition.defaults!['notes']]) {
      expect(Object.getPrototypeOf(object)).toBeNull();
      expect(Object.isFrozen(object)).toBe(true);
    }
    expect(Object.isFrozen(definition.fields)).toBe(true);
  });

  test('with fields that are names of object properties', () => {
    const fields = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const json = `{"code":"H","version":1,"fields":${JSON.stringify(fields)},"defaults":{"__proto__":"a"},"types":{"__proto__":"string","constructor":"any"}}`;
    const definition = checkDefinition('__proto__', JSON.parse(json));
    expect(JSON.parse(JSON.stringify(definition))).toEqual(JSON.parse(json));
    expect(Object.keys(definition.defaults!)).toEqual(['__proto__']);
    expect(definition.types!['toString']).toBeUndefined();
  });

  test('without undefined and empty members', () => {
    const definition = { ...REPORT, defaults: { period: undefined }, types: undefined, operations: [] };
    expect(Object.keys(checkDefinition('x', definition))).toEqual(['code', 'version', 'fields']);
  });
});

describe('a definition is rejected with the path of its error', () => {
  test.each([
    ['', 'schemas'],
    ['sales report', 'schemas'],
    ['42', 'schemas'],
    ['true', 'schemas'],
  ])('name %j', (name, expected) => {
    expect(path({}, name)).toBe(expected);
  });

  test.each([
    ['code', ['', '42', '4R', 'S-R', 'S_R', 'true', 'false', 'S R', 'é', 7, null, undefined]],
    ['version', [0, -1, 1.5, '1', null, undefined, 2 ** 53, Number.NaN]],
    ['fields', ['period', null, undefined, { 0: 'period' }]],
    ['defaults', [[], null, 'x', new Map(), new Date(0)]],
    ['types', [[], null, 'string']],
    ['operations', ['x', null]],
  ])('%s', (member, values) => {
    for (const value of values) expect(path({ [member]: value }), String(value)).toBe(`schemas.sales_report.${member}`);
  });

  test.each([
    ['a bad character', ['period', 'growth-pct']],
    ['nothing', ['period', '']],
    ['digits alone', ['period', '42']],
    ['a boolean', ['period', 'true']],
    ['a repetition', ['period', 'period']],
    ['the key that names the schema', ['period', 'schema']],
    ['a short form', ['period', 'src']],
    ['no text', ['period', 7]],
  ])('a field that is %s', (_, fields) => {
    expect(path({ fields, defaults: {} })).toBe('schemas.sales_report.fields[1]');
  });

  test.each([
    ['another field', { defaults: { perod: 'x' } }, 'defaults'],
    ['a type of another field', { types: { perod: 'string' } }, 'types'],
    ['an unknown type', { types: { period: 'text' } }, 'types.period'],
    ['a repeated operation', { operations: ['a', 'a'] }, 'operations[1]'],
    ['a bad operation', { operations: ['a', 'b-c'] }, 'operations[1]'],
  ])('%s', (_, changes, place) => {
    expect(path(changes)).toBe(`schemas.sales_report.${place}`);
  });

  test('a misspelt member, with a suggestion', () => {
    const { fields, ...rest } = REPORT;
    expect(path({ default: {} })).toBe('schemas.sales_report');
    expect(refused(() => checkDefinition('x', { ...rest, fields, default: {} }))?.[2]).toContain('"default"');
  });

  test.each([null, undefined, 'SR', 7, []])('%j instead of a definition', (definition) => {
    expect(refusal(() => checkDefinition('x', definition))).toEqual(['E1004', 'schemas.x']);
  });
});

describe('a default is rejected', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  class Thing {}

  test.each([
    ['a bigint', 1n],
    ['a function', () => 1],
    ['NaN', Number.NaN],
    ['an infinity', Number.POSITIVE_INFINITY],
    ['an integer beyond 2^53', 2 ** 53],
    ['a decimal beyond six places', 0.1234567],
    ['a decimal with an exponent', 1e-7],
    ['an instance', new Thing()],
    ['more than five levels', deep(6)],
    ['a hundred thousand levels', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
  ])('that is %s', (_, value) => {
    const error = refusal(() => checkDefinition('x', { ...REPORT, defaults: { notes: value } }));
    expect(error?.[0]).toBe('E1004');
    expect(error?.[1]).toMatch(/^schemas\.x\.defaults\.notes/);
  });

  test.each([
    ['string', 7],
    ['integer', 1.5],
    ['integer', 'x'],
    ['decimal', '1.5'],
    ['number', true],
    ['boolean', 'true'],
    ['array', {}],
    ['map', []],
    ['string', null],
  ])('where the type is %s and the value %j', (type, value) => {
    const definition = { ...REPORT, defaults: { notes: value }, types: { notes: type } };
    expect(refusal(() => checkDefinition('x', definition))).toEqual(['E1004', 'schemas.x.defaults.notes']);
  });

  test.each([
    ['string', ''],
    ['string', '42'],
    ['integer', -7],
    ['decimal', 2],
    ['number', 0.5],
    ['boolean', false],
    ['array', [[[[[]]]]]],
    ['map', { 'any key': null }],
    ['any', null],
  ])('not where the type is %s and the value %j', (type, value) => {
    const definition = { ...REPORT, defaults: { notes: value }, types: { notes: type } };
    expect(checkDefinition('x', definition).defaults).toEqual({ notes: value });
  });

  test('not for a negative zero, which becomes zero', () => {
    expect(checkDefinition('x', { ...REPORT, defaults: { notes: -0 } }).defaults!['notes']).toBe(0);
  });
});
