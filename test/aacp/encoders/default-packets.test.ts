/** The packets of the encoders without `compat`. */
import { describe, expect, test } from 'vitest';
import { encodeStep, type StepResult } from '../../../src/aacp/encoders/index.js';
import { validatePacket } from '../../../src/aacp/index.js';
import { METHODS } from './arbitrary-args.js';
import table from './default-packets.json' with { type: 'json' };

interface Row {
  readonly encoder: string;
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly packets: readonly string[];
}

const rows: readonly Row[] = table.cases;

function resultsOf({ encoder, method, args }: Row): readonly StepResult[] {
  const result = encodeStep(encoder, method, args);
  return 'packet' in result ? [result] : result;
}

describe('the table of packets', () => {
  test.each(rows)('$encoder.$method: $args', (row) => {
    const results = resultsOf(row);
    expect(results.map(({ packet }) => packet)).toEqual(row.packets);
    for (const { packet, task, domain, diagnostics, cost, step } of results) {
      const { valid, warnings, packet: read } = validatePacket(packet);
      expect({ valid, warnings, diagnostics }).toEqual({ valid: true, warnings: [], diagnostics: [] });
      expect({ task: read?.task, domain: read?.domain }).toEqual({ task, domain });
      expect({ cost, encoder: step.split('.')[0] }).toEqual({ cost: 0, encoder: row.encoder });
    }
  });

  test('has every method', () => {
    const tabled = new Set(rows.map(({ encoder, method }) => `${encoder}.${method}`));
    expect(METHODS.map(({ path }) => path).filter((path) => !tabled.has(path))).toEqual([]);
  });
});

describe('an input that the reference SDK omits changes the packet', () => {
  test.each([
    ['PayrollEncoder', 'fetch_employees', 'fields', { period: 'P' }, [['a'], ['b']]],
    ['PayrollEncoder', 'full_run', 'prev_period', { period: 'P' }, ['a', 'b']],
    ['PayrollEncoder', 'generate_report', 'period', { prev_period: 'P' }, ['a', 'b']],
    ['PayrollEncoder', 'generate_report', 'prev_period', { period: 'P' }, ['a', 'b']],
    ['PayrollEncoder', 'log_run', 'period', {}, ['a', 'b']],
    ['PayrollEncoder', 'merge_and_calculate', 'period', {}, ['a', 'b']],
    ['ITEncoder', 'create_ad_account', 'email', { username: 'u', department: 'd' }, ['a', 'b']],
    ['ITEncoder', 'create_ad_account', 'department', { username: 'u', email: 'e' }, ['a', 'b']],
    ['ITEncoder', 'full_onboarding', 'department', { username: 'u', email: 'e' }, ['a', 'b']],
    ['ITEncoder', 'provision_crm', 'profile', { username: 'u' }, ['a', 'b']],
    ['ITEncoder', 'provision_crm', 'team', { username: 'u' }, ['a', 'b']],
    ['ITEncoder', 'provision_email', 'licence', { email: 'e' }, ['a', 'b']],
    ['JMLEncoder', 'create_account', 'dept', { username: 'u' }, ['a', 'b']],
    ['JMLEncoder', 'full_joiner', 'dept', { username: 'u', employee_id: 'e' }, ['a', 'b']],
  ])('%s.%s: %s', (encoder, method, input, args, values) => {
    const packets = values.map((value) =>
      resultsOf({ encoder, method, args: { ...args, [input]: value }, packets: [] }).map(({ packet }) => packet),
    );
    expect(packets[0]).not.toEqual(packets[1]);
  });
});

describe('amounts', () => {
  const invoice = { supplier: 'A', currency: 'GBP' };

  test.each([
    [4200, '4200'],
    [99.5, '99.5'],
    [0, '0'],
    [-0, '0'],
    [-12.5, '-12.5'],
    [1e-7, '0.0000001'],
    [1e21, '1000000000000000000000'],
    ['4200.50', '4200.50'],
    ['007', '007'],
    ['-0.0', '-0.0'],
  ])('%j is written as %s, without a loss', (amount, written) => {
    const { packet, losses } = encodeStep('InvoiceEncoder', 'schedule_payment', { ...invoice, amount });
    expect(packet).toContain(`|amt:${written}|`);
    expect(losses).toEqual([]);
  });

  test.each([
    '',
    ' 5',
    '5 ',
    '+5',
    '1e5',
    '4,200',
    '0x10',
    '.5',
    '5.',
    'five',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    {},
    [],
  ])('%j is rejected', (amount) => {
    const args = { ...invoice, amount };
    expect(() => encodeStep('InvoiceEncoder' as string, 'schedule_payment', args)).toThrow(
      expect.objectContaining({ name: 'EncodeError', path: 'amount' }),
    );
  });
});

