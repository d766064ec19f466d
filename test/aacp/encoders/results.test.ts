/** Results beside the packet: losses, tokens, findings, personal data. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  encodeStep,
  InvoiceEncoder,
  ITEncoder,
  PayrollEncoder,
  RuleBasedEncoder,
} from '../../../src/aacp/encoders/index.js';
import { validatePacket } from '../../../src/aacp/index.js';

const JOINER = { username: 'j.smith', email: 'j.smith@example.com', department: 'Sales' };

describe('losses', () => {
  test('are empty if the packet contains all inputs unchanged', () => {
    expect(PayrollEncoder.fetch_employees({ period: '2024-08', fields: ['a', 'b'] }).losses).toEqual([]);
  });

  test('name the input, the field and the change', () => {
    const args = { supplier: 'ABC  Ltd ', amount: 5, currency: 'gbp', purchase_order: 'PO' };
    expect(InvoiceEncoder.process_invoice(args).losses).toEqual([
      { input: 'currency', key: 'ccy', kind: 'upper-case', from: 'gbp', to: 'GBP' },
      { input: 'supplier', key: 'sup', kind: 'space-to-hyphen', from: 'ABC  Ltd ', to: 'ABC--Ltd-' },
    ]);
  });

  test('list fields that spell an input differently from others', () => {
    const { packet, losses } = PayrollEncoder.send_report({ period: '2024-08' });
    expect(packet).toContain('|subj:payroll_2024_08_REVIEW_REQ|att:rpt://payroll/2024-08:pdf|');
    expect(losses).toEqual([
      { input: 'period', key: 'subj', kind: 'hyphen-to-underscore', from: '2024-08', to: '2024_08' },
    ]);
  });

  test('list TASK and DOM of the raw encoder', () => {
    const { losses } = RuleBasedEncoder.encode({ task: 'fetch', domain: 'Hr', return_agent: 'A' });
    expect(losses.map(({ input, key, from, to }) => [input, key, from, to])).toEqual([
      ['task', 'task', 'fetch', 'FETCH'],
      ['domain', 'domain', 'Hr', 'HR'],
    ]);
  });

  test('are those of the call, even if its arguments change later', () => {
    const fields = ['a', 'b'];
    const result = PayrollEncoder.fetch_employees({ period: 'P', fields }, { compat: 'sdk' });
    fields.push('c');
    expect(result.losses).toEqual([{ input: 'fields', key: null, kind: 'not-emitted', from: 'a,b', to: null }]);
  });
});

describe('personal data', () => {
  test('is stored behind a pointer, and nowhere in the packet', () => {
    const { packet, referenced, losses } = ITEncoder.create_ad_account(JOINER);
    const digest = createHash('sha256').update('{"email":"j.smith@example.com"}').digest('hex');
    expect(referenced).toEqual({ pointer: `sha256:${digest}`, data: { email: 'j.smith@example.com' } });
    expect(packet).toMatch(new RegExp(`\\|data_ptr:sha256:${digest}$`));
    expect(packet).not.toContain('@');
    expect(losses).toEqual([
      { input: 'email', key: 'data_ptr', kind: 'referenced', from: 'j.smith@example.com', to: `sha256:${digest}` },
    ]);
  });

  test('has the same pointer in each packet of a sequence', () => {
    const pointers = ITEncoder.full_onboarding(JOINER).map(({ referenced }) => referenced?.pointer ?? null);
    expect(pointers).toEqual([pointers[0], pointers[0], null, null, null, null]);
  });

  test('can have a custom pointer, which is made from the data', () => {
    const seen: unknown[] = [];
    const pointer = (data: object) => `vault:${seen.push({ ...data })}`;
    const results = ITEncoder.full_onboarding(JOINER, { pointer });
    expect(results[1]?.packet).toMatch(/\|data_ptr:vault:2$/);
    expect(seen).toEqual([{ email: JOINER.email }, { email: JOINER.email }]);
  });

  test.each([5, '', 'a|b', ' a', 'a\nb'])('a custom pointer of %j is a TypeError', (pointer) => {
    expect(() => ITEncoder.create_ad_account(JOINER, { pointer: () => pointer as string })).toThrow(TypeError);
    expect(() => ITEncoder.create_ad_account(JOINER, { pointer: () => pointer as string })).toThrow(/function pointer/);
  });

  test('is in the packet with compat: sdk', () => {
    const { packet, referenced } = ITEncoder.provision_email({ email: JOINER.email }, { compat: 'sdk' });
    expect(packet).toContain('|filter:email=j.smith@example.com|');
    expect(referenced).toBeNull();
  });
});

describe('a receiver that knows its fields', () => {
  const KNOWS = { receiver: { knowsFields: true } };

  test('gets no list of fields and no pointer, and the losses list them', () => {
    const { packet, losses, referenced } = ITEncoder.create_ad_account(JOINER, KNOWS);
    expect(packet).toBe(
      'BUILD|IT|return:IT-Agent|p:1|aacp:1.1|res:ad_account|filter:usr=j.smith|fmt:json|rules:dept=Sales',
    );
    expect(referenced).toBeNull();
    expect(losses).toEqual([
      { input: 'fields', key: 'fields', kind: 'known-to-receiver', from: 'email,dept,grp,pwd_reset', to: null },
      { input: 'email', key: 'data_ptr', kind: 'known-to-receiver', from: JOINER.email, to: null },
    ]);
  });

  test('does not get a given one either', () => {
    const { packet, losses } = PayrollEncoder.fetch_employees({ period: 'P', fields: ['a', 'b'] }, KNOWS);
    expect(packet).toMatch(/\|period:P\|filter:status=active\|fmt:json$/);
    expect(losses).toEqual([{ input: 'fields', key: 'fields', kind: 'known-to-receiver', from: 'a,b', to: null }]);
  });

  test('still gets the fields that say what to do', () => {
    const { packet, losses } = ITEncoder.provision_badge({ username: 'u', zones: ['lab'] }, KNOWS);
    expect(packet).toMatch(/\|filter:usr=u\|req:lab$/);
    expect(losses).toEqual([]);
  });

  test('works with the packets of the reference SDK, and with single packets', () => {
    const budgets = PayrollEncoder.fetch_budgets({ period: 'P' }, { ...KNOWS, compat: 'sdk' });
    expect(budgets.packet).toMatch(/\|period:P\|fmt:json$/);
    expect(budgets.losses.map(({ kind }) => kind)).toEqual(['known-to-receiver']);
    const args = { task: 'FETCH', domain: 'HR', return_agent: 'A', fields: ['a'], data_ptr: 'x', res: 'r' };
    const raw = RuleBasedEncoder.encode(args, KNOWS);
    expect(raw.packet).toBe('FETCH|HR|return:A|p:2|aacp:1.1|res:r');
    expect(raw.losses.map(({ input }) => input)).toEqual(['fields', 'data_ptr']);
  });
});

describe('tokens', () => {
  test('are counted on first access, once', () => {
    let counted = 0;
    const count = (text: string): number => {
      counted++;
      return text.length;
    };
    const counter = { exact: false, encoding: 'letters', count };
    const result = PayrollEncoder.log_run({ period: 'P' }, { counter });
    expect(counted).toBe(0);
    expect(result.tokens).toEqual({ packet: result.packet.length, exact: false, encoding: 'letters' });
    expect(result.tokens).toBe(result.tokens);
    expect(counted).toBe(1);
  });

  test('are those of a current model if its vocabulary is installed', () => {
    const { tokens } = PayrollEncoder.fetch_employees({ period: '2024-08' });
    // The count that the draft publishes for this packet.
    if (tokens.exact) expect(tokens).toEqual({ packet: 41, exact: true, encoding: 'o200k_base' });
    else expect(tokens.encoding).toBe('estimate');
  });
});

test('a result is data', () => {
  const result = InvoiceEncoder.schedule_payment({ supplier: 'A B', amount: 5, currency: 'GBP' });
  expect(JSON.parse(JSON.stringify(result))).toEqual({
    packet:
      'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:bank_transfer|amt:5|ccy:GBP|sup:A-B|terms:net30|req:schedule,confirm',
    task: 'PROC',
    domain: 'FIN',
    tokens: result.tokens,
    losses: [{ input: 'supplier', key: 'sup', kind: 'space-to-hyphen', from: 'A B', to: 'A-B' }],
    diagnostics: [],
    lint: [],
    referenced: null,
    cost: 0,
    step: 'InvoiceEncoder.schedule_payment',
  });
});

describe('options', () => {
  test.each([
    [{ compat: 'python' }, /^compat /],
    [{ compta: 'sdk' }, /^unknown option compta/],
    [{ receiver: true }, /^receiver /],
    [{ receiver: { knowsFields: 1 } }, /^receiver\.knowsFields /],
    [{ counter: {} }, /^counter /],
    [{ counter: null }, /^counter /],
    [{ pointer: 'vault' }, /^pointer /],
    [5, /^options /],
    [null, /^options /],
  ])('%j are a TypeError', (options, message) => {
    for (const [method, args] of [
      ['log_run', { period: 'P' }],
      ['full_run', { period: 'P', prev_period: 'Q' }],
    ] as const) {
      const run = () => encodeStep('PayrollEncoder' as string, method, args, options as never);
      expect(run).toThrow(TypeError);
      expect(run).toThrow(message);
    }
  });

  test('that are undefined have their defaults', () => {
    const nothing = { compat: undefined, receiver: undefined, counter: undefined, pointer: undefined };
    const { packet } = PayrollEncoder.log_run({ period: 'P' });
    expect(PayrollEncoder.log_run({ period: 'P' }, nothing).packet).toBe(packet);
    expect(PayrollEncoder.log_run({ period: 'P' }, { receiver: {} }).packet).toBe(packet);
  });
});

describe('single packets', () => {
  const HEAD = { task: 'LOG', domain: 'HR', return_agent: 'A' };

  test('have their fields in the order of the reference SDK', () => {
    const args = { ...HEAD, urgency: 'HIGH', chain: ['x', 'y'], tone: 'Formal', sentiment: 'Sad', ccy: 'gbp', ltv: 5 };
    expect(RuleBasedEncoder.encode(args).packet).toBe(
      'LOG|HR|return:A|p:2|aacp:1.1|ccy:GBP|sentiment:sad|tone:formal|chain:x,y|ltv:5|urgency:HIGH',
    );
  });

  test.each([0.125, 1e-7, '0.5'])('write progress of %j unchanged', (prog) => {
    const { packet, losses } = RuleBasedEncoder.encode({ ...HEAD, prog });
    expect(packet).toMatch(/\|prog:(0\.125|0\.0000001|0\.5)$/);
    expect(losses).toEqual([]);
  });

  test('may have private words, with warnings', () => {
    const { packet, diagnostics } = RuleBasedEncoder.encode({ ...HEAD, task: 'deploy', domain: 'ops' });
    expect(packet).toBe('DEPLOY|OPS|return:A|p:2|aacp:1.1');
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([
      ['unknown-task', 'warning'],
      ['unknown-dom', 'warning'],
    ]);
  });

  test.each([
    ['task', 'a b', 'bad-task'],
    ['task', 'A|B', 'bad-task'],
    ['task', '', 'missing-input'],
    ['domain', '1', 'bad-dom'],
    ['domain', 5, 'bad-input'],
    ['return_agent', '', 'missing-input'],
    ['res', 'a|b', 'separator'],
    ['res', 'a\tb', 'control-character'],
    ['res', ' a', 'whitespace'],
    ['flags_inherit', ['a'], 'unknown-input'],
    ['amount', 5, 'unknown-input'],
  ])('%s of %j is rejected with %s', (name, value, code) => {
    expect(() => encodeStep('RuleBasedEncoder' as string, 'encode', { ...HEAD, [name]: value })).toThrow(
      expect.objectContaining({ name: 'EncodeError', code, path: name }),
    );
  });

  test.each([
    ['ltv', 5, 'ccy'],
    ['sentiment', 'sad', 'tone'],
  ])('%s requires its companion', (name, value, companion) => {
    expect(() => encodeStep('RuleBasedEncoder' as string, 'encode', { ...HEAD, [name]: value })).toThrow(
      expect.objectContaining({ code: 'missing-input', path: companion }),
    );
  });

  test('are valid whatever the compatible ones accept', () => {
    const args = { ...HEAD, res: 'a b', period: 'x:y', fields: ['a'], to: ['b'], subj: 'c d', amt: 0 };
    expect(validatePacket(RuleBasedEncoder.encode(args).packet)).toMatchObject({ valid: true, warnings: [] });
  });
});
