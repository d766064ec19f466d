import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type LoadRulesOptions, loadRules } from '../../../src/aacp/rules/index.js';
import { COMMUNITY, GOOD, rule } from './rule-sources.js';

const PLAIN = 'FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:ledger';

describe('loading', () => {
  it('accepts a list, an object with the list, and the JSON text of either', () => {
    for (const source of [
      [GOOD],
      { rules: [GOOD] },
      JSON.stringify([GOOD]),
      `\uFEFF${JSON.stringify({ rules: [GOOD] })}`,
    ]) {
      const { rules, reports } = loadRules(source);
      expect(reports).toEqual([]);
      expect(rules).toEqual([
        {
          id: 'fin-fetch-ledger',
          name: 'Fetch the ledger',
          description: 'All postings of a month.',
          task: 'FETCH',
          domain: 'FIN',
          packet: 'FETCH|FIN|return:FIN-Agent|p:2|aacp:1.1|res:ledger|period:{period}',
          tags: ['ledger', 'postings'],
          version: '1.0',
          source: 'test',
          phrases: ['fetch the ledger for {period}'],
          workflow: null,
        },
      ]);
    }
  });

  it('loads the rules of the public library, with their additional members', () => {
    const source = COMMUNITY.map((one) => ({ ...one, validated: true, author: 'somebody', __proto__x: 1 }));
    const library = loadRules(source);
    expect(library.reports).toEqual([]);
    expect(library.rules.map(({ id }) => id)).toEqual(COMMUNITY.map(({ id }) => id));
  });

  it('returns rules that cannot be changed', () => {
    const workflow = { encoder: 'E', method: 'm', args: { a: '{period}' } };
    const [one] = loadRules([rule({ workflow })], { encodeStep: null }).rules;
    for (const part of [one, one?.tags, one?.phrases, one?.workflow, one?.workflow?.args]) {
      expect(part).toSatisfy(Object.isFrozen);
    }
  });

  it('is not affected by later changes to the source', () => {
    const source = { ...GOOD, tags: ['ledger'] };
    const { rules } = loadRules([source]);
    source.tags.push('more');
    expect(rules[0]?.tags).toEqual(['ledger']);
  });

  it('keeps inputs of any name unchanged', () => {
    const args = JSON.parse('{"__proto__":"{period}","constructor":"x"}');
    const [one] = loadRules([rule({ workflow: { encoder: 'E', method: 'm', args } })], { encodeStep: null }).rules;
    expect(Object.entries(one?.workflow?.args ?? {})).toEqual([
      ['__proto__', '{period}'],
      ['constructor', 'x'],
    ]);
  });
});

