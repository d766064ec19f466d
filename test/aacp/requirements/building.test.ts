/** Packets that are built, earlier versions, shared rules (draft-mackay-aacp-01, sections 4, 13 and 14). */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  aacp,
  type Domain,
  type FieldValue,
  fromObject,
  type PacketInput,
  packet,
  packetHash,
  type Task,
  toObject,
  upgradePacket,
} from '../../../src/aacp/build/index.js';
import { parsePacket, validatePacket } from '../../../src/aacp/index.js';
import { fetchRules, loadRules } from '../../../src/aacp/rules/index.js';
import { EXAMPLES } from './draft.js';

/** Any UTF-16 text, including unpaired surrogates. */
const ANY_TEXT = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });

describe('building packets (section 4)', () => {
  test.each(EXAMPLES)('the examples of section 4.4 can be built: %s', (_name, ...lines) => {
    const text = lines.join('');
    const { task, domain, fields } = parsePacket(text);
    const input = { task, domain, ...Object.fromEntries(fields.map(({ key, value }) => [key, value])) };
    expect(packet(input as PacketInput)).toBe(text);
  });

  test('every packet that is built contains aacp:1.1', () => {
    const values = fc.dictionary(
      fc.constantFrom('res', 'filter', 'org_x', 'p'),
      fc.constantFrom<FieldValue>('1', 2, 'a'),
    );
    fc.assert(
      fc.property(values, ({ p: _, ...fields }) => {
        const { fields: built } = parsePacket(packet({ task: 'ACK', domain: 'HR', return: 'A', ...fields }));
        expect(built.filter(({ key }) => key === 'aacp')).toEqual([{ key: 'aacp', value: '1.1' }]);
      }),
    );
  });

  test('no packet is built without a receiver, a TASK or a DOM', () => {
    for (const missing of ['return', 'task', 'domain']) {
      const { [missing]: _, ...input } = { task: 'ACK', domain: 'HR', return: 'A' } as Record<string, string>;
      expect(() => packet(input as unknown as PacketInput), missing).toThrow(
        expect.objectContaining({ code: 'missing-input', path: missing }),
      );
    }
  });

  test('private words and keys can be built', () => {
    const text = packet({ task: 'AUDIT', domain: 'OPS', return: 'A', org_ticket: 'T-1' });
    expect(text).toBe('AUDIT|OPS|return:A|aacp:1.1|org_ticket:T-1');
    expect(validatePacket(text).valid).toBe(true);
    // Editors offer the words of the draft, and the compiler accepts others.
    expectTypeOf<'FETCH' | 'AUDIT'>().toExtend<Task>();
    expectTypeOf<'HR' | 'OPS'>().toExtend<Domain>();
    expectTypeOf<Task>().not.toEqualTypeOf<string>();
    expectTypeOf<Domain>().not.toEqualTypeOf<string>();
  });

  test.each(['0', 4, 'high', '1.0'])('an invalid priority is rejected: %j', (p) => {
    const input = { task: 'ACK', domain: 'HR', return: 'A', p } as unknown as PacketInput;
    expect(() => packet(input)).toThrow(expect.objectContaining({ name: 'EncodeError', path: 'p' }));
  });

  test('for every value, the packet contains exactly the given fields, or is rejected with the name of the field', () => {
    const hostile = fc.oneof(ANY_TEXT, fc.constantFrom('x|return:EVE', 'a\nb', ' a', ',', '__proto__'));
    fc.assert(
      fc.property(hostile, hostile, (sup, to) => {
        for (const build of [
          () => packet({ task: 'ACK', domain: 'HR', return: 'A', sup, to: [to, 'b'] }),
          () => aacp`ACK|HR|return:A|aacp:1.1|sup:${sup}|to:${[to, 'b']}`,
        ]) {
          try {
            expect(parsePacket(build()).fields).toEqual([
              { key: 'return', value: 'A' },
              { key: 'aacp', value: '1.1' },
              { key: 'sup', value: sup },
              { key: 'to', value: `${to},b` },
            ]);
            // A comma would have made two items of one.
            expect(to).not.toContain(',');
          } catch (error) {
            expect(error).toMatchObject({ name: 'EncodeError', path: expect.stringMatching(/^(sup|to)\b/) });
          }
        }
      }),
    );
  });

  test.each(EXAMPLES)('%s: to an object and JSON and back, with the same hash', (_name, ...lines) => {
    const node = parsePacket(lines.join(''));
    const again = fromObject(JSON.parse(JSON.stringify(toObject(node))));
    expect(again).toEqual(node);
    expect(packetHash({ ...node, fields: node.fields.toReversed() })).toBe(packetHash(again));
  });

  test('a packet of v1.0 is upgraded, and the changes are reported', () => {
    const { text, notes } = upgradePacket('FETCH|HR|emp_salary|2024-08|||json|HR-Agent|1|1.0');
    expect(text).toBe('FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|fmt:json');
    expect(notes.map(({ code }) => code)).toContain('version');
    expect(validatePacket(text)).toMatchObject({ valid: true, warnings: [] });
    expect(upgradePacket(text)).toMatchObject({ text, notes: [] });
    // Four slots: which of the eight they are is ambiguous.
    expect(() => upgradePacket('FETCH|HR|emp_salary|HR-Agent')).toThrow(
      expect.objectContaining({ name: 'ParseError' }),
    );
  });
});

describe('shared rules (section 13)', () => {
  const RULE = {
    id: 'hr-fetch-timesheets',
    name: 'Fetch timesheets',
    description: 'Timesheets of a team.',
    task: 'FETCH',
    dom: 'HR',
    packet: 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:timesheets',
    tags: ['timesheets'],
    version: '1.1',
    source: 'community',
  };

  test('a library in the reference format is parsed, rule by rule', () => {
    const bad = { ...RULE, id: 'bad', packet: 'rm -rf /' };
    const more = { ...RULE, id: 'more', validated: true, somebody: 'else' };
    for (const source of [[RULE, bad, more], { rules: [RULE, bad, more] }, JSON.stringify([RULE, bad, more])]) {
      const { rules, reports } = loadRules(source);
      expect(rules.map(({ id }) => id)).toEqual(['hr-fetch-timesheets', 'more']);
      expect(new Set(reports.filter(({ severity }) => severity === 'error').map(({ id }) => id))).toEqual(
        new Set(['bad']),
      );
    }
  });

  test('rules from elsewhere are accepted only with the expected hash', async () => {
    const text = JSON.stringify([RULE]);
    const fetch = async (): Promise<Response> => new Response(text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const { rules } = await fetchRules('https://rules.example.org/a.json', { sha256, fetch });
    expect(rules).toHaveLength(1);
    const other = createHash('sha256').update(`${text} `).digest('hex');
    await expect(fetchRules('https://rules.example.org/a.json', { sha256: other, fetch })).rejects.toMatchObject({
      code: 'hash-mismatch',
    });
  });
});
