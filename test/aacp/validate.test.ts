/** Spans, help, profiles and options of the validator; the conformance cases test its codes. */
import { describe, expect, test } from 'vitest';
import {
  formatDiagnostic,
  type Packet,
  type PacketDiagnostic,
  parsePacket,
  type ValidateOptions,
  type ValidationCode,
  validatePacket,
} from '../../src/aacp/index.js';

const HEAD = 'FETCH|HR|return:A|p:1|aacp:1.1';

function findings(input: string | Packet, options?: ValidateOptions): readonly PacketDiagnostic[] {
  const { errors, warnings } = validatePacket(input, options);
  return [...errors, ...warnings];
}

function codes(input: string | Packet, options?: ValidateOptions): readonly ValidationCode[] {
  return findings(input, options).map(({ code }) => code);
}

/** The one finding of a code. */
function the(code: ValidationCode, input: string | Packet, options?: ValidateOptions): PacketDiagnostic {
  const [found, ...more] = findings(input, options).filter((finding) => finding.code === code);
  expect(more).toEqual([]);
  return found!;
}

describe('every finding points at its subject', () => {
  test.each<[code: ValidationCode, text: string, start: number, at: string]>([
    ['empty-packet', ' ', 0, ' '],
    ['missing-task', '|HR|return:A', 0, ''],
    ['missing-task', '  |HR|return:A', 0, ''],
    ['missing-dom', 'FETCH', 5, ''],
    ['missing-dom', 'FETCH||return:A', 6, ''],
    ['unknown-task', '  GET |HR', 2, 'GET'],
    ['unknown-dom', 'HR|HRX|return:A', 3, 'HRX'],
    ['unknown-dom', 'FETCH| \r\n  OPS |return:A', 11, 'OPS'],
    ['missing-return', 'FETCH|HR|p:1|aacp:1.1', 21, ''],
    ['missing-aacp', 'FETCH|HR|return:A|p:1', 21, ''],
    ['missing-p', 'FETCH|HR|return:A|aacp:1.1', 26, ''],
    ['empty-return', 'FETCH|HR| return : |p:1', 18, ''],
    ['empty-aacp', 'FETCH|HR|aacp:|p:1', 14, ''],
    ['version-mismatch', 'FETCH|HR|aacp: 1.2 ', 15, '1.2'],
    ['bad-priority', 'FETCH|HR|p:high|return:A', 11, 'high'],
    ['unknown-key', `${HEAD}| fild : x`, 32, 'fild'],
    ['key-case', `${HEAD}|RES:x`, 31, 'RES'],
    ['duplicate-key', `${HEAD}|return:B`, 31, 'return'],
    ['empty-value', `${HEAD}|res:`, 35, ''],
    ['empty-key', `${HEAD}| :x `, 32, ':x'],
    ['empty-field', `${HEAD}||res:x`, 31, ''],
    ['malformed-field', `${HEAD}| slot |res:x`, 32, 'slot'],
    ['control-character', `${HEAD}|res: a\x1bb`, 37, '\x1b'],
    ['control-character', `${HEAD}|re\0s:x`, 33, '\0'],
    ['control-character', `${HEAD}|a\x01b`, 32, '\x01'],
    ['control-character', 'FE\x7fTCH|HR', 2, '\x7f'],
    ['control-character', 'FETCH|H\x1fR', 7, '\x1f'],
    ['whitespace', ' FETCH|HR', 0, ' '],
    ['whitespace', 'FETCH|HR\n|return:A', 8, '\n'],
    ['whitespace', `${HEAD}|res:x `, 36, ' '],
    ['whitespace', `${HEAD}|res : x`, 34, ' '],
    ['whitespace', `${HEAD}|res: x`, 35, ' '],
    ['sentiment-without-tone', `${HEAD}|sentiment:bad|tone:`, 31, 'sentiment'],
    ['ltv-without-ccy', `${HEAD}|ltv:5`, 31, 'ltv'],
  ])('%s in %j', (code, text, start, at) => {
    const { span } = the(code, text);
    expect([span?.start, text.slice(span?.start, span?.end)]).toEqual([start, at]);
  });

  test('a repeated key points at the first one, too, in upper or lower case', () => {
    const text = 'FETCH|HR|return:A|p:1|aacp:1.1|RETURN:B';
    expect(the('duplicate-key', text).related).toEqual([{ start: 9, end: 17 }]);
    expect(the('duplicate-key', text).message).toBe(
      'The key "return" is repeated; readers disagree on which field counts.',
    );
  });
});