const FAULTS: readonly (readonly [name: string, changes: Record<string, unknown>, code: string, message: string])[] = [
  ['has no id', { id: undefined }, 'not-a-rule', 'id: '],
  [
    'has an id of other characters',
    { id: 'Fin_Fetch' },
    'not-a-rule',
    'id: must consist of lower-case letters, digits and "-".',
  ],
  ['has a number for a tag', { tags: ['a', 7] }, 'not-a-rule', 'tags[1]: '],
  ['has no packet', { packet: '' }, 'not-a-rule', 'packet: '],
  [
    'has inputs that are not texts',
    { workflow: { encoder: 'E', method: 'm', args: { a: 1 } } },
    'not-a-rule',
    'workflow.args: ',
  ],
  ['has a phrase that is too long', { phrases: ['x '.repeat(300)] }, 'not-a-rule', 'phrases[0]: '],
  ['has a packet without return', { packet: 'FETCH|FIN|p:2|aacp:1.1|period:{period}' }, 'missing-return', 'return'],
  ['has a packet without version', { packet: 'FETCH|FIN|return:A|p:2|period:{period}' }, 'missing-aacp', 'aacp'],
  ['has a packet with an empty slot', { packet: `${GOOD.packet}||fmt:json` }, 'empty-field', 'empty'],
  ['has a packet with two agents', { packet: `${GOOD.packet}|return:B` }, 'duplicate-key', 'return'],
  ['is for another task', { task: 'SEND' }, 'task-mismatch', 'The rule is for "SEND", but the packet is "FETCH".'],
  ['is for another domain', { dom: 'HR' }, 'dom-mismatch', 'The rule is for "HR", but the packet is for "FIN".'],
  ['names its task in small letters', { task: 'fetch' }, 'task-mismatch', '"fetch"'],
  ['has a slot of an unknown kind', { phrases: ['fetch the ledger for {when}'] }, 'bad-slot', '"{when}" is not a slot'],
  ['has a brace that does not close', { phrases: ['fetch the ledger for {period'] }, 'bad-slot', '"{" is not a slot'],
  ['has a brace that does not open', { packet: `${GOOD.packet}|filter:a}` }, 'bad-slot', '"}" is not a slot'],
  [
    'has a slot in capitals in its packet',
    { packet: `${GOOD.packet}|filter:{Id}` },
    'bad-slot',
    '"{Id}" is not a slot',
  ],
  ['has a slot for the task', { packet: GOOD.packet.replace('FETCH', '{period}') }, 'task-mismatch', '2026-05'],
  [
    'has a phrase without a slot of the packet',
    { phrases: ['fetch the ledger for {period}', 'fetch the ledger'] },
    'unfilled-slot',
    'The phrase "fetch the ledger" lacks the slot period.',
  ],
  ['has a slot and no phrase', { phrases: [] }, 'unfilled-slot', '{period} has no value'],
  [
    'has an input with a slot and no phrase',
    { packet: PLAIN, phrases: [], workflow: { encoder: 'E', method: 'm', args: { a: ['{id}'] } } },
    'unfilled-slot',
    '{id}',
  ],
  [
    'has a phrase with a slot that the packet lacks',
    { phrases: ['fetch the ledger for {period} in {region:name}'] },
    'unused-slot',
    'has the slot region, which is not used',
  ],
  [
    'has a slot in its packet that no input of its step uses',
    { workflow: { encoder: 'E', method: 'm', args: {} } },
    'unused-slot',
    'has the slot period, which is not used',
  ],
  [
    'has a phrase of slots alone',
    { phrases: ['get {period}'] },
    'bare-phrase',
    '"get {period}" has fewer than 2 words',
  ],
  [
    'has a slot twice in a phrase',
    { phrases: ['fetch the ledger for {period} and {period}'] },
    'bad-slot',
    'has the same slot twice',
  ],
  [
    'has a slot of two kinds',
    { phrases: ['fetch the ledger for {period}', 'fetch the ledger of {period:quarter}'] },
    'bad-slot',
    'The slot period has the kind period in one phrase and quarter in another.',
  ],
  [
    'writes an amount into one field',
    { packet: `${PLAIN}|amt:{amount}`, phrases: ['fetch ledger entries over {amount}'] },
    'bad-slot',
    'write an amount as {amount.value} and {amount.currency}',
  ],
  [
    'uses half of an amount',
    { packet: `${PLAIN}|amt:{amount.value}`, phrases: ['fetch ledger entries over {amount}'] },
    'unused-slot',
    'Only the value of the amount amount is used.',
  ],
  [
    'uses a part of a slot without parts',
    { packet: `${PLAIN}|period:{period.value}` },
    'bad-slot',
    'only amounts have parts',
  ],
];

const WARNINGS: readonly (readonly [name: string, changes: Record<string, unknown>, code: string, message: string])[] =
  [
    [
      'is for a private task',
      { task: 'AUDIT', packet: GOOD.packet.replace('FETCH', 'AUDIT') },
      'unknown-task',
      'AUDIT',
    ],
    ['has a private key', { packet: `${GOOD.packet}|org_unit:7` }, 'unknown-key', 'org_unit'],
    ['is of another version', { packet: GOOD.packet.replace('1.1', '1.2') }, 'version-mismatch', '1.2'],
    ['is long', { packet: `${GOOD.packet}|filter:${'x'.repeat(150)}` }, 'long-packet', 'at most 200 are recommended'],
  ];