describe('values of the wrong type are errors that name the input', () => {
  test.each([
    ['a number for a text', 'schedule_payment', { supplier: 5, amount: 1, currency: 'GBP' }, 'supplier'],
    ['an object for a text', 'schedule_payment', { supplier: {}, amount: 1, currency: 'GBP' }, 'supplier'],
    ['a list for a text', 'schedule_payment', { supplier: ['a'], amount: 1, currency: 'GBP' }, 'supplier'],
    ['a symbol for a text', 'schedule_payment', { supplier: Symbol('a'), amount: 1, currency: 'GBP' }, 'supplier'],
    ['a function for a text', 'schedule_payment', { supplier: () => 'a', amount: 1, currency: 'GBP' }, 'supplier'],
    ['a number for a currency', 'schedule_payment', { supplier: 'A', amount: 1, currency: 5 }, 'currency'],
  ])('%s', (_, method, args, path) => {
    expect(() => encodeStep('InvoiceEncoder' as string, method, args as never)).toThrow(
      expect.objectContaining({ name: 'EncodeError', code: 'bad-input', path }),
    );
  });

  test.each([
    ['a text for a list', 'fin_director', 'to', 'bad-input'],
    ['a number in a list', ['a', 5], 'to[1]', 'bad-input'],
    ['a hole in a list', Object.assign(new Array(2), { 1: 'a' }), 'to[0]', 'bad-input'],
    ['an empty item', ['a', ''], 'to[1]', 'empty-value'],
    ['a comma in an item', ['a', 'b', 'x,y'], 'to[2]', 'list-separator'],
    ['a separator in an item', ['a|b'], 'to[0]', 'separator'],
    ['a list in a list', [['a']], 'to[0]', 'bad-input'],
  ])('%s', (_, to, path, code) => {
    expect(() => encodeStep('PayrollEncoder' as string, 'send_report', { period: 'P', to })).toThrow(
      expect.objectContaining({ name: 'EncodeError', code, path }),
    );
  });

  test.each([0, 4, '4', 'high', 1.5, true, {}])('a priority of %j', (priority) => {
    expect(() => encodeStep('PayrollEncoder' as string, 'log_run', { period: 'P', priority })).toThrow(
      expect.objectContaining({ code: 'bad-input', path: 'priority' }),
    );
  });

  test.each([[null], ['text'], [5], [[]]])('arguments that are %j', (args) => {
    expect(() => encodeStep('PayrollEncoder' as string, 'log_run', args as never)).toThrow(
      expect.objectContaining({ code: 'bad-input', path: 'args' }),
    );
    expect(() => encodeStep('PayrollEncoder' as string, 'full_run', args as never)).toThrow(
      expect.objectContaining({ code: 'bad-input', path: 'args' }),
    );
  });
});

test.each([
  ['ITEncoder', 'provision_crm', { username: 'u', profile: 'a,team=b' }, 'profile'],
  ['ITEncoder', 'provision_vpn', { username: 'u,role=admin' }, 'username'],
  ['JMLEncoder', 'update_access', { username: 'u', new_role: 'a,b' }, 'new_role'],
  ['JMLEncoder', 'send_welcome', { username: 'a,b' }, 'username'],
  ['SalesEncoder', 'route_lead', { lead_id: 'L', score_threshold: '1,2' }, 'score_threshold'],
])('%s.%s: %j adds no item', (encoder, method, args, path) => {
  expect(() => encodeStep(encoder as string, method, args)).toThrow(
    expect.objectContaining({ code: 'list-separator', path }),
  );
});

describe('omitted inputs', () => {
  test.each([
    ['JMLEncoder', 'assign_licences', { username: 'x', licences: [] }, 'licences'],
    ['ITEncoder', 'provision_badge', { username: 'x', zones: [] }, 'zones'],
    ['CSResolutionEncoder', 'resolve_complaint', { ticket_id: 'T-1', tone: '' }, 'tone'],
  ])('an empty value is not replaced by the default: %s.%s %j', (encoder, method, args, path) => {
    expect(() => encodeStep(encoder as string, method, args)).toThrow(
      expect.objectContaining({ code: 'empty-value', path }),
    );
  });

  test.each([[undefined], [null]])('%j is replaced by the default', (nothing) => {
    const args = {
      period: 'P',
      chain: nothing,
      status: nothing,
      actor: nothing,
      priority: nothing,
      return_agent: nothing,
    };
    const { packet } = encodeStep('PayrollEncoder' as string, 'log_run', args) as StepResult;
    expect(packet).toBe(encodeStep('PayrollEncoder', 'log_run', { period: 'P' }).packet);
  });

  test.each([[undefined], [null], [''], [[]]])('%j is missing if an input is required', (nothing) => {
    expect(() => encodeStep('PayrollEncoder' as string, 'log_run', { period: nothing })).toThrow(
      expect.objectContaining({ code: 'missing-input', path: 'period' }),
    );
  });

  test('zero and false count as given', () => {
    const args = { ticket_id: 'T', ltv: 0, goodwill: false };
    const { packet } = encodeStep('CSResolutionEncoder', 'resolve_complaint', args);
    expect(packet).toMatch(/\|ccy:GBP\|req:resolve\|.*\|ltv:0$/);
  });
});

test.each(['perod', '__proto__', 'constructor', 'toString', 'Period', 'x\ny'])('%j is an unknown input', (name) => {
  const args = JSON.parse(`{"period":"P",${JSON.stringify(name)}:"x"}`);
  for (const method of ['log_run', 'full_run']) {
    expect(() => encodeStep('PayrollEncoder' as string, method, args)).toThrow(
      expect.objectContaining({ code: 'unknown-input', path: /^\w+$/.test(name) ? name : '"x␊y"' }),
    );
  }
});

test('a packet is not longer than the parser accepts', () => {
  const args = { period: 'P', status: 'x'.repeat(1_048_576) };
  expect(() => encodeStep('PayrollEncoder', 'log_run', args)).toThrow(
    expect.objectContaining({ code: 'bad-input', path: 'status' }),
  );
});