describe('help', () => {
  test.each<[code: ValidationCode, text: string, help: string | undefined]>([
    ['unknown-task', 'FECH|HR', 'did you mean "FETCH"?'],
    ['unknown-task', 'fetch|HR', 'did you mean "FETCH"?'],
    ['unknown-task', 'HR|return:A', '"HR" is a DOM; is the TASK missing?'],
    ['unknown-task', 'TRANSMOGRIFY|HR', undefined],
    ['unknown-dom', 'FETCH|SALE', 'did you mean "SALES"?'],
    ['unknown-dom', 'FETCH|return:A', 'a named field is in the place of the DOM'],
    ['unknown-key', `${HEAD}|perod:x`, 'did you mean "period"?'],
    ['unknown-key', `${HEAD}|sentimnet:x`, 'did you mean "sentiment"?'],
    ['unknown-key', `${HEAD}|warehouse_shelf:x`, undefined],
    ['missing-task', '|HR', 'one of FETCH, PROC, FLAG, RESOLVE, LOG, SEND, BUILD, MERGE, CALC, REPORT, ACK, SYNC'],
    ['missing-dom', 'FETCH', 'one of HR, FIN, SALES, LEGAL, IT, CS, MKT'],
    ['missing-return', 'FETCH|HR', 'add "return:AGENT"'],
    ['missing-aacp', 'FETCH|HR', 'add "aacp:1.1"'],
    ['missing-p', 'FETCH|HR', 'add "p:2"'],
    ['empty-aacp', 'FETCH|HR|aacp:', 'write "aacp:1.1"'],
    ['bad-priority', 'FETCH|HR|p:0', 'p is 1 (critical), 2 (medium) or 3 (low)'],
    ['key-case', `${HEAD}|RES:x`, 'write "res"'],
    ['empty-field', `${HEAD}|`, 'remove one "|"'],
    ['malformed-field', `${HEAD}|slot`, 'write fields as key:value'],
    ['sentiment-without-tone', `${HEAD}|sentiment:x`, 'add "tone:empathetic", "tone:formal" or "tone:terse"'],
    ['ltv-without-ccy', `${HEAD}|ltv:1`, 'add a ccy field'],
  ])('for %s in %j', (code, text, help) => {
    expect(the(code, text).help).toBe(help);
  });

  test('contains no control character of the packet', () => {
    expect(the('key-case', `${HEAD}|\x1b[2JK:x`).help).not.toContain('\x1b');
  });

  test('cuts long words, in messages as well', () => {
    const long = 'A'.repeat(5000);
    for (const { message, help = '' } of findings(`${long}|${long}|${long}:${long}|${long}|p:${long}|aacp:${long}`)) {
      expect(message.length + help.length).toBeLessThan(250);
    }
  });
});

