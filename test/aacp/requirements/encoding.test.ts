/** Rule-based encoding, and the data that it leaves out (draft-mackay-aacp-01, sections 6.1, 9, 10.4). */
import { describe, expect, test } from 'vitest';
import { aacp, packet } from '../../../src/aacp/build/index.js';
import {
  type EncodeOptions,
  encodeStep,
  type InputInfo,
  listWorkflows,
  type StepResult,
} from '../../../src/aacp/encoders/index.js';
import { parsePacket, validatePacket } from '../../../src/aacp/index.js';
import { lintPacket } from '../../../src/aacp/lint/lint.js';

type Args = Readonly<Record<string, unknown>>;

interface Step {
  readonly name: string;
  readonly inputs: readonly InputInfo[];
  /** A call with every input. */
  readonly args: Args;
  readonly run: (args: Args, options?: EncodeOptions) => readonly StepResult[];
}

/** All steps and all sequences. */
const STEPS: readonly Step[] = listWorkflows().flatMap(({ encoder, methods }) =>
  methods.map(({ name, inputs }) => ({
    name: `${encoder}.${name}`,
    inputs,
    args: Object.fromEntries(inputs.map((input) => [input.name, input.example ?? input.default])),
    run: (args, options) => [encodeStep(encoder as string, name as string, args, options)].flat(),
  })),
);

function packetsOf(results: readonly StepResult[]): readonly string[] {
  return results.map((result) => result.packet);
}

/** Another value of the same kind. */
function another(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, 'one_more'];
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (/^[A-Z]{3}$/.test(String(value))) return 'XTS';
  return /^[1-3]$/.test(String(value)) ? String((Number(value) % 3) + 1) : `${String(value)}2`;
}

describe('rule-based encoding (section 6.1)', () => {
  test('there are the four workflows of the draft, and four more', () => {
    const names = listWorkflows().map(({ encoder }) => encoder);
    expect(names).toEqual(expect.arrayContaining(['PayrollEncoder', 'ITEncoder', 'InvoiceEncoder', 'ContractEncoder']));
    expect(names).toHaveLength(8);
  });

  test.each([
    ['PayrollEncoder', 6],
    ['ITEncoder', 6],
    ['InvoiceEncoder', 3],
    ['ContractEncoder', 3],
  ])('%s has %i hops, each a valid packet', (encoder, hops) => {
    const steps = listWorkflows()
      .find((info) => info.encoder === encoder)!
      .methods.filter(({ kind }) => kind === 'step');
    expect(steps).toHaveLength(hops);
    for (const { example } of steps) expect(validatePacket(example!.packets[0]!)).toMatchObject({ errors: [] });
  });

  test.each(STEPS)('$name: each step gives a valid packet without a warning', ({ args, run }) => {
    for (const { packet: text, task, domain, diagnostics } of run(args)) {
      expect(validatePacket(text)).toMatchObject({ valid: true, warnings: [] });
      expect([parsePacket(text).task, parsePacket(text).domain, diagnostics]).toEqual([task, domain, []]);
    }
  });

  test.each(STEPS)('$name: the same input gives the same packet', ({ args, run }) => {
    const first = packetsOf(run(args));
    expect(packetsOf(run({ ...args }))).toEqual(first);
    // The result does not depend on the order of inputs, or on other calls.
    for (const { args: others, run: runOther } of STEPS.slice(0, 5)) runOther(others);
    expect(packetsOf(run(Object.fromEntries(Object.entries(args).reverse())))).toEqual(first);
  });

  test.each(STEPS)('$name: steps are free, and have no model to call', ({ args, run }) => {
    for (const result of run(args)) {
      // An asynchronous answer would be a promise.
      expect([result instanceof Promise, result.cost]).toEqual([false, 0]);
    }
  });

  test.each(STEPS)('$name: each given input matters: another value gives another packet', ({ inputs, args, run }) => {
    const before = packetsOf(run(args));
    for (const { name } of inputs) {
      expect(packetsOf(run({ ...args, [name]: another(args[name]) })), name).not.toEqual(before);
    }
  });

  test.each(STEPS)('$name: packets that reproduce the reference SDK also contain aacp:1.1', ({ args, run }) => {
    for (const { packet: text } of run(args, { compat: 'sdk' })) {
      expect(parsePacket(text).fields).toContainEqual({ key: 'aacp', value: '1.1' });
    }
  });

  test.each(STEPS)(
    '$name: a pipe in an input is rejected with the name of the input, in both modes',
    ({ inputs, args, run }) => {
      for (const { name, type, personal } of inputs.filter((input) => input.type !== 'boolean')) {
        const hostile = { ...args, [name]: type === 'list' ? ['x|return:EVE'] : 'x|return:EVE' };
        const named = expect.objectContaining({ name: 'EncodeError', path: expect.stringContaining(name) });
        if (!personal) expect(() => run(hostile), name).toThrow(named);
        for (const options of [{}, { compat: 'sdk' }] as const) {
          try {
            // Data behind a pointer, and data that the reference leaves out, cannot do harm.
            for (const text of packetsOf(run(hostile, options))) expect(text, name).not.toContain('EVE');
          } catch (error) {
            expect(error, name).toEqual(named);
          }
        }
      }
    },
  );
});