describe('a rule that', () => {
  it.each(FAULTS)('%s is left out and reported', (_name, changes, code, message) => {
    const { rules, reports } = loadRules([rule({ id: 'first-one' }), rule(changes), rule({ id: 'last-one' })]);
    expect(rules.map(({ id }) => id)).toEqual(['first-one', 'last-one']);
    const own = reports.filter(({ severity }) => severity === 'error');
    expect(own[0]).toMatchObject({ index: 1, code });
    expect(own[0]?.message).toContain(message);
  });

  it.each(WARNINGS)('%s is kept and reported', (_name, changes, code, message) => {
    const { rules, reports } = loadRules([rule(changes)]);
    expect(rules).toHaveLength(1);
    expect(reports).toMatchObject([{ index: 0, id: 'fin-fetch-ledger', code, severity: 'warning' }]);
    expect(reports[0]?.message).toContain(message);
  });

  it.each([null, 7, 'text', [], {}, [[]]])('is %j is left out and reported', (entry) => {
    const { rules, reports } = loadRules([entry, GOOD]);
    expect(rules).toHaveLength(1);
    expect(reports[0]).toMatchObject({ index: 0, id: null, code: 'not-a-rule' });
  });

  it('has the id of an earlier rule is left out', () => {
    const { rules, reports } = loadRules([GOOD, rule({ name: 'Another' })]);
    expect(rules.map(({ name }) => name)).toEqual([GOOD.name]);
    expect(reports.map(({ index, code }) => ({ index, code }))).toContainEqual({ index: 1, code: 'duplicate-id' });
  });

  it('has the phrase of another rule is kept, and reported', () => {
    const { rules, reports } = loadRules([GOOD, rule({ id: 'other', phrases: ['Fetch  the ledger for {period}'] })]);
    expect(rules).toHaveLength(2);
    expect(reports).toMatchObject([{ index: 1, code: 'same-phrase', severity: 'warning' }]);
  });

  it('has the phrase of a rule of another domain is kept without a finding', () => {
    const other = rule({ id: 'other', dom: 'HR', packet: GOOD.packet.replace('FIN|', 'HR|') });
    expect(loadRules([GOOD, other]).reports).toEqual([]);
  });

  it('has braces in its packet and no phrases keeps those that are not slots', () => {
    const { rules, reports } = loadRules([rule({ packet: `${PLAIN}|filter:{A}{}`, phrases: [] })]);
    expect(reports).toEqual([]);
    expect(rules[0]?.packet).toBe(`${PLAIN}|filter:{A}{}`);
  });
});

describe('a rule with a step', () => {
  const workflow = {
    encoder: 'LedgerEncoder',
    method: 'fetch',
    args: { period: '{period}', parts: ['a', '{period}'] },
  };

  it('is tried with values for its slots, if there is an encoder', () => {
    const calls: unknown[] = [];
    const { reports } = loadRules([rule({ workflow })], {
      encodeStep: (encoder, method, args) => {
        calls.push([encoder, method, { ...args }]);
        return { packet: '', task: 'FETCH', domain: 'FIN' };
      },
    });
    expect(reports).toEqual([]);
    expect(calls).toEqual([['LedgerEncoder', 'fetch', { period: '2026-05', parts: ['a', '2026-05'] }]]);
  });

  it('passes a list to an input that is a list', () => {
    const given: unknown[] = [];
    const args = { accounts: '{accounts}', label: 'of {accounts}' };
    const source = rule({
      packet: `${PLAIN}|src:{accounts}`,
      phrases: ['fetch the ledger of {accounts:list}'],
      workflow: { ...workflow, args },
    });
    loadRules([source], {
      encodeStep: (_encoder, _method, inputs) => {
        given.push(inputs['accounts'], inputs['label']);
        return { packet: '', task: 'FETCH', domain: 'FIN' };
      },
    });
    expect(given).toEqual([['first', 'second'], 'of first,second']);
  });

  const steps: readonly (readonly [string, NonNullable<LoadRulesOptions['encodeStep']>, string, string])[] = [
    [
      'refuses the inputs',
      () => {
        throw new Error('supplier: is missing');
      },
      'bad-step',
      'supplier: is missing',
    ],
    [
      'makes several packets',
      () => [],
      'bad-step',
      'LedgerEncoder.fetch makes several packets; a rule needs exactly one.',
    ],
    [
      'does another task',
      () => ({ packet: '', task: 'SEND', domain: 'FIN' }),
      'task-mismatch',
      'The rule is for "FETCH", but LedgerEncoder.fetch is "SEND".',
    ],
    ['is for another domain', () => ({ packet: '', task: 'FETCH', domain: 'HR' }), 'dom-mismatch', 'is for "HR"'],
  ];

  it.each(steps)('that %s is left out', (_name, encodeStep, code, message) => {
    const { rules, reports } = loadRules([rule({ workflow })], { encodeStep });
    expect(rules).toEqual([]);
    expect(reports).toMatchObject([{ index: 0, code }]);
    expect(reports[0]?.message).toContain(message);
  });
});

