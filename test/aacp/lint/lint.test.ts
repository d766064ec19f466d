import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePacket } from '../../../src/aacp/index.js';
import { lintPacket } from '../../../src/aacp/lint/lint.js';
import { anyString } from '../../helpers/hostile.js';
import { runs } from '../../helpers/runs.js';

const HEAD = 'PROC|CS|return:CS-Agent|p:2|aacp:1.1';
const repeated = (unit: string, times: number): string => unit.repeat(times);

/** Sensitive values: their kind, and the part that is reported. */
const SENSITIVE: readonly (readonly [value: string, kind: string, part?: string])[] = [
  ['jo@example.com', 'an e-mail address'],
  ['email=j.smith+hr@mail.example.co.uk', 'an e-mail address', 'j.smith+hr@mail.example.co.uk'],
  ['to jörg@müller.example now', 'an e-mail address', 'jörg@müller.example'],
  ['4111111111111111', 'a payment card number'],
  ['card_4111-1111-1111-1111', 'a payment card number', '4111-1111-1111-1111'],
  ['2024-08-31 5555 5555 5555 4444', 'a payment card number', '5555 5555 5555 4444'],
  ['378282246310005', 'a payment card number'],
  ['30569309025904', 'a payment card number'],
  ['6011111111111117', 'a payment card number'],
  ['2223003122003222', 'a payment card number'],
  ['DE89370400440532013000', 'a bank account number (IBAN)'],
  ['iban=GB82 WEST 1234 5698 7654 32', 'a bank account number (IBAN)', 'GB82 WEST 1234 5698 7654 32'],
  ['fr14-2004-1010-0505-0001-3m02-606', 'a bank account number (IBAN)'],
  ['+44 7700 900123', 'a phone number'],
  ['call +1 (415) 555-2671 please', 'a phone number', '+1 (415) 555-2671'],
  ['(415) 555-2671', 'a phone number'],
  ['phone=07700900123', 'a phone number', '07700900123'],
  ['nino=AB123456C', 'a national insurance number', 'AB123456C'],
  ['AB 12 34 56 C', 'a national insurance number'],
  ['ssn=123-45-6789', 'a social security number', '123-45-6789'],
  [`AKIA${repeated('ABCD', 4)}`, 'an AWS access key'],
  [`key ghp_${repeated('a1B2', 9)}`, 'a GitHub token', `ghp_${repeated('a1B2', 9)}`],
  [`github_pat_${repeated('a1_B', 8)}`, 'a GitHub token'],
  [`glpat-${repeated('a1-B', 5)}`, 'a GitLab token'],
  [`xoxb-${repeated('12ab', 5)}`, 'a Slack token'],
  [`AIza${repeated('a1B2_', 7)}`, 'a Google API key'],
  [`sk_live_${repeated('a1B2', 6)}`, 'a Stripe key'],
  [`npm_${repeated('a1B2', 9)}`, 'an npm token'],
  [`eyJ${repeated('a1B2', 5)}.eyJ${repeated('a1B2', 5)}.${repeated('a1B2', 5)}`, 'a JSON Web Token'],
  ['-----BEGIN RSA PRIVATE KEY----- MIIE', 'a private key', '-----BEGIN RSA PRIVATE KEY'],
  ['sk-proj-a1B2c3D4e5F6g7H8i9J0', 'a secret key'],
  ['bearer a1B2c3D4e5F6g7H8i9J0', 'a bearer token'],
  ['password=hunter2', 'a password or key', 'hunter2'],
  ['usr=x,db_password: s3cret!', 'a password or key', 's3cret!'],
  ['api-key=a1B2c3', 'a password or key', 'a1B2c3'],
  ['postgres://app:s3cret@db.internal/x', 'a password in an address', 's3cret'],
];