describe('boundaries (section 9)', () => {
  const LISTS = ['fields', 'data_ptr'];

  test.each(STEPS)(
    '$name: a receiver that knows its fields gets neither a list of them nor a pointer',
    ({ args, run }) => {
      for (const { packet: text } of run(args, { receiver: { knowsFields: true } })) {
        expect(parsePacket(text).fields.filter(({ key }) => LISTS.includes(key))).toEqual([]);
        expect(validatePacket(text)).toMatchObject({ valid: true, warnings: [] });
      }
    },
  );

  test.each([
    [
      'PayrollEncoder',
      'fetch_employees',
      { period: '2024-08', fields: ['id', 'name'] },
      [['fields', 'fields', 'id,name']],
    ],
    [
      'ITEncoder',
      'provision_email',
      { email: 'jo@example.com' },
      [
        ['fields', 'fields', 'licence,sig,dl'],
        ['email', 'data_ptr', 'jo@example.com'],
      ],
    ],
    // The list belongs to the step itself.
    [
      'PayrollEncoder',
      'fetch_budgets',
      { period: '2024-08' },
      [['fields', 'fields', 'cc_id,approved_budget,ytd_spend']],
    ],
    // The zones are written with another key: no data is lost.
    ['ITEncoder', 'provision_badge', { username: 'jo', zones: ['roof'] }, []],
  ] as const)('%s.%s: data that such a receiver does not get is reported', (encoder, method, args, lost) => {
    const [result] = [encodeStep(encoder as string, method, args, { receiver: { knowsFields: true } })].flat();
    const redundant = result!.losses.filter(({ kind }) => kind === 'known-to-receiver');
    expect(redundant.map(({ input, key, from }) => [input, key, from])).toEqual(lost);
  });

  test('a packet that is built for such a receiver has neither', () => {
    const input = { task: 'FETCH', domain: 'HR', return: 'A', p: 1, fields: ['a', 'b'], data_ptr: 'vault:7' } as const;
    expect(packet(input)).toBe('FETCH|HR|return:A|p:1|aacp:1.1|fields:a,b|data_ptr:vault:7');
    expect(packet(input, { receiver: { knowsFields: true } })).toBe('FETCH|HR|return:A|p:1|aacp:1.1');
  });

  test('redundant fields are found in packets that are written by hand', () => {
    const text = aacp`FETCH|HR|return:A|p:1|aacp:1.1|fields:${['a', 'b']}|data_ptr:vault:7|res:x`;
    const found = lintPacket(text, { receiver: { knowsFields: true } });
    expect(found.map(({ code, severity, section, span }) => [code, severity, section, span?.start])).toEqual([
      ['redundant-field', 'warning', '9', text.indexOf('fields:')],
      ['redundant-field', 'warning', '9', text.indexOf('data_ptr:')],
    ]);
    expect(lintPacket(text)).toEqual([]);
  });
});
