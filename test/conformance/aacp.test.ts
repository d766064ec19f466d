import { describe, expect, test } from 'vitest';
import {
  canonicalizePacket,
  explainPacket,
  type Packet,
  parsePacket,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../../src/aacp/index.js';
import { explainCases, packetCases, validatorCases } from './fixtures.js';

const PACKETS = packetCases();
const ACCEPTED = PACKETS.filter(({ canonical }) => canonical !== undefined);
const REFUSED = PACKETS.filter(({ error }) => error !== undefined);
const WITHOUT_REPEATED_KEYS = ACCEPTED.filter(({ packet }) => {
  const keys = parsePacket(packet).fields.map(({ key }) => key);
  return new Set(keys).size === keys.length;
});
const DIALECTS = ['strict', 'tolerant'] as const;

describe('packets.json', () => {
  describe.each(ACCEPTED)('$id', ({ packet, canonical }) => {
    const node = (): Packet => parsePacket(packet);

    test('is parsed and printed', () => {
      expect(printPacket(node())).toBe(packet);
      expect(printPacket(canonicalizePacket(node()))).toBe(canonical);
    });

    test.each(DIALECTS)('its canonical text is a %s packet: the canonical node, which does not change', (dialect) => {
      const again = parsePacket(canonical ?? '', { dialect });
      expect(again).toEqual(canonicalizePacket(node()));
      expect(canonicalizePacket(again)).toEqual(again);
    });
  });

  test.each(WITHOUT_REPEATED_KEYS)('$id: another order of its fields prints the same', ({ packet, canonical }) => {
    const { fields, ...head } = parsePacket(packet);
    expect(printPacket(canonicalizePacket({ ...head, fields: fields.toReversed() }))).toBe(canonical);
  });

  test.each(REFUSED)('$id', ({ packet, error }) => {
    const result = tryParsePacket(packet, { dialect: 'strict' });
    expect(result.ok || { code: result.error.code, offset: result.error.span?.start }).toEqual({
      code: error?.code,
      offset: error?.offset,
    });
  });
});

test.each(validatorCases())('validator.json: $id', ({ packet, valid, errors, warnings }) => {
  const verdict = validatePacket(packet, { profile: 'draft' });
  expect({
    valid: verdict.valid,
    errors: verdict.errors.map(({ code }) => code),
    warnings: verdict.warnings.map(({ code }) => code),
  }).toEqual({ valid, errors, warnings });
});

describe('explain.json', () => {
  /** Sentences in which the recording is wrong: the recorded and the correct one. */
  const MENDED: Readonly<Record<string, readonly [recorded: string, ours: string]>> = {
    'progress-nan': ['Progress: nan%.', 'Progress: nan.'],
  };

  /** Keys with a sentence of their own; `ccy` shares that of `amt`, and the last of repeated keys is used. */
  const TOLD = new Set(
    (
      'res period filter fields fmt src src_prev rules validate tmpl data_ptr amt sup match terms party type clause issue ' +
      'risk block flags req to subj sentiment tone prog status actor chain p return'
    ).split(' '),
  );

  test.each(explainCases())('$id', ({ id, packet, explanation }) => {
    const [recorded, ours] = MENDED[id] ?? ['', ''];
    const rest = leftOut(parsePacket(packet, { dialect: 'tolerant' }));
    expect(explainPacket(packet)).toBe([explanation.replace(recorded, ours), ...rest].join(' '));
  });

  /** `Key: value.` for all fields that the recorded sentences omit; an empty slot is omitted here, too. */
  function leftOut({ task, domain, fields }: Packet): readonly string[] {
    const untold = fields.filter((field, at) => {
      if (field.key === '') return false;
      const told = TOLD.has(field.key) || (field.key === 'ccy' && fields.some(({ key }) => key === 'amt'));
      const repeatedLater = fields.slice(at + 1).some(({ key }) => key === field.key);
      return !told || repeatedLater;
    });
    const pairs = task === '' && domain !== '' ? [{ key: 'domain', value: domain }, ...untold] : untold;
    return pairs.map(({ key, value }) => `${key.charAt(0).toUpperCase()}${key.slice(1)}: ${value}.`);
  }
});
