import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { upgradePacket } from '../../../src/aacp/build/index.js';
import { parsePacket, printPacket, validatePacket } from '../../../src/aacp/index.js';
import { packetMutants, packets } from '../../helpers/aacp-arbitraries.js';
import { anyString, expectGoodError } from '../../helpers/hostile.js';
import { runs } from '../../helpers/runs.js';
import cases from './upgrade-cases.json' with { type: 'json' };

interface Upgraded {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly notes?: readonly string[];
}

describe('a packet of an earlier version is upgraded', () => {
  test.each(cases.upgraded as readonly Upgraded[])('$name', ({ from, to, notes }) => {
    const upgrade = upgradePacket(from);
    expect(upgrade.text).toBe(to);
    expect(upgrade.packet).toStrictEqual(parsePacket(to));
    expect(upgrade.notes.length).toBeGreaterThan(0);
    if (notes !== undefined) expect(upgrade.notes.map(({ code }) => code)).toEqual(notes);
    for (const { severity, message, section, span } of upgrade.notes) {
      expect({ severity, message, section }).toEqual({
        severity: 'warning',
        message: expect.stringMatching(/^[A-Z].*\.$/),
        section: expect.stringMatching(/^\d/),
      });
      if (span !== null) expect(0 <= span.start && span.start <= span.end && span.end <= from.length).toBe(true);
    }
    // The result of an upgrade is v1.1.
    expect(upgradePacket(to)).toMatchObject({ text: to, notes: [] });
  });
});

describe('a result that is not valid', () => {
  test.each([
    ['FETCH|HR|res:x||||||p:1|1.0', ['missing-return']],
    ['FETCH|HR|x||||json||2|1.0', ['missing-return']],
    ['[TASK:FETCH][DOM:HR][RES:x][AACP:0.1]', ['missing-return']],
  ])('has a note: %s', (from, faults) => {
    const { text, notes } = upgradePacket(from);
    const { valid, errors } = validatePacket(text);
    expect([valid, errors.map(({ code }) => code)]).toEqual([false, faults]);
    const invalid = notes.filter(({ code }) => code === 'not-valid');
    expect(invalid.map(({ message, span }) => [message, span])).toEqual(
      errors.map(({ message }) => [`The packet is not valid yet: ${message}`, null]),
    );
  });

  test('has a note for any packet; without a note, the result is valid', () => {
    const law = fc.property(packetMutants('tolerant'), (text) => {
      let upgraded: ReturnType<typeof upgradePacket>;
      try {
        upgraded = upgradePacket(text);
      } catch {
        return;
      }
      const { notes } = upgraded;
      if (notes.length === 0) return;
      expect(notes.some(({ code }) => code === 'not-valid')).toBe(!validatePacket(upgraded.text).valid);
    });
    fc.assert(law, runs(500));
  });
});

test.each(cases.unchanged)('%s is returned unchanged', (text) => {
  expect(upgradePacket(text)).toStrictEqual({ packet: parsePacket(text), text, notes: [] });
});

describe('a text that is ambiguous or not a packet is rejected:', () => {
  test.each(cases.refused)('$name', ({ from, code, at }) => {
    let error: unknown;
    try {
      upgradePacket(from);
    } catch (thrown) {
      error = thrown;
    }
    expectGoodError(from, error);
    expect(error.code).toBe(code);
    expect(from.slice(error.span!.start, error.span!.end)).toBe(at);
  });

  test.each([undefined, null, 5, {}])('%j', (input) => {
    expect(() => upgradePacket(input as never)).toThrow(expect.objectContaining({ code: 'not-a-packet' }));
  });
});

describe('for any text', () => {
  test.each([
    ['any string', anyString],
    ['any string in a slot', anyString.map((text) => `FETCH|HR|${text}||||json|A|1|1.0`)],
    ['any string in brackets', anyString.map((text) => `[TASK:FETCH][DOM:HR][RES:${text}]`)],
    ['a packet bent out of shape', packetMutants('tolerant')],
  ])('%s is upgraded to a packet that is not changed again, or rejected', (_name, texts) => {
    const law = fc.property(texts, (text) => {
      let upgraded: ReturnType<typeof upgradePacket>;
      try {
        upgraded = upgradePacket(text);
      } catch (error) {
        if ((error as { span?: unknown }).span === null) expect((error as Error).name).toBe('ParseError');
        else expectGoodError(text, error);
        return;
      }
      expect(printPacket(upgraded.packet)).toBe(upgraded.text);
      expect(upgradePacket(upgraded.text)).toMatchObject({ text: upgraded.text, notes: [] });
    });
    fc.assert(law, runs(500));
  });

  test('a v1.1 packet without repeated keys keeps all its fields', () => {
    const law = fc.property(packets, ({ fields, ...head }) => {
      const seen = new Set(['aacp']);
      const kept = fields.filter(({ key }) => !seen.has(key) && seen.add(key));
      const packet = { ...head, fields: [...kept, { key: 'aacp', value: '1.1' }] };
      expect(upgradePacket(printPacket(packet))).toEqual({ packet, text: printPacket(packet), notes: [] });
    });
    fc.assert(law, runs(300));
  });
});
