/** Importing and exporting the registry file of the reference SDK. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { registryKey } from '../../../src/aacp/matching/instruction/normalise.js';
import { RegistryError } from '../../../src/aacp/registry/errors.js';
import { exportPatterns, importPatterns } from '../../../src/aacp/registry/exchange.js';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { Registry } from '../../../src/aacp/registry/registry.js';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { runs } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';
import { handClock, sample } from './sample.js';

const fresh = freshFiles();
const clock = handClock(Date.UTC(2026, 5, 1));

/** An entry in the format of the SDK. */
const ENTRY = {
  id: '2231b325618e',
  timestamp: '2026-05-30T09:08:07.654321+00:00',
  domain: 'FIN',
  english: 'Flag all contractors without a purchase order for Q2 2026.',
  english_normalised: 'flag all contractors without a purchase order for q2 2026.',
  keywords: ['flag', 'contractors'],
  aacp_packet: 'FLAG|FIN|return:FIN-Agent|p:1|aacp:1.1|res:contractors|period:2026-Q2',
  compression_loss: 'minor',
  loss_note: 'approved vendor list',
  token_estimate_english: 30,
  token_estimate_packet: 20,
  reduction_pct: 33.3,
  rule_based_written: false,
  times_seen: 4,
};

function imported(file: unknown, registry: Registry = memoryRegistry({ now: clock })) {
  const report = importPatterns(registry, file, { now: clock });
  return { report, registry, entries: [...registry.entries()] };
}

