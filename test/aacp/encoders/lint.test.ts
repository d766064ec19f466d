import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  defineWorkflow,
  encodeStep,
  InvoiceEncoder,
  ITEncoder,
  lintPacket,
  PayrollEncoder,
  RuleBasedEncoder,
} from '../../../src/aacp/encoders/index.js';
import { anyText } from '../../../src/aacp/encoders/inputs.js';
import { argsOf, fullArgs, STEPS } from './arbitrary-args.js';

const SECRET = 'sk-abcdefghij0123456789KLMN';

/** The findings in a short form. */
function lintOf(result: { readonly lint: readonly { readonly code: string; readonly input: string | null }[] }) {
  return result.lint.map(({ code, input }) => `${code} ${input}`);
}

describe('the findings of a step name their inputs', () => {
  test.each([
    ['ITEncoder', 'provision_crm', { username: 'jo@example.com', profile: SECRET, team: 'a' }, ['username', 'profile']],
    [
      'PayrollEncoder',
      'send_report',
      { period: '2024-08', to: ['a', 'jo@example.com', 'b', 'x@example.org'] },
      ['to[1]', 'to[3]'],
    ],
    ['InvoiceEncoder', 'schedule_payment', { supplier: '+44 20 7946 0958', amount: 1, currency: 'GBP' }, ['supplier']],
    [
      'InvoiceEncoder',
      'log_invoice',
      { invoice_ref: 'jo@example.com', supplier: 'A', amount: 1, currency: 'GBP' },
      ['invoice_ref'],
    ],
    ['RuleBasedEncoder', 'encode', { task: 'LOG', domain: 'HR', return_agent: 'jo@example.com' }, ['return_agent']],
    [
      'RuleBasedEncoder',
      'encode',
      { task: 'LOG', domain: 'HR', return_agent: 'A', data_ptr: 'x/jo@example.com' },
      ['data_ptr'],
    ],
  ])('%s.%s of %j', (encoder, method, args, inputs) => {
    const [result] = [encodeStep(encoder, method, args)].flat();
    expect(lintOf(result!)).toEqual(inputs.map((input) => `sensitive-value ${input}`));
    // Findings are advice: the packet is valid.
    expect(result!.diagnostics).toEqual([]);
  });

  test('and the range in the packet', () => {
    const { packet, lint } = ITEncoder.provision_crm({ username: 'jo@example.com', profile: 'p', team: 't' });
    expect(lint).toEqual([{ ...lintPacket(packet)[0], input: 'username' }]);
    const { start, end } = lint[0]!.span!;
    expect(packet.slice(start, end)).toBe('jo@example.com');
  });

  test('item by item, in a list with the maximum number of items', () => {
    // Quadratic time would be minutes.
    const fields = Array.from({ length: 60_000 }, (_, at) => `u${at}@acme.com`);
    const { lint } = PayrollEncoder.fetch_employees({ period: '2024-08', fields });
    expect(lint.slice(0, 100).map(({ input }) => input)).toEqual(fields.slice(0, 100).map((_, at) => `fields[${at}]`));
    expect(lint.slice(100)).toMatchObject([
      { code: 'more-findings', message: '59900 more warnings are not listed.', input: null },
    ]);
  });

  test('but never contain the value of an input', () => {
    const { lint } = ITEncoder.provision_crm({ username: 'jo', profile: SECRET, team: 't' });
    expect(lintOf({ lint })).toEqual(['sensitive-value profile']);
    expect(JSON.stringify(lint)).not.toContain(SECRET);
  });

  test('text of a custom pointer belongs to no input', () => {
    const pointer = () => 'vault://jo@example.com/1';
    const { lint } = ITEncoder.create_ad_account(
      { username: 'jo', email: 'jo@example.com', department: 'IT' },
      { pointer },
    );
    expect(lintOf({ lint })).toEqual(['sensitive-value null']);
  });

  test('a normalised value, and one of several in an item, are located', () => {
    const encoder = defineWorkflow({
      name: 'NoteEncoder',
      summary: 'Notes.',
      steps: {
        note: {
          summary: 'A note.',
          task: 'LOG',
          domain: 'HR',
          returnAgent: 'A',
          inputs: {
            about: { schema: anyText, description: 'about', normalise: ['lower-case'] },
            who: { schema: anyText, description: 'who' },
          },
          fields: [
            ['res', 'n_{about:space-to-underscore}_{who}'],
            ['filter', ['about={about}', 'who={who}']],
          ],
        },
      },
    });
    const { lint } = encoder.note({ about: 'ÄÄ b', who: 'jo@example.com' });
    expect(lintOf({ lint })).toEqual(['sensitive-value who', 'sensitive-value who']);
  });
});

