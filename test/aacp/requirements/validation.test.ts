/** Validation, decoding, extensions and versions (draft-mackay-aacp-01, sections 7, 8, 13 and 14). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  explainPacket,
  type Packet,
  parsePacket,
  printPacket,
  type ValidationCode,
  validatePacket,
} from '../../../src/aacp/index.js';
import { EXAMPLES, HEAD } from './draft.js';

/** Any UTF-16 text, including unpaired surrogates. */
const ANY_TEXT = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });

describe('checks that validators must make (section 7)', () => {
  test.each<[check: string, text: string, code: ValidationCode]>([
    ['TASK is present', '|HR|return:A|p:1|aacp:1.1', 'missing-task'],
    ['TASK is recognised', 'GET|HR|return:A|p:1|aacp:1.1', 'unknown-task'],
    ['DOM is present', 'FETCH||return:A|p:1|aacp:1.1', 'missing-dom'],
    ['DOM is recognised', 'FETCH|OPS|return:A|p:1|aacp:1.1', 'unknown-dom'],
    ['return is present', 'FETCH|HR|p:1|aacp:1.1', 'missing-return'],
    ['return is not empty', 'FETCH|HR|return:|p:1|aacp:1.1', 'empty-return'],
    ['return is not blank', 'FETCH|HR|return: |p:1|aacp:1.1', 'empty-return'],
    ['aacp is present', 'FETCH|HR|return:A|p:1', 'missing-aacp'],
  ])('%s: of %j', (_check, text, code) => {
    const { errors, warnings } = validatePacket(text);
    expect([...errors, ...warnings].map((finding) => finding.code)).toContain(code);
    expect(validatePacket('FETCH|HR|return:A|p:1|aacp:1.1')).toMatchObject({ errors: [], warnings: [] });
  });
});

describe('warnings that validators should give (section 7)', () => {
  test.each<[what: string, text: string, code: ValidationCode]>([
    ['an unrecognised TASK', 'GET|HR|return:A|p:1|aacp:1.1', 'unknown-task'],
    ['an unrecognised DOM', 'FETCH|OPS|return:A|p:1|aacp:1.1', 'unknown-dom'],
    ['a missing p', 'FETCH|HR|return:A|aacp:1.1', 'missing-p'],
    ['another version', 'FETCH|HR|return:A|p:1|aacp:1.2', 'version-mismatch'],
    ['sentiment without tone', `${HEAD}|sentiment:negative`, 'sentiment-without-tone'],
    ['sentiment with an empty tone', `${HEAD}|sentiment:negative|tone:|req:x`, 'sentiment-without-tone'],
    ['ltv without ccy', `${HEAD}|ltv:2400`, 'ltv-without-ccy'],
    ['an unknown key', `${HEAD}|org_ticket:T-1`, 'unknown-key'],
  ])('%s: %s', (_what, text, code) => {
    const { valid, errors, warnings } = validatePacket(text);
    expect([valid, errors]).toEqual([true, []]);
    expect(warnings.map((finding) => finding.code).filter((found) => found !== 'empty-value')).toEqual([code]);
    expect(warnings.every(({ severity, section }) => severity === 'warning' && section !== undefined)).toBe(true);
  });

  test.each([`${HEAD}|sentiment:negative|tone:empathetic`, `${HEAD}|ltv:2400|ccy:GBP`, `${HEAD}|tone:formal`])(
    'no finding in %s',
    (text) => {
      expect(validatePacket(text)).toMatchObject({ valid: true, warnings: [] });
    },
  );

  test('a packet with all of these warnings is valid', () => {
    const { valid, warnings } = validatePacket('get|ops|return:A|aacp:2.0|sentiment:x|ltv:1|org_x:y');
    expect([valid, warnings.map(({ code }) => code)]).toEqual([
      true,
      [
        'unknown-task',
        'unknown-dom',
        'version-mismatch',
        'unknown-key',
        'missing-p',
        'sentiment-without-tone',
        'ltv-without-ccy',
      ],
    ]);
  });
});

