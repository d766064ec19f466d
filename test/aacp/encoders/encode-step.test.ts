/** Steps by their names, and the catalogue of them. */
import { describe, expect, test } from 'vitest';
import { EncodeError, encodeStep, listWorkflows, PayrollEncoder } from '../../../src/aacp/encoders/index.js';
import { METHODS } from './arbitrary-args.js';

const ALIASES = [
  ['PayrollEncoder', 'payroll'],
  ['ITEncoder', 'it'],
  ['InvoiceEncoder', 'invoice'],
  ['ContractEncoder', 'contract'],
  ['SalesEncoder', 'sales'],
  ['JMLEncoder', 'jml'],
  ['CSResolutionEncoder', 'cs_resolution'],
  ['MonthEndEncoder', 'month_end'],
] as const;

function packetsOf(encoder: string, method: string, args: Readonly<Record<string, unknown>>): readonly string[] {
  const result = encodeStep(encoder, method, args);
  return 'packet' in result ? [result.packet] : result.map(({ packet }) => packet);
}

describe('names', () => {
  test.each(ALIASES)('the short name of %s is %s', (encoder, alias) => {
    const info = listWorkflows().find((workflow) => workflow.encoder === encoder);
    expect(info?.alias).toBe(alias);
    for (const { name, example } of info?.methods ?? []) {
      expect(packetsOf(alias, name, example!.args)).toEqual(packetsOf(encoder, name, example!.args));
    }
  });

  test.each(METHODS)('$path can be written in camel case', ({ encoder, name, example }) => {
    const camel = name
      .split('_')
      .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
      .join('');
    expect(packetsOf(encoder, camel, example!.args)).toEqual(example!.packets);
  });

  test('the raw encoder has one method', () => {
    const args = { task: 'ACK', domain: 'HR', return_agent: 'A' };
    expect(encodeStep('RuleBasedEncoder', 'encode', args).packet).toBe('ACK|HR|return:A|p:2|aacp:1.1');
    expect(encodeStep('rule_based', 'encode', args).packet).toBe('ACK|HR|return:A|p:2|aacp:1.1');
  });

  test('an encoder has the same functions', () => {
    const args = { period: '2024-08' };
    expect(PayrollEncoder.log_run(args).packet).toBe(encodeStep('PayrollEncoder', 'log_run', args).packet);
  });

  test.each([
    ['PayrolEncoder', 'log_run', 'unknown-encoder', 'did you mean "PayrollEncoder"?'],
    ['__proto__', 'log_run', 'unknown-encoder', undefined],
    ['constructor', 'log_run', 'unknown-encoder', undefined],
    ['', '', 'unknown-encoder', undefined],
    ['payroll', 'fetch_employes', 'unknown-method', 'did you mean "fetch_employees"?'],
    ['payroll', '__proto__', 'unknown-method', undefined],
    ['payroll', 'constructor', 'unknown-method', undefined],
    ['payroll', 'toString', 'unknown-method', undefined],
    ['payroll', 'x\u202e\n', 'unknown-method', undefined],
  ])('%j, %j is an EncodeError', (encoder, method, code, help) => {
    let thrown: unknown;
    try {
      encodeStep(encoder as string, method, {});
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBeInstanceOf(EncodeError);
    const { help: given, message, ...error } = thrown as EncodeError & { help: string };
    expect(error).toMatchObject({ code, path: code === 'unknown-encoder' ? 'encoder' : 'method' });
    expect(given).toMatch(help ?? /^the choices are /);
    expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  test.each([[undefined], [null], [5], [Symbol('x')], [{}]])('%s is not a name, whatever its type', (name) => {
    expect(() => encodeStep(name as never, 'x', {} as never)).toThrow(EncodeError);
    expect(() => encodeStep('payroll', name as never, {} as never)).toThrow(EncodeError);
  });
});

describe('the catalogue', () => {
  test('is data', () => {
    expect(JSON.parse(JSON.stringify(listWorkflows()))).toEqual(JSON.parse(JSON.stringify(listWorkflows())));
    expect(structuredClone(listWorkflows())).toHaveLength(8);
  });

  test('has the steps of the reference SDK, then its sequences', () => {
    const counts = listWorkflows().map(({ encoder, methods }) => [
      encoder,
      methods.filter(({ kind }) => kind === 'step').length,
      methods.filter(({ kind }) => kind === 'sequence').map(({ steps }) => steps.length),
    ]);
    expect(counts).toEqual([
      ['PayrollEncoder', 6, [6]],
      ['ITEncoder', 6, [6]],
      ['InvoiceEncoder', 3, []],
      ['ContractEncoder', 3, []],
      ['SalesEncoder', 5, [5]],
      ['JMLEncoder', 9, [6]],
      ['CSResolutionEncoder', 5, [5]],
      ['MonthEndEncoder', 6, [6]],
    ]);
  });

  test.each(METHODS)(
    '$path: its example is the result of its call',
    ({ encoder, name, example, inputs, kind, task, domain }) => {
      expect(packetsOf(encoder, name, example!.args)).toEqual(example!.packets);
      expect(Object.keys(example!.args)).toEqual(inputs.filter(({ required }) => required).map((input) => input.name));
      if (kind === 'step') expect(example!.packets[0]).toMatch(new RegExp(`^${task}\\|${domain}\\|`));
      else expect([task, domain]).toEqual([null, null]);
      for (const { description } of inputs) expect(description).not.toBe('');
    },
  );

  test('describes an input completely', () => {
    const { methods } = listWorkflows().find(({ alias }) => alias === 'cs_resolution')!;
    const { inputs } = methods.find(({ name }) => name === 'resolve_complaint')!;
    expect(inputs.find(({ name }) => name === 'ccy')).toEqual({
      name: 'ccy',
      description: 'the currency of the lifetime value, as three letters',
      type: 'text',
      required: false,
      default: 'GBP',
      defaultWith: 'ltv',
      normalise: ['upper-case'],
      personal: false,
      example: null,
    });
    const mail = METHODS.find(({ path }) => path === 'ITEncoder.provision_email')?.inputs[0];
    expect(mail).toMatchObject({ name: 'email', personal: true, required: true, type: 'text' });
  });

  test('requires an input of a sequence if any of its steps requires it', () => {
    const { inputs } = METHODS.find(({ path }) => path === 'JMLEncoder.full_joiner')!;
    expect(inputs.map(({ name, required }) => [name, required])).toEqual([
      ['employee_id', true],
      ['username', true],
      ['dept', true],
      ['licences', false],
    ]);
  });
});
