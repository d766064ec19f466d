/** A model that answers badly for a time: its packets in the registry must not prevent better ones. */
import { describe, expect, test } from 'vitest';
import { createFallbackEncoder, memoryRegistry } from '../../../src/aacp/fallback/index.js';

const MONTHS = Array.from({ length: 60 }, (_, index) => {
  const month = String((index % 12) + 1).padStart(2, '0');
  return `${2020 + Math.floor(index / 12)}-${month}`;
});

describe('after packets without the period', () => {
  test.each([0, 1, 9, 20, 40])('%i of them, one good packet answers all other periods', async (bad) => {
    let calls = 0;
    const encoder = createFallbackEncoder({
      registry: memoryRegistry(),
      rules: [],
      model: ({ instruction }) => {
        calls++;
        const period = /\d{4}-\d\d/.exec(instruction)![0];
        const packet = 'REPORT|HR|return:HR-Agent|p:2|aacp:1.1|res:overtime_hours';
        return calls <= bad ? packet : `${packet}|period:${period}`;
      },
    });
    for (const month of MONTHS) {
      const instruction = `Report the overtime hours of all contractors for ${month}.`;
      const { packet } = await encoder.encode(instruction, { domain: 'HR' });
      expect(packet).toContain('res:overtime_hours');
    }
    await encoder.close();
    expect(calls).toBe(bad + 1);
  });
});

test('without patterns, an entry answers only its own instruction', async () => {
  const asked: string[] = [];
  const encoder = createFallbackEncoder({
    registry: memoryRegistry(),
    rules: null,
    patterns: false,
    model: ({ instruction }) => {
      asked.push(instruction);
      return `REPORT|HR|return:HR-Agent|p:2|aacp:1.1|res:overtime_hours|period:${/\d{4}-\d\d/.exec(instruction)![0]}`;
    },
  });
  const tiers: string[] = [];
  for (const month of ['2026-01', '2026-02', '2026-01', '2026-02']) {
    const { tier } = await encoder.encode(`Report the overtime hours for ${month}.`, { domain: 'HR' });
    tiers.push(tier);
  }
  await encoder.close();
  expect(tiers).toEqual(['model', 'model', 'cache', 'cache']);
  expect(asked).toHaveLength(2);
});

test('a rewording causes one call of the model, and is then known', async () => {
  const asked: string[] = [];
  const encoder = createFallbackEncoder({
    registry: memoryRegistry(),
    rules: null,
    model: ({ instruction }) => {
      asked.push(instruction);
      return `FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:salaries|period:${/\d{4}-\d\d/.exec(instruction)![0]}`;
    },
  });
  const tiers: string[] = [];
  for (const instruction of [
    'Fetch the salaries for 2026-05.',
    'Get the salaries for 2026-05.',
    'Get the salaries for 2026-05.',
    'Please get the salaries for 2026-06.',
    'Fetch the salaries for 2026-07.',
  ]) {
    tiers.push((await encoder.encode(instruction, { domain: 'HR' })).tier);
  }
  await encoder.close();
  expect(tiers).toEqual(['model', 'model', 'cache', 'pattern', 'pattern']);
  expect(asked).toHaveLength(2);
});