describe('a step of the built-in encoders', () => {
  const packet = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:{period}|filter:status=active|fmt:json';

  function withStep(encoder: string, method: string, args: Readonly<Record<string, unknown>>) {
    return loadRules([rule({ dom: 'HR', packet, workflow: { encoder, method, args } })]);
  }

  it('is known without further options', () => {
    const { rules, reports } = withStep('PayrollEncoder', 'fetch_employees', { period: '{period}' });
    expect(reports).toEqual([]);
    expect(rules).toHaveLength(1);
  });

  it.each([
    ['PayrolEncoder', 'fetch_employees', { period: '{period}' }, 'did you mean "PayrollEncoder"?'],
    ['PayrollEncoder', 'fetch_employes', { period: '{period}' }, 'did you mean "fetch_employees"?'],
    ['PayrollEncoder', 'fetch_employees', { perod: '{period}' }, 'perod'],
    ['PayrollEncoder', 'fetch_employees', { period: '{period}|return:X' }, 'period'],
    ['PayrollEncoder', 'full_run', { period: '{period}', prev_period: '{period}' }, 'makes several packets'],
    ['constructor', 'toString', { period: '{period}' }, 'constructor'],
  ])('must be valid: %s.%s(%j)', (encoder, method, args, message) => {
    const { rules, reports } = withStep(encoder, method, args);
    expect(rules).toEqual([]);
    expect(reports).toMatchObject([{ code: 'bad-step', message: expect.stringContaining(message) }]);
  });

  it('must produce the packet of the rule', () => {
    const { reports } = withStep('PayrollEncoder', 'fetch_budgets', { period: '{period}' });
    expect(reports).toMatchObject([{ code: 'dom-mismatch' }]);
  });
});

describe('a pin', () => {
  const text = JSON.stringify([rule({ name: 'Fetch the ledger \u2013 all of it' })]);
  const sha256 = createHash('sha256').update(text).digest('hex');

  it('accepts the text that it was computed from', () => {
    expect(loadRules(text, { sha256 }).rules).toHaveLength(1);
    expect(loadRules(text, { sha256: sha256.toUpperCase() }).rules).toHaveLength(1);
  });

  it('rejects any other text', () => {
    expect(() => loadRules(`${text} `, { sha256 })).toThrow(expect.objectContaining({ code: 'hash-mismatch' }));
  });

  it.each(['', 'abc', sha256.slice(1), `${sha256}0`, `sha256:${sha256}`])('is 64 hexadecimal digits: not %j', (pin) => {
    expect(() => loadRules(text, { sha256: pin })).toThrow(TypeError);
  });

  it('applies to a text', () => {
    expect(() => loadRules([GOOD], { sha256 })).toThrow(/sha256/);
  });
});