describe('importing', () => {
  test('imports an entry for the agent and the priority of its packet, with its count and its time', () => {
    const { report, registry, entries } = imported(JSON.stringify([ENTRY]));
    expect(report).toEqual({ imported: 1, merged: 0, rewritten: 0, skipped: [] });
    const request = {
      normalised: 'flag all contractors without a purchase order for q2 2026.',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: '1',
      version: '1.1',
    };
    expect(entries).toMatchObject([
      {
        ...request,
        key: registryKey(request),
        instruction: ENTRY.english,
        packet: ENTRY.aacp_packet,
        origin: 'import',
        model: null,
        cost: null,
        createdAt: Date.UTC(2026, 4, 30, 9, 8, 7, 654),
        lastSeenAt: clock(),
        timesSeen: 4,
      },
    ]);
    expect(entries[0]!.id).toMatch(/^[0-9a-f]{12}$/);
    expect(entries[0]!.id).not.toBe(ENTRY.id);
    expect(registry.get(registryKey(request))).toEqual(entries[0]);
    expect(registry.candidates('FIN', entries[0]!.terms, 1)).toHaveLength(1);
  });

  test('an instruction with relative dates is imported for the time at which it was given', () => {
    const english = 'Flag the contractors of last month';
    const { entries } = imported([{ ...ENTRY, english }]);
    expect(entries[0]!.normalised).toBe('flag the contractors of last month  2026-05');
    expect(imported([{ ...ENTRY, english, timestamp: undefined }]).entries[0]!.normalised).toContain('2026-06');
  });

  test('terms and normal form can be replaced', () => {
    const registry = memoryRegistry();
    const normalise = (instruction: string, createdAt: number) => `${instruction.length} ${createdAt}`;
    importPatterns(registry, [{ ...ENTRY, timestamp: '' }], { now: () => 7.5, normalise, termsOf: () => ['term'] });
    expect(registry.candidates('FIN', ['term'], 9)).toMatchObject([
      { normalised: `${ENTRY.english.length} 7`, createdAt: 7 },
    ]);
  });

  test('the list itself, and a text with a byte order mark, are accepted as well', () => {
    expect(imported([ENTRY]).report.imported).toBe(1);
    expect(imported(`\uFEFF${JSON.stringify([ENTRY])}`).report.imported).toBe(1);
    expect(imported([]).report).toEqual({ imported: 0, merged: 0, rewritten: 0, skipped: [] });
  });

  test.each([
    ['of another version', 'FLAG|FIN|return:A|p:1|aacp:1.2|res:x', 'FLAG|FIN|return:A|p:1|aacp:1.1|res:x'],
    ['with stray white space', ' FLAG|FIN |return: A|p:1|aacp:1.1 ', 'FLAG|FIN|return:A|p:1|aacp:1.1'],
    ['with keys in capital letters', 'FLAG|FIN|Return:A|P:1|AACP:1.0', 'FLAG|FIN|return:A|p:1|aacp:1.1'],
  ])('a packet %s is rewritten, and counted', (_what, packet, written) => {
    const { report, entries } = imported([{ ...ENTRY, aacp_packet: packet }]);
    expect(report).toMatchObject({ imported: 1, rewritten: 1 });
    expect(entries).toMatchObject([{ packet: written, returnAgent: 'A', priority: '1', version: '1.1' }]);
  });

  test('a packet without a priority is imported with the default one', () => {
    const { entries } = imported([{ ...ENTRY, aacp_packet: 'FLAG|FIN|return:A|aacp:1.1' }]);
    expect(entries).toMatchObject([{ priority: '2', packet: 'FLAG|FIN|return:A|aacp:1.1' }]);
  });

  test.each([
    ['a text that is not a packet', 'not valid', { aacp_packet: 'rm -rf /' }],
    ['a packet without an agent', 'not valid', { aacp_packet: 'FLAG|FIN|p:1|aacp:1.1' }],
    ['a packet with two agents', 'not valid', { aacp_packet: 'FLAG|FIN|return:A|return:B|p:1|aacp:1.1' }],
    ['a packet with a line end', 'not valid', { aacp_packet: 'FLAG|FIN|return:A|p:1|aacp:1.1|res:a\nb' }],
    ['a packet of v1.0', 'not valid', { aacp_packet: 'FLAG|FIN|contractors|2026|A|1|aacp:1.0' }],
    ['a packet with invalid words', 'cannot be written', { aacp_packet: 'flag it|FIN|return:A|p:1|aacp:1.1' }],
    ['a packet of another domain', 'domain', { domain: 'HR' }],
    ['an empty instruction', 'empty', { english: ' \n ' }],
    ['a long instruction', 'longer', { english: 'x'.repeat(20_001) }],
    ['no domain', 'domain', { domain: null }],
    ['an invalid domain', 'domain', { domain: {} }],
    ['no instruction', 'english', { english: undefined }],
    ['a packet that is not a text', 'aacp_packet', { aacp_packet: ['FLAG'] }],
  ])('an entry with %s is left out, and the reason is reported', (_what, reason, changes) => {
    const { report, entries } = imported([ENTRY, { ...ENTRY, ...changes }, { ...ENTRY, english: 'Other words' }]);
    expect(report).toMatchObject({ imported: 2, skipped: [{ index: 1, id: ENTRY.id }] });
    expect(report.skipped[0]!.reason).toContain(reason);
    expect(entries).toHaveLength(2);
  });

  test.each([[null], [7], ['text'], [[]], [{}], [{ id: 7 }]])('an invalid entry such as %j is left out', (given) => {
    const { report } = imported(JSON.stringify([given, ENTRY]));
    expect(report).toMatchObject({
      imported: 1,
      skipped: [{ index: 0, id: null, reason: expect.any(String) as string }],
    });
  });

  test.each([
    ['an invalid count', { times_seen: '3' }, { timesSeen: 1 }],
    ['a count below 1', { times_seen: 0 }, { timesSeen: 1 }],
    ['a count that is too large', { times_seen: 1e300 }, { timesSeen: 1 }],
    ['no count', { times_seen: undefined }, { timesSeen: 1 }],
    ['an invalid id', { id: 7 }, { timesSeen: 4 }],
    ['a time without a zone', { timestamp: '2026-05-30T09:00:00' }, { createdAt: Date.UTC(2026, 4, 30, 9) }],
    ['a time in another zone', { timestamp: '2026-05-30T09:00:00+02:00' }, { createdAt: Date.UTC(2026, 4, 30, 7) }],
    ['a future time', { timestamp: '2099-01-01T00:00:00Z' }, { createdAt: clock() }],
    ['a time in year 1', { timestamp: '0001-01-01T00:00:00Z' }, { createdAt: clock() }],
    ['an invalid time', { timestamp: 'yesterday' }, { createdAt: clock() }],
    ['an invalid day', { timestamp: '2026-13-45T00:00:00Z' }, { createdAt: clock() }],
    ['a domain in small letters', { domain: 'fin' }, { domain: 'FIN' }],
    ['a rule that covers it', { rule_based_written: true }, { covered: true }],
  ])('an entry with %s is still accepted', (_what, changes, expected) => {
    expect(imported([{ ...ENTRY, ...changes }]).entries).toMatchObject([expected]);
  });

  test('an existing entry keeps its packet, and the larger count', () => {
    const { registry } = imported([ENTRY]);
    const other = { ...ENTRY, aacp_packet: 'ACK|FIN|return:FIN-Agent|p:1|aacp:1.1' };
    expect(imported([other, { ...other, times_seen: 9 }, other], registry).report).toEqual({
      ...{ imported: 0, merged: 3, rewritten: 0, skipped: [] },
    });
    const [entry, ...others] = registry.entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      packet: ENTRY.aacp_packet,
      timesSeen: 9,
      createdAt: Date.UTC(2026, 4, 30, 9, 8, 7, 654),
    });
  });

  test('the same instruction for another agent or priority is another entry', () => {
    const packets = [
      'FLAG|FIN|return:A|p:1|aacp:1.1',
      'FLAG|FIN|return:B|p:1|aacp:1.1',
      'FLAG|FIN|return:A|p:2|aacp:1.1',
    ];
    const { report } = imported(packets.map((packet) => ({ ...ENTRY, aacp_packet: packet })));
    expect(report.imported).toBe(3);
  });

  test.each([['{'], [''], ['null'], ['{"entries":[]}'], ['"[]"'], [null], [undefined], [{ entries: [] }], [7]])(
    'a document that is not a list, such as %j, is a RegistryError',
    (file) => {
      const registry = memoryRegistry();
      expect(() => importPatterns(registry, file)).toThrow(RegistryError);
      expect(() => importPatterns(registry, file)).toThrow(expect.objectContaining({ code: 'bad-registry-file' }));
    },
  );

  test('every entry of any JSON list is imported or left out', () => {
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          id: fc.jsonValue(),
          domain: fc.oneof(fc.constantFrom('FIN', 'fin', '__proto__'), fc.jsonValue()),
          english: fc.oneof(fc.string(), fc.constant('a\uD800b\0'), fc.jsonValue()),
          aacp_packet: fc.oneof(
            fc.constant(ENTRY.aacp_packet),
            fc.string().map((value) => `FLAG|FIN|return:${value}|p:1|aacp:1.1`),
            fc.jsonValue(),
          ),
          times_seen: fc.oneof(fc.double(), fc.jsonValue()),
          timestamp: fc.oneof(fc.string(), fc.jsonValue()),
          rule_based_written: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), (list) => {
        const { report, entries } = imported(JSON.stringify(list));
        const { imported: taken, merged, skipped } = report;
        expect(taken + merged + skipped.length).toBe(list.length);
        expect(entries).toHaveLength(taken);
      }),
      runs(100),
    );
  });
});