test.each(STEPS)('$path: for any arguments, all findings of the packet are reported, each with an input', (step) => {
  const holds = fc.property(argsOf(step), fc.constantFrom('jo@example.com', 'a\u202eb'), (args, bad) => {
    const names = step.inputs.filter(({ type, name, personal }) => type === 'text' && !personal && name in args);
    for (const { name } of names) {
      let result: ReturnType<typeof encodeStep>;
      try {
        result = encodeStep(step.encoder as string, step.name as string, { ...args, [name]: bad });
      } catch {
        continue;
      }
      for (const { packet, lint } of [result].flat()) {
        expect(lint.slice(0, lintPacket(packet).length)).toMatchObject(lintPacket(packet));
        expect(lint.map(({ input }) => input)).toContain(name);
        for (const { input } of lint) expect(input).not.toBeNull();
      }
    }
  });
  fc.assert(holds, { numRuns: 10 });
});

test.each(STEPS)('$path: plain inputs have no findings', (step) => {
  for (const { lint } of [encodeStep(step.encoder as string, step.name as string, fullArgs(step))].flat()) {
    expect(lint.filter(({ code }) => code !== 'period-form')).toEqual([]);
  }
  for (const text of step.example?.packets ?? []) expect(lintPacket(text)).toEqual([]);
});

describe('currencies', () => {
  const INVOICE = { supplier: 'A', amount: 1 };
  /** Texts that become three ASCII letters only in capital letters: a sharp s, a ligature, a dotless i, a long s. */
  const GROWING = ['\u00dfa', '\ufb01x', '\u0131dr', 'u\u017fd'];

  test.each(['GB', 'EURO', '£', 'G P', 'GBP,USD', '123', ...GROWING])('%j is rejected', (currency) => {
    const refusal = expect.objectContaining({ name: 'EncodeError', code: 'bad-input', path: 'currency' });
    expect(() => InvoiceEncoder.schedule_payment({ ...INVOICE, currency })).toThrow(refusal);
    const raw = { task: 'LOG', domain: 'HR', return_agent: 'A', ccy: currency };
    expect(() => RuleBasedEncoder.encode(raw)).toThrow(expect.objectContaining({ code: 'bad-input', path: 'ccy' }));
  });

  test('upper and lower case are accepted, and the reference SDK accepts any text', () => {
    expect(InvoiceEncoder.schedule_payment({ ...INVOICE, currency: 'eur' }).packet).toContain('|ccy:EUR|');
    const { packet, lint } = InvoiceEncoder.schedule_payment({ ...INVOICE, currency: 'pounds' }, { compat: 'sdk' });
    expect(packet).toContain('|ccy:POUNDS|');
    expect(lintOf({ lint })).toEqual(['currency-form currency']);
    for (const currency of GROWING) {
      const ccy = currency.toUpperCase();
      expect(ccy).toMatch(/^[A-Z]{3}$/);
      const { packet: followed } = InvoiceEncoder.schedule_payment({ ...INVOICE, currency }, { compat: 'sdk' });
      expect(followed).toContain(`|ccy:${ccy}|`);
    }
  });
});

describe('periods', () => {
  test.each(['last month sometime', '2024-13', 'P', 'August'])('%j is written, with a warning', (period) => {
    const { packet, lint } = PayrollEncoder.log_run({ period });
    expect(packet).toContain(`|period:${period}|`);
    expect(lintOf({ lint })).toEqual(['period-form period']);
  });

  test('also if they are part of another field, once', () => {
    expect(lintOf(PayrollEncoder.send_report({ period: 'Aug' }))).toEqual(['period-form period']);
    expect(lintOf(PayrollEncoder.generate_report({ period: '2024-08', prev_period: 'July' }))).toEqual([
      'period-form prev_period',
    ]);
    expect(lintOf(RuleBasedEncoder.encode({ task: 'LOG', domain: 'HR', return_agent: 'A', period: 'Aug' }))).toEqual([
      'period-form period',
    ]);
  });
});
