/** Properties of all packets, and of all texts that are parsed as packets. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CORE_KEYS,
  canonicalizePacket,
  type Dialect,
  type Field,
  type Packet,
  parsePacket,
  printPacket,
  tryParsePacket,
} from '../../src/aacp/index.js';
import { packetMutants, packets, packetTexts } from '../helpers/aacp-arbitraries.js';
import { runs } from '../helpers/runs.js';

const DIALECTS: readonly Dialect[] = ['strict', 'tolerant'];
const RUNS = runs(400);

/** Texts that the dialect accepts: written by it, or modified and still accepted. */
function accepted(dialect: Dialect): fc.Arbitrary<string> {
  const bent = packetMutants(dialect).filter((text) => tryParsePacket(text, { dialect }).ok);
  return fc.oneof({ weight: 5, arbitrary: packetTexts(dialect) }, { weight: 1, arbitrary: bent });
}

function canonicalText(packet: Packet): string {
  return printPacket(canonicalizePacket(packet));
}

describe('a tree that can be printed', () => {
  test.each(DIALECTS)('is equal after printing and parsing in the %s dialect', (dialect) => {
    const law = fc.property(packets, (packet) => {
      expect(parsePacket(printPacket(packet), { dialect })).toEqual(packet);
    });
    fc.assert(law, RUNS);
  });

  test.each(DIALECTS)('has a canonical text that parses to its canonical form in the %s dialect', (dialect) => {
    const law = fc.property(packets, (packet) => {
      expect(parsePacket(canonicalText(packet), { dialect })).toStrictEqual(canonicalizePacket(packet));
    });
    fc.assert(law, RUNS);
  });

  test('is canonical after one canonicalization', () => {
    const law = fc.property(packets, (packet) => {
      const canonical = canonicalizePacket(packet);
      expect(canonicalizePacket(canonical)).toStrictEqual(canonical);
    });
    fc.assert(law, RUNS);
  });

  test('has the same canonical text for every order of its fields, unless a key is repeated', () => {
    const pairs = packets.chain(({ fields, ...head }) => {
      const distinct = fields.filter(({ key }, at) => fields.findIndex((field) => field.key === key) === at);
      const orders = fc.shuffledSubarray(distinct, { minLength: distinct.length });
      return orders.map((other): [Packet, Packet] => [
        { ...head, fields: distinct },
        { ...head, fields: other },
      ]);
    });
    const law = fc.property(pairs, ([packet, other]) => {
      expect(canonicalText(other)).toBe(canonicalText(packet));
    });
    fc.assert(law, RUNS);
  });

  test('keeps its fields in canonical form, repeated keys in order; only amounts are respelled', () => {
    const law = fc.property(packets, (packet) => {
      const { fields } = canonicalizePacket(packet);
      expect(fields).toHaveLength(packet.fields.length);
      for (const key of new Set(packet.fields.map((field) => field.key))) {
        if (key !== 'amt') expect(valuesOf(key, fields)).toEqual(valuesOf(key, packet.fields));
      }
    });
    fc.assert(law, RUNS);
  });

  test('has the core keys first in canonical form, then the other keys in ascending order of code units', () => {
    const law = fc.property(packets, (packet) => {
      const keys = canonicalizePacket(packet).fields.map(({ key }) => key);
      const core = CORE_KEYS.flatMap((key) => keys.filter((other) => other === key));
      const others = keys.filter((key) => !CORE_KEYS.includes(key));
      // Array.prototype.sort without a comparison function sorts strings by code units.
      expect(keys).toEqual([...core, ...others.toSorted()]);
    });
    fc.assert(law, RUNS);
  });

  test('is not modified by printing and canonicalization', () => {
    const law = fc.property(packets, (packet) => {
      const before = fc.stringify(packet);
      canonicalText(packet);
      expect(fc.stringify(packet)).toBe(before);
    });
    fc.assert(law, RUNS);
  });
});

describe('a text that the strict dialect accepts', () => {
  test('is printed unchanged', () => {
    const law = fc.property(accepted('strict'), (text) => {
      expect(printPacket(parsePacket(text))).toBe(text);
    });
    fc.assert(law, RUNS);
  });

  test('has a canonical text, which is canonical itself', () => {
    const law = fc.property(accepted('strict'), (text) => {
      const canonical = canonicalText(parsePacket(text));
      expect(canonicalText(parsePacket(canonical))).toBe(canonical);
    });
    fc.assert(law, RUNS);
  });

  test('gives the same tree in the tolerant dialect', () => {
    const law = fc.property(accepted('strict'), (text) => {
      expect(parsePacket(text, { dialect: 'tolerant', spans: true })).toStrictEqual(parsePacket(text, { spans: true }));
    });
    fc.assert(law, RUNS);
  });

  test('has field spans that contain key:value', () => {
    const law = fc.property(accepted('strict'), (text) => {
      const packet = parsePacket(text, { spans: true });
      expect(packet.span).toEqual({ start: 0, end: text.length });
      for (const { key, value, span } of packet.fields) {
        expect(text.slice(span!.start, span!.end)).toBe(`${key}:${value}`);
      }
    });
    fc.assert(law, RUNS);
  });
});

describe('a text that the tolerant dialect accepts', () => {
  const tolerant = { dialect: 'tolerant' } as const;

  test('is the strict packet with spaces around tokens, if its tree can be printed', () => {
    const law = fc.property(accepted('tolerant'), (text) => {
      const packet = parsePacket(text, tolerant);
      const printed = printedOrNull(packet);
      fc.pre(printed !== null);
      expect(parsePacket(printed!)).toStrictEqual(packet);
    });
    fc.assert(law, runs(150));
  });

  test('has field spans from the key to the end of the value', () => {
    const law = fc.property(accepted('tolerant'), (text) => {
      for (const { span, ...field } of parsePacket(text, { ...tolerant, spans: true }).fields) {
        const source = text.slice(span!.start, span!.end);
        expect(source.startsWith(field.key) && source.endsWith(field.value)).toBe(true);
        expect(parsePacket(`A|B|${source}`, tolerant).fields).toStrictEqual([field]);
      }
    });
    fc.assert(law, RUNS);
  });
});

test.each(DIALECTS)('the %s dialect gives the same tree with spans as without', (dialect) => {
  const law = fc.property(accepted(dialect), (text) => {
    const { span, ...packet } = parsePacket(text, { dialect, spans: true });
    const fields = packet.fields.map(({ span: _span, ...field }) => field);
    expect(span).toBeDefined();
    expect({ ...packet, fields }).toStrictEqual(parsePacket(text, { dialect }));
  });
  fc.assert(law, RUNS);
});

function valuesOf(wanted: string, fields: readonly Field[]): string[] {
  return fields.filter(({ key }) => key === wanted).map(({ value }) => value);
}

function printedOrNull(packet: Packet): string | null {
  try {
    return printPacket(packet);
  } catch {
    return null;
  }
}
