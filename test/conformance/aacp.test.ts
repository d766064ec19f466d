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
const REJECTED = PACKETS.filter(({ error }) => error !== undefined);
const WITHOUT_REPEATED_KEYS = ACCEPTED.filter(({ packet }) => {
  const keys = parsePacket(packet).fields.map(({ key }) => key);
  return new Set(keys).size === keys.length;
});
const DIALECTS = ['strict', 'tolerant'] as const;

describe('packets.json', () => {
  describe.each(ACCEPTED)('$id', ({ packet, canonical }) => {
    const node = (): Packet => parsePacket(packet);

    test('is read and printed', () => {
      expect(printPacket(node())).toBe(packet);
      expect(printPacket(canonicalizePacket(node()))).toBe(canonical);
    });

    test.each(DIALECTS)('its canonical text parses in the %s dialect as the canonical node', (dialect) => {
      const again = parsePacket(canonical ?? '', { dialect });
      expect(again).toEqual(canonicalizePacket(node()));
      expect(canonicalizePacket(again)).toEqual(again);
    });
  });

  test.each(WITHOUT_REPEATED_KEYS)('$id: another order of its fields prints the same', ({ packet, canonical }) => {
    const { fields, ...head } = parsePacket(packet);
    expect(printPacket(canonicalizePacket({ ...head, fields: fields.toReversed() }))).toBe(canonical);
  });

  test.each(REJECTED)('$id', ({ packet, error }) => {
    const result = tryParsePacket(packet, { dialect: 'strict' });
    expect(result.ok || { code: result.error.code, offset: result.error.span?.start }).toEqual({
      code: error?.code,
      offset: error?.offset,
    });
  });
});

test.each(validatorCases())('validator.json: $id', ({ packet, valid, errors, warnings }) => {
  const validation = validatePacket(packet, { profile: 'draft' });
  expect({
    valid: validation.valid,
    errors: validation.errors.map(({ code }) => code),
    warnings: validation.warnings.map(({ code }) => code),
  }).toEqual({ valid, errors, warnings });
});

describe('explain.json', () => {
  /** Recorded sentences with an error, and their corrections. */
  const CORRECTIONS: Readonly<Record<string, readonly [recorded: string, corrected: string]>> = {
    'progress-nan': ['Progress: nan%.', 'Progress: nan.'],
  };

  /** Keys with a sentence of their own; `ccy` shares that of `amt`, and the sentence of a repeated key is about the last field. */
  const EXPLAINED = new Set(
    (
      'res period filter fields fmt src src_prev rules validate tmpl data_ptr amt sup match terms party type clause issue ' +
      'risk block flags req to subj sentiment tone prog status actor chain p return'
    ).split(' '),
  );

  test.each(explainCases())('$id', ({ id, packet, explanation }) => {
    const [recorded, corrected] = CORRECTIONS[id] ?? ['', ''];
    const rest = unexplained(parsePacket(packet, { dialect: 'tolerant' }));
    expect(explainPacket(packet)).toBe([explanation.replace(recorded, corrected), ...rest].join(' '));
  });

  /** Returns `Key: value.` for the fields without a recorded sentence, except empty slots. */
  function unexplained({ task, domain, fields }: Packet): readonly string[] {
    const rest = fields.filter((field, at) => {
      if (field.key === '') return false;
      const isExplained = EXPLAINED.has(field.key) || (field.key === 'ccy' && fields.some(({ key }) => key === 'amt'));
      const repeatedLater = fields.slice(at + 1).some(({ key }) => key === field.key);
      return !isExplained || repeatedLater;
    });
    const pairs = task === '' && domain !== '' ? [{ key: 'domain', value: domain }, ...rest] : rest;
    return pairs.map(({ key, value }) => `${key.charAt(0).toUpperCase()}${key.slice(1)}: ${value}.`);
  }
});