describe('decoding (section 8)', () => {
  test.each(EXAMPLES)('%s: explained in full sentences, without a colon or pipe of the packet', (_name, ...lines) => {
    const text = explainPacket(lines.join(''));
    expect(text).toMatch(/^[A-Z][a-z ]+ \([A-Z][A-Za-z& ]+ domain\)\. [A-Z]/);
    expect(text).toMatch(/\.$/);
    expect(text).not.toContain('|');
  });

  test('each field is explained by its key, at any position', () => {
    const { fields, ...head } = parsePacket(EXAMPLES[0]!.slice(1).join(''));
    const text = explainPacket({ ...head, fields });
    expect(text).toContain('Return to: HR-Agent.');
    expect(text).toContain('Filter: status = active.');
    expect(explainPacket({ ...head, fields: fields.toReversed() })).toBe(text);
  });

  test('a field without a sentence of its own is explained, too', () => {
    const text = explainPacket(`${HEAD}|highlight:REVIEW|urgency:high|loyalty:gold|org_ticket:T-1`);
    for (const sentence of [
      'Highlight: REVIEW.',
      'Urgency: high.',
      'Loyalty: gold.',
      'Org_ticket: T-1.',
      'Aacp: 1.1.',
    ]) {
      expect(text).toContain(` ${sentence}`);
    }
  });

  test('the packet is the record: parsing it returns every character, and explaining changes nothing', () => {
    const text = EXAMPLES[4]!.slice(1).join('');
    const packet = parsePacket(text);
    explainPacket(packet);
    expect(printPacket(packet)).toBe(text);
  });

  test('every text is explained: no exception, and never an empty result', () => {
    fc.assert(
      fc.property(ANY_TEXT, (text) => {
        expect(explainPacket(text).length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('extensibility (section 13)', () => {
  test('private fields with a prefix are ordinary fields', () => {
    const text = `${HEAD}|org_ticket:T-1|org_cost_centre:441`;
    expect(printPacket(parsePacket(text))).toBe(text);
    expect(explainPacket(text)).toContain('Org_ticket: T-1. Org_cost_centre: 441.');
  });

  test('private fields that are declared give no warning', () => {
    const text = `${HEAD}|org_ticket:T-1|res_x:y`;
    const codes = (privateKeys: readonly string[]): readonly string[] =>
      validatePacket(text, { privateKeys }).warnings.map(({ message }) => /"[a-z_]+"/.exec(message)?.[0] ?? '');
    expect(codes([])).toEqual(['"org_ticket"', '"res_x"']);
    expect(codes(['org_*'])).toEqual(['"res_x"']);
    expect(codes(['org_*', 'res_x'])).toEqual([]);
  });
});

describe('versions (section 14)', () => {
  test.each(['1.0', '1.2', '2.0', '0.1', '99', 'next'])('aacp:%s is a warning, and not rejected', (version) => {
    const { valid, packet, warnings } = validatePacket(`ACK|HR|return:A|p:1|aacp:${version}`);
    expect([valid, packet?.fields.at(-1)?.value]).toEqual([true, version]);
    expect(warnings.map(({ code, section }) => [code, section])).toEqual([['version-mismatch', '14']]);
  });

  test('a version does not excuse other errors', () => {
    expect(validatePacket('ACK|HR||p:1|aacp:2.0').valid).toBe(false);
  });
});

describe('interpretations of section 7', () => {
  test('findings point into the text, name their section, and have help where possible', () => {
    const text = 'FECH|HR|p:1|aacp:1.1';
    const { errors, warnings } = validatePacket(text);
    expect(errors).toMatchObject([{ code: 'missing-return', section: '7', help: 'add "return:AGENT"' }]);
    expect(warnings).toMatchObject([{ code: 'unknown-task', section: '5.1', help: 'did you mean "FETCH"?' }]);
    expect(text.slice(warnings[0]?.span?.start, warnings[0]?.span?.end)).toBe('FECH');
  });

  test.each([undefined, null, 7, [], {}])(
    'a value that is not a text gets a validation result, not an exception: %j',
    (input) => {
      expect(validatePacket(input as unknown as Packet)).toMatchObject({ valid: false, packet: null });
    },
  );

  test('packets that other writers send are accepted by the profile interop, with warnings', () => {
    const text = 'FETCH|HR||json|return:A|p:1|aacp:1.0|return:A';
    expect(validatePacket(text).errors.map(({ code }) => code)).toEqual([
      'empty-field',
      'malformed-field',
      'duplicate-key',
    ]);
    expect(validatePacket(text, { profile: 'interop' }).valid).toBe(true);
  });
});
