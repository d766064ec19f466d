import { describe, expect, test } from 'vitest';
import { packetTokenTable } from '../../bench/packet-token-table.js';
import { packetCounts, packetsOf, readWorkflow, totalOf, VARIANTS } from '../../bench/packet-tokens.js';
import { validatePacket } from '../../src/aacp/index.js';
import { countTokens } from '../../src/tokens/load-counter.js';

const workflow = readWorkflow();

describe.each(workflow.cases.map((hop) => [hop.name, hop] as const))('%s', (_name, hop) => {
  test('has the packet of the reference SDK in compat mode', () => {
    expect(packetsOf(hop).compat).toBe(hop.packets.compat);
  });

  test('has packets that the validator accepts', () => {
    for (const variant of VARIANTS) expect(validatePacket(packetsOf(hop)[variant])).toMatchObject({ valid: true });
  });

  test('has the counts of another tokenizer', async () => {
    const { english, packets } = await packetCounts(hop, 'o200k_base');
    const { benchmark, compat } = packets;
    expect({ english, benchmark, compat }).toStrictEqual(hop.recorded.o200k_base);
  });

  test('has the counts of its texts', async () => {
    const { json, terse } = await packetCounts(hop, 'cl100k_base');
    const tokens = async (text: string) => (await countTokens(text, 'cl100k_base')).tokens;
    const [task, domain, ...fields] = packetsOf(hop).default.split('|');
    const pairs = fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]);
    expect(json).toBe(await tokens(JSON.stringify({ task, domain, ...Object.fromEntries(pairs) })));
    expect(terse.default).toBe(await tokens(hop.terse.default));
  });

  test('omits no more by default than in the benchmark', () => {
    expect(hop.unsaid.benchmark).toEqual(expect.arrayContaining([...hop.unsaid.default]));
  });

  test('has concise English with the values of each packet', () => {
    const packets = packetsOf(hop);
    for (const variant of VARIANTS) {
      const values = packets[variant].match(/(?<=\|(?:return|period|src_prev|p):)[^|]+/g)!;
      for (const value of values) expect(hop.terse[variant]).toContain(value);
    }
  });
});

test('totals are sums of the rows', async () => {
  const counts = await Promise.all(workflow.cases.map((hop) => packetCounts(hop, 'o200k_base')));
  const { english, packets } = totalOf(counts);
  expect({ english, benchmark: packets.benchmark, compat: packets.compat }).toStrictEqual({
    english: 191,
    benchmark: 139,
    compat: 151,
  });
});

describe('the table', () => {
  test('has the published figures, and reproduces the published change for GPT-4o', async () => {
    const table = await packetTokenTable(workflow);
    expect(table).toContain('| fetch employees | 56 to 52, -7.1 %, -12.7 % | -15 %, +71 %');
    expect(table).toContain(`219 to 167 (${workflow.published.gpt4o.change} %)`);
    expect(table).toContain('219 to 179 (-18.3 %)');
  });
});