describe('exporting', () => {
  test('writes the format of the reference, member by member', () => {
    const registry = memoryRegistry({ now: clock });
    const instruction = 'Flag  the (Contractors) without a purchase order!';
    const packet = 'FLAG|FIN|return:A|p:1|aacp:1.1|res:contractors';
    const { key } = registry.put(sample(1, { domain: 'FIN', instruction, packet, timesSeen: 3 }));
    registry.setCovered(key, true);
    expect(exportPatterns(registry)).toBe(
      `${JSON.stringify(
        [
          {
            id: '2eb1875abffc',
            timestamp: '2026-06-01T00:00:00.000Z',
            domain: 'FIN',
            english: instruction,
            english_normalised: 'flag the (contractors) without a purchase order!',
            keywords: ['flag', 'contractors', 'without', 'purchase', 'order'],
            aacp_packet: packet,
            compression_loss: 'none',
            loss_note: 'not measured',
            token_estimate_english: 12,
            token_estimate_packet: 11,
            reduction_pct: 8.3,
            rule_based_written: true,
            times_seen: 3,
          },
        ],
        null,
        2,
      )}\n`,
    );
  });

  test('counts tokens with the given function', () => {
    const registry = memoryRegistry();
    registry.put(sample(1));
    const [entry] = JSON.parse(exportPatterns(registry, { countTokens: (text) => text.split(/[ |]/).length }));
    expect(entry).toMatchObject({ token_estimate_english: 6, token_estimate_packet: 6, reduction_pct: 0 });
    const [other] = JSON.parse(exportPatterns(registry, { countTokens: () => 0 }));
    expect(other.reduction_pct).toBe(0);
  });

  test('an empty registry is an empty list', () => {
    expect(exportPatterns(memoryRegistry())).toBe('[]\n');
  });

  test('and importing into an empty registry keeps all data of the format', async () => {
    const { registry } = imported([
      ENTRY,
      { ...ENTRY, aacp_packet: 'FLAG|FIN|return:B|p:3|aacp:1.1', rule_based_written: true },
      { ...ENTRY, english: 'a\uD800b "quoted" \u0000 words __proto__', times_seen: 1 },
    ]);
    const text = exportPatterns(registry);
    const again = await sqliteRegistry(fresh(), { now: clock });
    expect(importPatterns(again, text, { now: clock }).imported).toBe(3);
    expect(exportPatterns(again)).toBe(text);
    const kept = Array.from(again.entries(), ({ lastSeenAt: _, ...entry }) => entry);
    expect(kept).toEqual(Array.from(registry.entries(), ({ lastSeenAt: _, ...entry }) => entry));
    again.close();
  });
});