describe('severities', () => {
  test('errors make a packet invalid, warnings do not', () => {
    expect(validatePacket(`${HEAD}|x:y`)).toMatchObject({
      valid: true,
      errors: [],
      warnings: [{ code: 'unknown-key' }],
    });
    expect(validatePacket('FETCH|HR|p:1')).toMatchObject({ valid: false, warnings: [] });
  });

  test('every finding has the severity of its list, and its section', () => {
    const { errors, warnings } = validatePacket('GET|HR|return:A|p:9|slot');
    expect(errors.map(({ code, severity, section }) => [code, severity, section])).toEqual([
      ['malformed-field', 'error', '4'],
      ['missing-aacp', 'error', '4.2'],
    ]);
    expect(warnings.map(({ code, severity, section }) => [code, severity, section])).toEqual([
      ['unknown-task', 'warning', '5.1'],
      ['bad-priority', 'warning', '5.3'],
    ]);
  });

  test('can be raised, lowered and switched off per code', () => {
    const text = 'GET|HR|return:A|aacp:1.1|p:9';
    expect(codes(text)).toEqual(['unknown-task', 'bad-priority']);
    const severities = { 'unknown-task': 'error', 'bad-priority': 'off' } as const;
    expect(validatePacket(text, { severities })).toMatchObject({
      valid: false,
      errors: [{ code: 'unknown-task' }],
      warnings: [],
    });
    expect(
      validatePacket('FETCH|HR', { severities: { 'missing-return': 'warning', 'missing-aacp': 'off' } }).valid,
    ).toBe(true);
  });

  test('interop accepts packets of other writers, with a warning', () => {
    const text = `${HEAD}||slot|p:2`;
    expect(validatePacket(text).errors.map(({ code }) => code)).toEqual([
      'empty-field',
      'malformed-field',
      'duplicate-key',
    ]);
    const interop = validatePacket(text, { profile: 'interop' });
    expect(interop).toMatchObject({ valid: true, errors: [] });
    expect(interop.warnings.map(({ code }) => code)).toEqual(['empty-field', 'malformed-field', 'duplicate-key']);
    expect(validatePacket('FETCH|HR|p:1', { profile: 'interop' }).valid).toBe(false);
  });

  test('severities of single codes override those of the profile', () => {
    const options = { profile: 'interop', severities: { 'empty-field': 'error' } } as const;
    expect(validatePacket(`${HEAD}|`, options).valid).toBe(false);
  });
});

describe('private keys', () => {
  const text = `${HEAD}|org_unit:a|ORG_ID:b|orgx:c`;

  test('are unknown unless they are declared', () => {
    expect(codes(text)).toEqual(['unknown-key', 'key-case', 'unknown-key', 'unknown-key']);
  });

  test('are declared by exact name, or by prefix', () => {
    expect(codes(text, { privateKeys: ['orgx'] })).toEqual(['unknown-key', 'key-case', 'unknown-key']);
    expect(codes(text, { privateKeys: ['org_*'] })).toEqual(['key-case', 'unknown-key']);
    expect(codes(text, { privateKeys: ['org_unit', 'org*'] })).toEqual(['key-case']);
    expect(codes(text, { privateKeys: ['*'] })).toEqual(['key-case']);
    expect(codes(`${HEAD}|org_:x`, { privateKeys: ['org_*'] })).toEqual([]);
  });
});

describe('trees', () => {
  const tree = (fields: readonly object[]): Packet =>
    ({ ...parsePacket(HEAD), fields: [...parsePacket(HEAD).fields, ...fields] }) as Packet;

  test('are validated as their texts, without spans', () => {
    const finding = the('unknown-key', parsePacket(`${HEAD}|perod:x`));
    expect(finding).toMatchObject({ span: null, help: 'did you mean "period"?' });
    expect(codes(parsePacket(' FETCH|HR|slot||k:', { dialect: 'tolerant' }))).toEqual(codes('FETCH|HR|slot||k:'));
  });

  test.each([
    ['a value', { key: 'res', value: 'x|return:EVIL' }],
    ['a key', { key: 'res|x', value: 'y' }],
    ['a key with a colon', { key: 'res:x', value: 'y' }],
    ['a field without a colon', { key: '', value: 'a|b', bare: true }],
  ])('a separator in %s is an error', (_name, field) => {
    expect(the('separator', tree([field]))).toMatchObject({ severity: 'error', section: '4', span: null });
    expect(validatePacket(tree([field])).valid).toBe(false);
  });

  test('a separator in the TASK or the DOM is an error', () => {
    expect(the('separator', { ...tree([]), task: 'FETCH|HR' }).message).toContain('A TASK contains a separator');
    expect(the('separator', { ...tree([]), domain: 'HR|x' }).message).toContain('A DOM contains a separator');
  });

  test('are not changed, and returned without spans unless these are requested', () => {
    const node = parsePacket(HEAD, { spans: true });
    const before = structuredClone(node);
    expect(validatePacket(node).packet).toEqual(parsePacket(HEAD));
    expect(node).toEqual(before);
    expect(validatePacket(HEAD).packet).toEqual(parsePacket(HEAD));
    expect(validatePacket(HEAD, { spans: true }).packet).toEqual(node);
  });
});

