/** `compat: 'sdk'`: the packets of the reference SDK, and its defects that must not be reproduced. */
import { describe, expect, test } from 'vitest';
import { EncodeError, encodeStep, RuleBasedEncoder, type StepResult } from '../../../src/aacp/encoders/index.js';
import { readJson } from '../../conformance/fixtures.js';
import { fullArgs, METHODS, STEPS } from './arbitrary-args.js';

interface EncoderCase {
  readonly id: string;
  readonly encoder: string;
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly packetDraft11?: string;
  readonly packetsDraft11?: readonly string[];
  readonly error?: { readonly type: string; readonly message: string };
  readonly task?: string;
  readonly domain?: string;
}

const { cases } = readJson('aacp/encoders.json') as { readonly cases: readonly EncoderCase[] };
const SDK = { compat: 'sdk' } as const;

function encodeAsSdk({ encoder, method, args }: Pick<EncoderCase, 'encoder' | 'method' | 'args'>) {
  return encodeStep(encoder, method, args, SDK);
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return 'nothing was thrown';
}

describe('the recorded packets', () => {
  test.each(cases.filter(({ packetDraft11 }) => packetDraft11))('$id is the same, byte for byte', (recorded) => {
    const { packet, task, domain } = encodeAsSdk(recorded) as StepResult;
    expect({ packet, task, domain }).toEqual({
      packet: recorded.packetDraft11,
      task: recorded.task,
      domain: recorded.domain,
    });
  });

  test.each(cases.filter(({ packetsDraft11 }) => packetsDraft11))('$id is the same list of packets', (recorded) => {
    const packets = (encodeAsSdk(recorded) as readonly StepResult[]).map(({ packet }) => packet);
    expect(packets).toEqual(recorded.packetsDraft11);
  });

  test.each(cases.filter(({ error }) => error))('$id is rejected with an EncodeError', (recorded) => {
    expect(thrownBy(() => encodeAsSdk(recorded))).toBeInstanceOf(EncodeError);
  });

  test('every method of the workflows is among them', () => {
    const recorded = new Set(cases.map(({ encoder, method }) => `${encoder}.${method}`));
    expect(METHODS.map(({ path }) => path).filter((path) => !recorded.has(path))).toEqual([]);
  });
});