/** Ordinary values that resemble the values above. */
const ORDINARY: readonly string[] = [
  ...['usr=j.smith', 'status=active', 'HR-Agent', '2024-08', '2024-08-31', 'id=L-7712', 'score>=70', 'review_required'],
  ...[
    'rpt://payroll/2024-08:pdf',
    'gl://close/2026-02',
    's3://bucket/key',
    'email,dept,grp,pwd_reset',
    'email',
    'phone',
  ],
  ...['HR-AGENT,FIN-AGENT,HR-AGENT', 'ABC-Ltd', 'm365_business_standard', 'PO-441', 'INV-9921', '4200', '4200.50'],
  ...[
    '1234567890123456',
    '4111111111111112',
    '20240831120000',
    '1724999999999',
    '0.4111111111111111',
    '12 34 56 78 90 12 34',
  ],
  ...['a4111111111111111b', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bae34', 'DE00370400440532013000', 'GB82WEST'],
  ...['DE893704004405320130001', 'XX82WEST12345698765432', 'usr@host', '@here', 'a@b', 'git@github.com', '@', 'x@.com'],
  ...['+5', '+12', '2024-08-31T10:00:00+01:00', '+1500000', '123-45-678', '000-12-3456', '1-123-45-6789', 'PO123456C'],
  ...[
    'GB123456A',
    'password=reset_required',
    'pwd=expired',
    'password=vault://hr/db',
    'token=',
    'password=',
    'secret=$DB',
  ],
  ...[
    'password=***',
    'sk-agent-for-translations-v2',
    'bearer of bad news and worse',
    'task_ghp_x',
    'AKIA',
    'eyJ.eyJ.x',
  ],
  ...[
    'https://example.com:8080/a@b',
    'https://example.com/x',
    '(415) 555',
    'tel',
    'customer_service=0',
    '-----BEGIN CERTIFICATE-----',
  ],
];

describe('a value is reported that looks like', () => {
  test.each(SENSITIVE.map(([value, kind, part = value]) => ({ value, kind, part })))(
    '$value: $kind',
    ({ value, kind, part }) => {
      const text = `${HEAD}|res:x|filter:${value}`;
      const start = text.length - value.length + value.indexOf(part);
      expect(lintPacket(text)).toEqual([
        {
          code: 'sensitive-value',
          severity: 'warning',
          message: `The value of "filter" looks like ${kind}.`,
          span: { start, end: start + part.length },
          section: '15',
          help: expect.stringContaining('data_ptr'),
        },
      ]);
      // A tree has no positions.
      expect(lintPacket(parsePacket(text))).toEqual([{ ...lintPacket(text)[0], span: null }]);
    },
  );
});

describe('no finding for', () => {
  test.each(ORDINARY)('%s', (value) => {
    expect(lintPacket(`${HEAD}|filter:${value}`)).toEqual([]);
  });

  test.each([
    'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json',
    'FLAG|LEGAL|return:LEG-Agent|p:1|aacp:1.1|type:NDA|party:Acme-Ltd|clause:s7|issue:ip_rights_restriction|risk:high',
    'BUILD|IT|return:IT-Agent|p:1|aacp:1.1|res:ad_account|filter:usr=j.smith|fields:email,dept,grp,pwd_reset',
    'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|res:invoice|sup:ABC-Ltd|amt:4200|ccy:GBP|match:PO-441|terms:net30',
    'PROC|FIN|return:FIN-Agent|p:2|aacp:1.1|amt:+12345678901|ltv:+12345678901|ccy:GBP',
    '',
    'no packet at all',
  ])('%s', (text) => {
    expect(lintPacket(text)).toEqual([]);
  });
});

test('all parts of a value are found, in order and without overlaps', () => {
  const findings = lintPacket(`${HEAD}|to:a@x.com,password=b@y.com,c@z.com|bare d@v.com`);
  expect(findings.map(({ message, span }) => [message, span!.end - span!.start])).toEqual([
    ['The value of "to" looks like an e-mail address.', 7],
    ['The value of "to" looks like a password or key.', 7],
    ['The value of "to" looks like an e-mail address.', 7],
    ['A field without a key looks like an e-mail address.', 7],
  ]);
});

test('the key of a field determines the kind of its value', () => {
  expect(lintPacket(`${HEAD}|org_password:hunter2|ORG_API_KEY:abc|pwd:expired`).map(({ message }) => message)).toEqual([
    'The value of "org_password" looks like a password or key.',
    'The value of "ORG_API_KEY" looks like a password or key.',
  ]);
});

describe('a receiver with field lists of its own', () => {
  const text = `${HEAD}|fields:id,name|res:x|data_ptr:s3://b/k`;

  test('makes fields and pointers redundant', () => {
    const findings = lintPacket(text, { receiver: { knowsFields: true } });
    expect(findings.map(({ code, section, span }) => [code, section, text.slice(span!.start, span!.end)])).toEqual([
      ['redundant-field', '9', 'fields:id,name'],
      ['redundant-field', '9', 'data_ptr:s3://b/k'],
    ]);
    expect(lintPacket(text)).toEqual([]);
    expect(lintPacket(text, { receiver: { knowsFields: false } })).toEqual([]);
  });
});

describe('wrong use', () => {
  test.each([
    [() => lintPacket(HEAD, { receiver: { knowsFields: 1 as never } }), TypeError],
    [() => lintPacket({} as never), TypeError],
    [() => lintPacket('|'.repeat(2_000_000)), 'The text has 2000000 characters'],
  ])('%s is rejected', (call, error) => {
    expect(call).toThrow(error);
  });
});

test('no message contains the value', () => {
  const values = fc.oneof(
    anyString,
    fc.tuple(fc.constantFrom(...SENSITIVE.map(([value]) => value)), anyString).map((pair) => pair.join(' ')),
  );
  const law = fc.property(values, (value) => {
    const text = `${HEAD}|filter:${value}`;
    for (const { message, span } of lintPacket(text)) {
      const part = text.slice(span!.start, span!.end);
      expect(0 <= span!.start && span!.start < span!.end && span!.end <= text.length).toBe(true);
      expect(part.length > 3 && message.includes(part)).toBe(false);
      expect(message).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    }
  });
  fc.assert(law, runs(300));
});

describe('invisible characters', () => {
  test.each([
    ['a\u202eb', 'reverses the direction of the text (U+202E)', '\u202e'],
    ['a\u2066b\u2069', 'reverses the direction of the text (U+2066)', '\u2066'],
    ['ab\u200bc', 'cannot be seen (U+200B)', '\u200b'],
    ['pay\u200d\u200dme', 'cannot be seen (U+200D)', '\u200d\u200d'],
    ['x\u00a0y', 'cannot be seen (U+00A0)', '\u00a0'],
    ['x\u{e0041}\u{e0042}', 'cannot be seen (U+E0041)', '\u{e0041}\u{e0042}'],
    ['a\ufe0fb', 'cannot be seen (U+FE0F)', '\ufe0f'],
  ])('%j: %s', (value, what, part) => {
    const text = `${HEAD}|res:${value}`;
    const [found] = lintPacket(text);
    expect(found).toMatchObject({
      code: 'invisible-character',
      severity: 'warning',
      message: `The value of "res" contains a character that ${what}.`,
      section: '15',
    });
    expect(text.slice(found!.span!.start, found!.span!.end)).toBe(part);
    expect(lintPacket(parsePacket(text))[0]).toMatchObject({ code: 'invisible-character', span: null });
  });

  test.each([
    '❤\ufe0f',
    '👩\u200d👩\u200d👧',
    '1\ufe0f\u20e3',
    'می\u200cخواهم',
    'क्\u200dष',
    'é',
    'e\u0301',
    'שלום',
    '中文',
  ])('%j contains no misplaced invisible character', (value) => {
    expect(lintPacket(`${HEAD}|res:${value}`)).toEqual([]);
  });

  test('do not slow the linter down', () => {
    const many = 'a\u200d'.repeat(20_000);
    expect(lintPacket(`${HEAD}|res:${many}`).at(-1)?.message).toBe('19900 more warnings are not listed.');
  });
});

describe('periods', () => {
  const GOOD = [
    ...['2024-08', '2024', '2024-08-31', '202408', '20240831', '2026-Q2', '2026Q2', '2026_H1', 'Q3-2026', '2026-W14'],
    ...['2026-W14-3', 'FY2026', 'FY25-26', 'FY2025/26-Q1', '2024-01/2024-06', '2026-04-08T22:00..2026-04-08T23:30'],
    ...['P3M', 'PT8H', 'current', 'last_quarter', 'last_30_days', 'ytd', '2026-04,2026-05'],
  ];
  test.each(GOOD)('%j is a period', (value) => {
    expect(lintPacket(`${HEAD}|period:${value}`)).toEqual([]);
    expect(lintPacket(`${HEAD}|PERIOD:${value}`)).toEqual([]);
  });

  test.each(['2024-13', '2024-00', '2024-08-32', '2026-Q5', '2026-W54', 'August', 'FY', 'P', 'PT', 'soon', '2024-08,'])(
    '%j does not look like a period',
    (value) => {
      const text = `${HEAD}|period:${value}|fmt:x`;
      const [found, ...others] = lintPacket(text);
      expect(found).toMatchObject({ code: 'period-form', severity: 'warning', section: '4.2' });
      expect(text.slice(found!.span!.start, found!.span!.end)).toBe(value);
      expect(others).toEqual([]);
    },
  );
});

test.each([
  ['GBP', []],
  ['gbp', ['currency-form']],
  ['£', ['currency-form']],
  ['EURO', ['currency-form']],
])('the currency %j', (value, codes) => {
  expect(lintPacket(`${HEAD}|ccy:${value}`).map(({ code }) => code)).toEqual(codes);
});