describe('a value that is not a packet', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('hostile');
      },
    },
  );
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['number', 7],
    ['function', () => HEAD],
    ['symbol', Symbol(HEAD)],
    ['object', {}],
    ['object', { kind: 'packet', task: 'FETCH', domain: 'HR' }],
    ['object', { kind: 'packet', task: 'FETCH', domain: 7, fields: [] }],
    ['object', { kind: 'packet', task: 'FETCH', domain: 'HR', fields: [null] }],
    ['object', { kind: 'packet', task: 'FETCH', domain: 'HR', fields: [{ key: 'k', value: 7 }] }],
    ['object', { kind: 'packet', task: 'FETCH', domain: 'HR', fields: [{ key: Symbol('k'), value: '' }] }],
    ['object', { kind: 'frame', task: 'FETCH', domain: 'HR', fields: [] }],
    ['object', hostile],
    ['object', revoked.proxy],
    ['object', { kind: 'packet', task: 'FETCH', domain: 'HR', fields: [hostile] }],
    ['object', { kind: 'packet', task: 'FETCH', domain: 'HR', fields: new Array(1) }],
  ])('gets an error result, and nothing is thrown: %s', (type, input) => {
    const { valid, packet, errors, warnings } = validatePacket(input as Packet);
    expect({ valid, packet, warnings }).toEqual({ valid: false, packet: null, warnings: [] });
    const message = `Expected a packet or its text, found ${type}.`;
    expect(errors).toEqual([{ code: 'not-a-packet', severity: 'error', message, span: null, section: '4' }]);
  });
});

test('no option permits a missing packet, and a misspelt severity disables nothing', () => {
  const withSeverities = (severities: object) => () => validatePacket(HEAD, { severities });
  expect(withSeverities({ limit: 'off' })).toThrow(new TypeError('the severity of limit is fixed'));
  expect(withSeverities({ 'missing-return': 'warn' })).toThrow(/got 'warn'/);
  expect(withSeverities({ 'mising-return': 'off' })).toThrow(/did you mean 'missing-return'/);
});

test.each([
  [{ profile: 'strict' }, "profile must be one of draft, interop; got 'strict'"],
  [{ profile: 'Draft' }, "profile must be one of draft, interop; got 'Draft'; did you mean 'draft'?"],
  [{ maxLength: -1 }, 'maxLength must be a non-negative integer or Infinity; got -1'],
])('wrong options are a TypeError: %j', (options, message) => {
  expect(() => validatePacket(HEAD, options as ValidateOptions)).toThrow(new TypeError(message));
});

test('a finding has a code frame, and one for each related span', () => {
  const text = 'ACK|HR|return:A|p:1|aacp:1.1|return:B';
  const [finding] = validatePacket(text).errors;
  expect(formatDiagnostic(finding!, text, { name: 'log', line: 7 })).toBe(
    [
      'error[duplicate-key]: The key "return" is repeated; readers disagree on which field counts.',
      ' --> log:7:30',
      '  |',
      '7 | ACK|HR|return:A|p:1|aacp:1.1|return:B',
      '  |                              ^^^^^^',
      'note: related to this',
      ' --> log:7:8',
      '  |',
      '7 | ACK|HR|return:A|p:1|aacp:1.1|return:B',
      '  |        ^^^^^^^^',
      'help: remove one of the two',
    ].join('\n'),
  );
});

test('options may be inherited, and other properties are not read', () => {
  const inherited = Object.create({ maxLength: 5, severities: { 'missing-p': 'off' } }) as ValidateOptions;
  expect(validatePacket(HEAD, inherited).errors).toMatchObject([{ code: 'limit' }]);
  const others = { maxDepth: -1, dialect: 'none', severities: null, privateKeys: null } as unknown as ValidateOptions;
  expect(validatePacket(HEAD, others)).toEqual(validatePacket(HEAD));
});
