/** Types that the compiler must accept or reject. Each line below is also executed. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  EncodeError,
  type FieldValue,
  fromObject,
  type PacketInput,
  packet,
  toObject,
} from '../../../src/aacp/encoders/index.js';

/** An interface has no index signature. */
interface Row {
  task: string;
  domain: string;
  return: string;
  p: 1 | 2 | 3;
  res: string;
  fields: string[];
  org_batch?: number;
}

interface Lenient extends Row {
  org_done: boolean;
}

const ROW: Row = { task: 'FETCH', domain: 'HR', return: 'HR-Agent', p: 1, res: 'emp', fields: ['id'], org_batch: 7 };
const TEXT = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp|fields:id|org_batch:7';

describe('packet accepts', () => {
  test('a value of an interface, and of a type of one, with private keys', () => {
    expect(packet(ROW)).toBe(TEXT);
    expect(packet(Object.freeze({ ...ROW }))).toBe(TEXT);
    const rows: readonly Row[] = [ROW];
    expect(rows.map((row) => packet(row))).toEqual([TEXT]);
  });

  test('an object literal with private keys', () => {
    expect(packet({ task: 'ACK', domain: 'HR', return: ['A', 'B'], org_x: 5n, org_y: null })).toBe(
      'ACK|HR|return:A,B|aacp:1.1|org_x:5',
    );
  });

  test('a PacketInput to which fields are added', () => {
    const input: PacketInput = { task: 'ACK', domain: 'HR', return: 'A' };
    const more: Record<string, FieldValue> = { org_x: 'y' };
    expect(packet({ ...input, ...more })).toBe('ACK|HR|return:A|aacp:1.1|org_x:y');
    expect(packet(input, { receiver: { knowsFields: true } })).toBe('ACK|HR|return:A|aacp:1.1');
  });

  test('the type of its own parameter, also from a generic function', () => {
    const input: Parameters<typeof packet>[0] = { task: 'ACK', domain: 'HR', return: 'A', org_x: 'A' };
    const all = <T extends PacketInput>(...inputs: readonly T[]): string[] => inputs.map((one) => packet(one, {}));
    expect(all(input)).toEqual(['ACK|HR|return:A|aacp:1.1|org_x:A']);
  });

  test('rejects values that cannot be written', () => {
    const done: Lenient = { ...ROW, org_done: true };
    const { return: _, ...without } = ROW;
    const cases = [
      // @ts-expect-error: a boolean is not a value of a field
      () => packet(done),
      // @ts-expect-error: nor in an object literal
      () => packet({ task: 'ACK', domain: 'HR', return: 'A', org_x: true }),
      // @ts-expect-error: return is missing
      () => packet(without),
      () =>
        // @ts-expect-error: return is missing here, too, beside a private key
        packet({
          task: 'ACK',
          domain: 'HR',
          org_x: 'A',
        }),
      // @ts-expect-error: p is 1, 2 or 3
      () => packet({ ...ROW, p: 4 }),
      // @ts-expect-error: a list of packets is not a packet
      () => packet([ROW]),
    ];
    for (const wrong of cases) expect(wrong).toThrow(EncodeError);
  });
});

test('fromObject accepts what packet accepts, and the results of toObject', () => {
  const tree = fromObject(ROW);
  expect(tree.fields.map(({ key }) => key)).toEqual(['return', 'p', 'res', 'fields', 'org_batch']);
  expect(fromObject(toObject(tree))).toEqual(tree);
  const parsed: Record<string, string> = JSON.parse(JSON.stringify(toObject(tree)));
  expect(fromObject(parsed)).toEqual(tree);
  // @ts-expect-error: a date is not a value of a field
  expect(() => fromObject({ ...ROW, period: new Date(0) })).toThrow(EncodeError);
  // @ts-expect-error: a list is not an object of fields
  expect(() => fromObject(['ACK', 'HR'])).toThrow(EncodeError);
});

test('fromObject accepts the type of its own parameter, also from a generic function', () => {
  const object: Parameters<typeof fromObject>[0] = { task: 'ACK', domain: 'HR', return: 'A', org_x: 5 };
  const all = <T extends PacketInput>(...inputs: readonly T[]) => inputs.map((one) => fromObject(one));
  const fields = [
    { key: 'return', value: 'A' },
    { key: 'org_x', value: '5' },
  ];
  expect(fromObject(object).fields).toEqual(fields);
  expect(all({ task: 'ACK', domain: 'HR', return: 'A', org_x: 5 })).toMatchObject([{ fields }]);
  // @ts-expect-error: a date is not a value of a field
  const wrong: typeof object = { task: 'ACK', domain: 'HR', return: 'A', period: new Date(0) };
  expect(() => fromObject(wrong)).toThrow(EncodeError);
});

test('editors know the keys of the draft', () => {
  expectTypeOf<PacketInput['p']>().toEqualTypeOf<1 | 2 | 3 | '1' | '2' | '3' | null | undefined>();
  expectTypeOf<PacketInput['org_anything']>().toEqualTypeOf<FieldValue>();
});