describe('numbers are written as Python writes them', () => {
  test.each([
    [4200, '4200'],
    [99.5, '99.5'],
    [1234567.891, '1234567.891'],
    [0, '0'],
    [-0.5, '-0.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e-7, '1e-07'],
    [1.5e-10, '1.5e-10'],
    [1e15, '1000000000000000'],
    [1e16, '1e+16'],
    [1.25e22, '1.25e+22'],
    [1e300, '1e+300'],
    ['4200.00', '4200.00'],
    ['about 5', 'about 5'],
  ])('an amount of %j is %s', (amount, written) => {
    const args = { supplier: 'A', amount, currency: 'GBP' };
    expect(encodeStep('InvoiceEncoder', 'schedule_payment', args, SDK).packet).toContain(`|amt:${written}|`);
  });

  test.each([
    [0.5, '0.50'],
    [0, '0.00'],
    [0.125, '0.12'],
    [0.375, '0.38'],
    [0.625, '0.62'],
    [0.875, '0.88'],
    [2.125, '2.12'],
    [-0.125, '-0.12'],
    [0.135, '0.14'],
    [0.145, '0.14'],
    [1e21, '1000000000000000000000.00'],
  ])('progress of %j is %s', (prog, written) => {
    const args = { task: 'LOG', domain: 'HR', return_agent: 'A', prog };
    expect(RuleBasedEncoder.encode(args, SDK).packet).toMatch(new RegExp(`\\|prog:${written.replace('.', '\\.')}$`));
  });

  test('rounded progress is reported', () => {
    const { losses } = RuleBasedEncoder.encode({ task: 'LOG', domain: 'HR', return_agent: 'A', prog: 0.125 }, SDK);
    expect(losses).toEqual([{ input: 'prog', key: 'prog', kind: 'rounded', from: '0.125', to: '0.12' }]);
  });
});

describe('inputs that the SDK omits are reported', () => {
  test.each([
    ['PayrollEncoder', 'fetch_employees', { period: 'P', fields: ['a', 'b'] }, { fields: 'a,b' }],
    ['PayrollEncoder', 'merge_and_calculate', { period: 'P' }, { period: 'P' }],
    ['PayrollEncoder', 'generate_report', { period: 'P', prev_period: 'Q' }, { period: 'P', prev_period: 'Q' }],
    ['PayrollEncoder', 'log_run', { period: 'P' }, { period: 'P' }],
    ['ITEncoder', 'create_ad_account', { username: 'u', email: 'e', department: 'd' }, { email: 'e', department: 'd' }],
    ['ITEncoder', 'provision_email', { email: 'e', licence: 'l' }, { licence: 'l' }],
    ['ITEncoder', 'provision_crm', { username: 'u', profile: 'p', team: 't' }, { profile: 'p', team: 't' }],
    ['JMLEncoder', 'create_account', { username: 'u', dept: 'd' }, { dept: 'd' }],
    ['CSResolutionEncoder', 'resolve_complaint', { ticket_id: 't', ccy: 'usd' }, { ccy: 'usd' }],
    ['RuleBasedEncoder', 'encode', { task: 'LOG', domain: 'HR', return_agent: 'A', amt: 0 }, { amt: '0' }],
    ['RuleBasedEncoder', 'encode', { task: 'LOG', domain: 'HR', return_agent: 'A', other: [1, 'x'] }, { other: '1,x' }],
  ])('%s.%s', (encoder, method, args, left) => {
    const { losses } = encodeStep(encoder as string, method, args, SDK) as StepResult;
    const lost = losses.filter(({ kind }) => kind === 'not-emitted');
    expect(Object.fromEntries(lost.map(({ input, from }) => [input, from]))).toEqual(left);
    expect(lost.every(({ key, to }) => key === null && to === null)).toBe(true);
  });

  test('and omitted inputs are not', () => {
    const { losses } = encodeStep('ITEncoder', 'provision_crm', { username: 'u', team: '' }, SDK);
    expect(losses).toEqual([]);
  });
});

describe('defects that must not be reproduced', () => {
  test.each(STEPS)('$path: no "|" in any argument', (step) => {
    for (const { name, type } of step.inputs) {
      const value = type === 'list' ? ['a', 'x|return:EVIL'] : 'x|return:EVIL';
      const thrown = thrownBy(() =>
        encodeAsSdk({ ...step, method: step.name, args: { ...fullArgs(step), [name]: value } }),
      );
      // Omitted inputs and booleans are harmless; all others have to be rejected.
      expect(thrown, name).toBeInstanceOf(EncodeError);
      expect((thrown as EncodeError).path.split('[')[0], name).toBe(name);
    }
  });

  test.each(['res', 'ccy', 'amt', 'data_ptr', 'return_agent', 'priority', 'task', 'domain'])(
    'the raw encoder: no "|" in %s',
    (name) => {
      const args = { task: 'LOG', domain: 'HR', return_agent: 'A', [name]: 'x|return:EVIL' };
      const thrown = thrownBy(() => encodeStep('RuleBasedEncoder', 'encode', args, SDK));
      expect(thrown).toBeInstanceOf(EncodeError);
      expect((thrown as EncodeError).path).toBe(name);
    },
  );

  test.each([
    ['a control character', { period: 'a\nb' }, 'control-character'],
    ['a blank at the end', { period: 'a ' }, 'whitespace'],
    ['a comma in an item of a list', { period: 'a', to: ['x,y'] }, 'list-separator'],
    ['half of a surrogate pair', { period: 'a\ud800' }, 'bad-input'],
  ])('in workflows: %s', (_, args, code) => {
    expect(thrownBy(() => encodeStep('PayrollEncoder', 'send_report', args, SDK))).toMatchObject({ code });
  });
});

describe('inputs that only the raw encoder accepts have findings', () => {
  test.each([
    ['control characters', { res: 'a\nb' }, 'control-character'],
    ['an empty return', { return_agent: '' }, 'empty-return'],
    ['an odd priority', { priority: '9' }, 'bad-priority'],
    ['an unknown key', { flags_inherit: ['a'] }, 'unknown-key'],
    ['an amount without its currency', { ltv: 5 }, 'ltv-without-ccy'],
  ])('%s', (_, more, code) => {
    const args = { task: 'LOG', domain: 'HR', return_agent: 'A', ...more };
    const { diagnostics } = encodeStep('RuleBasedEncoder', 'encode', args as never, SDK);
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
  });
});

test.each(['task', 'domain'])('an empty %s counts as missing', (name) => {
  const args = { task: 'LOG', domain: 'HR', return_agent: 'A', [name]: '' };
  expect(thrownBy(() => encodeStep('RuleBasedEncoder', 'encode', args, SDK))).toMatchObject({
    code: 'missing-input',
    path: name,
  });
});

test('in workflows, unknown inputs are rejected as in Python', () => {
  const args = { period: 'a', perod: 'b' };
  expect(thrownBy(() => encodeStep('PayrollEncoder' as string, 'fetch_employees', args, SDK))).toMatchObject({
    code: 'unknown-input',
    path: 'perod',
    help: 'did you mean "period"?',
  });
});
