/** The packet format and its words (draft-mackay-aacp-01, sections 4 and 5). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalizePacket,
  explainPacket,
  type Packet,
  parsePacket,
  printPacket,
  tryParsePacket,
  type ValidationCode,
  validatePacket,
} from '../../../src/aacp/index.js';
import { DOMAINS, EXAMPLES, EXTENDED_KEYS, HEAD, PRIORITIES, TASKS } from './draft.js';

function errors(text: string | Packet): readonly ValidationCode[] {
  return validatePacket(text).errors.map(({ code }) => code);
}

function warnings(text: string): readonly ValidationCode[] {
  return validatePacket(text).warnings.map(({ code }) => code);
}

describe('the packet (section 4)', () => {
  test('the pipe separates fields', () => {
    const { task, domain, fields } = parsePacket('FETCH|HR|return:A|res:x');
    expect([task, domain, fields.length]).toEqual(['FETCH', 'HR', 2]);
    expect(fields).toEqual([
      { key: 'return', value: 'A' },
      { key: 'res', value: 'x' },
    ]);
  });

  test.each([';', ',', '&', '¦', '｜', '│', '/', '\\'])('%s does not separate fields', (character) => {
    const { fields } = parsePacket(`${HEAD}|res:a${character}p:3`);
    expect(fields.at(-1)).toEqual({ key: 'res', value: `a${character}p:3` });
  });

  test('TASK and DOM are identified by position, not by value', () => {
    expect(parsePacket('HR|FETCH|return:A')).toMatchObject({ task: 'HR', domain: 'FETCH' });
    expect(warnings('HR|FETCH|return:A|p:1|aacp:1.1')).toEqual(['unknown-task', 'unknown-dom']);
  });

  test.each([
    ['', 'nothing'],
    ['FETCH', 'a TASK alone'],
    ['FETCH HR return:A', 'no separator'],
    ['@bot>req:fetch{}', 'an ACCP frame'],
  ])('%j is not a packet: %s', (text) => {
    expect(tryParsePacket(text).ok).toBe(false);
    expect(validatePacket(text).valid).toBe(false);
  });

  test('a packet is one line: control characters are rejected by the parser, the printer and the validator', () => {
    for (const code of [...Array(0x20).keys(), 0x7f]) {
      const value = `a${String.fromCharCode(code)}b`;
      expect(tryParsePacket(`${HEAD}|res:${value}`).ok, `U+${code.toString(16)}`).toBe(false);
      expect(errors(`${HEAD}|res:${value}`)).toEqual(['control-character']);
      expect(() => printPacket({ ...parsePacket(HEAD), fields: [{ key: 'res', value }] })).toThrow();
    }
  });

  test.each(['json', 'emp_salary', 'HR-Agent'])('a field that is not key:value is rejected: %s', (slot) => {
    expect(tryParsePacket(`${HEAD}|${slot}`)).toMatchObject({ ok: false, error: { code: 'malformed-field' } });
    expect(errors(`${HEAD}|${slot}`)).toEqual(['malformed-field']);
    const node = { ...parsePacket(HEAD), fields: [{ key: '', value: slot, bare: true as const }] };
    expect(() => printPacket(node)).toThrow('has no colon');
  });

  test.each(['FETCH|HR||return:A|aacp:1.1', `${HEAD}|`, `${HEAD}||res:x`, `${HEAD}| |res:x`])(
    'an empty slot is rejected: %j',
    (text) => {
      expect(tryParsePacket(text).ok).toBe(false);
      expect(errors(text)).toEqual(['empty-field']);
    },
  );

  test('no packet that is printed has an empty slot', () => {
    const field = fc.record({ key: fc.string({ maxLength: 3 }), value: fc.string({ maxLength: 3 }) });
    const packet = fc.record({
      kind: fc.constant('packet' as const),
      task: fc.constantFrom('FETCH', ''),
      domain: fc.constantFrom('HR', ''),
      fields: fc.array(fc.oneof(field, fc.constant({ key: 'res', value: 'x' })), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(packet, (node) => {
        const text = printed(node);
        expect(text?.split('|').includes('') ?? false).toBe(false);
      }),
    );
  });
});

function printed(node: Packet): string | null {
  try {
    return printPacket(node);
  } catch {
    return null;
  }
}

describe('interpretations of section 4', () => {
  test.each([
    ['att:rpt://payroll/2024-08:pdf', 'att', 'rpt://payroll/2024-08:pdf'],
    ['src_prev:gl://close/2026-02', 'src_prev', 'gl://close/2026-02'],
    ['res::', 'res', ':'],
  ])('the first colon separates key and value: %s', (text, key, value) => {
    expect(parsePacket(`${HEAD}|${text}`).fields.at(-1)).toEqual({ key, value });
  });

  test('no value can contain a pipe: it is not written, so it cannot become a field', () => {
    const node = { ...parsePacket(HEAD), fields: [{ key: 'sup', value: 'ABC|return:EVE' }] };
    expect(() => printPacket(node)).toThrow('fields[0].value: contains a "|"');
    expect(errors(node)).toContain('separator');
  });

  test.each(['return', 'res', 'org_x'])('a repeated %s is an error, and both positions are reported', (key) => {
    const text = `FETCH|HR|p:1|aacp:1.1|${key === 'return' ? '' : 'return:A|'}${key}:a|${key}:b`;
    const { errors: found } = validatePacket(text);
    expect(found.map(({ code, related }) => [code, related?.length])).toEqual([['duplicate-key', 1]]);
  });

  test('fields may be in any order, and have one order in canonical form', () => {
    const orders = ['aacp:1.1|return:A|org_b:2|p:1|org_a:1|fmt:json', 'fmt:json|org_a:1|org_b:2|p:1|return:A|aacp:1.1'];
    for (const fields of orders) {
      const packet = parsePacket(`ACK|HR|${fields}`);
      expect(validatePacket(packet, { privateKeys: ['org_*'] })).toMatchObject({ valid: true, warnings: [] });
      expect(printPacket(canonicalizePacket(packet))).toBe('ACK|HR|return:A|p:1|aacp:1.1|fmt:json|org_a:1|org_b:2');
    }
  });

  test.each([
    ['4200.50', '4200.5'],
    ['4200.0', '4200'],
    ['0.0000005', '0'],
    ['0.0000015', '0.000002'],
    ['4,200', '4,200'],
  ])('an amount of %s is %s in canonical form', (amount, canonical) => {
    expect(printPacket(canonicalizePacket(parsePacket(`ACK|FIN|amt:${amount}`)))).toBe(`ACK|FIN|amt:${canonical}`);
  });
});

describe('positional fields (section 4.1)', () => {
  test.each(['|HR|return:A|p:1|aacp:1.1', ' |HR|return:A|p:1|aacp:1.1'])('the TASK is required: %j', (text) => {
    expect(tryParsePacket(text).ok).toBe(false);
    expect(errors(text)).toEqual(['missing-task']);
  });

  test.each(['FETCH||return:A|p:1|aacp:1.1', 'FETCH| |return:A|p:1|aacp:1.1'])('the DOM is required: %j', (text) => {
    expect(tryParsePacket(text).ok).toBe(false);
    expect(errors(text)).toEqual(['missing-dom']);
  });

  test.each(TASKS)('%s is a TASK of the draft', (task) => {
    expect(validatePacket(`${task}|HR|return:A|p:1|aacp:1.1`)).toMatchObject({ valid: true, warnings: [] });
  });

  test.each(DOMAINS)('%s is a DOM of the draft', (domain) => {
    expect(validatePacket(`FETCH|${domain}|return:A|p:1|aacp:1.1`)).toMatchObject({ valid: true, warnings: [] });
  });

  test.each(['fetch', 'Fetch', 'GET', 'HR', 'FETCHED', 'constructor', '__proto__'])(
    '%s is not a TASK of the draft',
    (task) => {
      expect(warnings(`${task}|HR|return:A|p:1|aacp:1.1`)).toEqual(['unknown-task']);
    },
  );

  test.each(['hr', 'OPS', 'FETCH', 'HRM', 'constructor', '__proto__'])('%s is not a DOM of the draft', (domain) => {
    expect(warnings(`FETCH|${domain}|return:A|p:1|aacp:1.1`)).toEqual(['unknown-dom']);
  });
});

describe('named fields (section 4.2)', () => {
  test.each<[text: string, found: readonly ValidationCode[]]>([
    ['FETCH|HR|p:1', ['missing-return', 'missing-aacp']],
    ['FETCH|HR|p:1|aacp:1.1', ['missing-return']],
    ['FETCH|HR|return:A|p:1', ['missing-aacp']],
    ['FETCH|HR|return:A|p:1|aacp:', ['empty-aacp']],
    ['FETCH|HR|return:|p:1|aacp:1.1', ['empty-return']],
    ['FETCH|HR|Agent:return|p:1|aacp:1.1', ['missing-return']],
    ['FETCH|HR|return:A|p:1|res:aacp:1.1', ['missing-aacp']],
  ])('return and aacp are in every packet, or it is invalid: %s', (text, found) => {
    expect(errors(text)).toEqual(found);
  });

  test('a packet with only return and aacp is valid: the other fields are recommended', () => {
    expect(validatePacket('ACK|HR|return:A|aacp:1.1').valid).toBe(true);
  });

  test.each(['1.0', '1.2', '1', '1.10', '2.0', 'v1.1', '1.1.0'])(
    'the version %s is not that of the draft',
    (version) => {
      expect(warnings(`FETCH|HR|return:A|p:1|aacp:${version}`)).toEqual(['version-mismatch']);
    },
  );

  test.each([
    ['return:HR-Agent', 'Return to: HR-Agent.'],
    ['p:1', 'Priority: critical priority.'],
    ['res:emp_salary', 'Resource: emp salary.'],
    ['period:2024-08', 'For period: 2024-08.'],
    ['filter:status=active', 'Filter: status = active.'],
    ['fields:cc_id,ytd_spend', 'Return fields: cc_id ytd_spend.'],
    ['fmt:json', 'Format: JSON.'],
    ['aacp:1.1', 'Aacp: 1.1.'],
  ])('%s is explained as %j', (field, sentence) => {
    expect(explainPacket(`FETCH|HR|${field}`)).toContain(` ${sentence}`);
  });
});

describe('extended fields (section 4.3)', () => {
  test.each(EXTENDED_KEYS)('%s is known', (key) => {
    const companions = { sentiment: '|tone:formal', ltv: '|ccy:GBP' }[key] ?? '';
    expect(validatePacket(`${HEAD}|${key}:x${companions}`)).toMatchObject({ valid: true, warnings: [] });
  });

  test('they may follow the core fields, all of them', () => {
    const text = `${HEAD}|${EXTENDED_KEYS.map((key) => `${key}:x`).join('|')}`;
    expect(validatePacket(text)).toMatchObject({ valid: true, warnings: [] });
    expect(printPacket(parsePacket(text))).toBe(text);
  });

  test.each(['org_ticket', 'flags_inherit', 'ress', 'constructor', '__proto__'])(
    'the unknown key %s is a warning, not an error',
    (key) => {
      expect(validatePacket(`${HEAD}|${key}:x`).valid).toBe(true);
      expect(warnings(`${HEAD}|${key}:x`)).toEqual(['unknown-key']);
    },
  );

  test('each unknown key gets its own warning, however many there are', () => {
    const keys = Array.from({ length: 50 }, (_, at) => `org_${at}`);
    const found = validatePacket(`${HEAD}|${keys.map((key) => `${key}:x`).join('|')}`);
    expect([found.valid, found.warnings.length]).toEqual([true, 50]);
  });
});

describe('the examples (section 4.4)', () => {
  test.each(EXAMPLES)('%s: valid without a finding, and printed unchanged', (_name, ...lines) => {
    const text = lines.join('');
    expect(validatePacket(text)).toMatchObject({ valid: true, warnings: [] });
    expect(printPacket(parsePacket(text))).toBe(text);
  });

  test.each(EXAMPLES)('%s: broken over lines as in the draft, the same packet', (_name, ...lines) => {
    const { valid, packet, warnings: found } = validatePacket(lines.join('\n   '));
    expect([valid, found.map(({ code }) => code)]).toEqual([true, ['whitespace']]);
    expect(packet).toEqual(parsePacket(lines.join('')));
  });
});

describe('values (section 5)', () => {
  test.each(['AUDIT', 'X', 'PAY_RUN', 'RE-OPEN'])('an unrecognised TASK is a warning, and not rejected: %s', (task) => {
    const text = `${task}|HR|return:A|p:1|aacp:1.1`;
    expect([validatePacket(text).valid, warnings(text)]).toEqual([true, ['unknown-task']]);
    expect(parsePacket(text).task).toBe(task);
  });

  test.each(['OPS', 'R2D2', 'SUPPLY-CHAIN'])('a domain of an implementor is a warning, and accepted: %s', (domain) => {
    const text = `FETCH|${domain}|return:A|p:1|aacp:1.1`;
    expect([validatePacket(text).valid, warnings(text)]).toEqual([true, ['unknown-dom']]);
    expect(parsePacket(text).domain).toBe(domain);
    expect(validatePacket(text, { severities: { 'unknown-dom': 'off' } }).warnings).toEqual([]);
  });

  test.each(PRIORITIES)('p accepts %s', (priority) => {
    expect(warnings(`FETCH|HR|return:A|aacp:1.1|p:${priority}`)).toEqual([]);
  });

  test.each(['0', '4', '1.0', '01', 'high', '1,2'])('p does not accept %s: a warning', (priority) => {
    const text = `FETCH|HR|return:A|aacp:1.1|p:${priority}`;
    expect([validatePacket(text).valid, warnings(text)]).toEqual([true, ['bad-priority']]);
  });

  test.each([
    ['1', 'critical'],
    ['2', 'medium'],
    ['3', 'low'],
  ])('p:%s means %s', (priority, word) => {
    expect(explainPacket(`ACK|HR|p:${priority}`)).toContain(`Priority: ${word} priority.`);
  });

  test('without p, the default is used', () => {
    expect(validatePacket('FETCH|HR|return:A|aacp:1.1').warnings).toMatchObject([
      { code: 'missing-p', help: 'add "p:2"' },
    ]);
  });
});
