/** Rewordings over all domains: what says the same is served, what says something else is not. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { printPacket } from '../../../src/aacp/index.js';
import { createMatcher } from '../../../src/aacp/matching/matcher.js';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import { entryOf, NOW } from './evaluate-pairs.js';

interface Group {
  readonly domain: string;
  readonly instruction: string;
  readonly served: readonly string[];
  /** They say the same, and the matcher does not see it. */
  readonly refused: readonly string[];
  readonly others: readonly string[];
}

const groups = readGroups(readFileSync(new URL('rewordings.txt', import.meta.url), 'utf8'));

function readGroups(text: string): readonly Group[] {
  return text
    .split(/\n\n+/)
    .filter((block) => !block.startsWith('#') && block.trim() !== '')
    .map((block) => {
      const [head = '', ...lines] = block.trim().split('\n');
      const [domain = ''] = head.split(' ');
      const marked = (mark: string): readonly string[] =>
        lines.filter((line) => line.startsWith(`${mark} `)).map((line) => line.slice(2));
      return {
        ...{ domain, instruction: head.slice(domain.length + 1) },
        ...{ served: marked('+'), refused: marked('?'), others: marked('-') },
      };
    });
}

const packetOf = (domain: string): string => `PROC|${domain}|return:A|p:1|aacp:1.1|res:whatever`;

function served({ domain, instruction }: Group, asked: string): string | null {
  const request = { domain, returnAgent: 'A', priority: '1' };
  const registry = memoryRegistry({ clock: () => NOW });
  registry.put(entryOf({ ...request, instruction, packet: packetOf(domain) }));
  const result = createMatcher({ registry }).match({ ...request, instruction: asked, now: NOW });
  return result.kind === 'match' ? printPacket(result.packet) : null;
}

test('there are rewordings and near misses of all domains', () => {
  expect([...new Set(groups.map(({ domain }) => domain))].sort()).toEqual([
    'CS',
    'FIN',
    'HR',
    'IT',
    'LEGAL',
    'MKT',
    'SALES',
  ]);
  expect(groups.flatMap(({ served: same }) => same).length).toBeGreaterThanOrEqual(150);
  expect(groups.flatMap(({ others }) => others).length).toBeGreaterThanOrEqual(150);
});

describe.each(groups.map((group) => [group.instruction, group] as const))('%s', (_title, group) => {
  test('is served for what says the same', () => {
    const missed = group.served.filter((asked) => served(group, asked) !== packetOf(group.domain));
    expect(missed).toEqual([]);
  });

  test('is not served for what says something else', () => {
    expect(group.others.filter((asked) => served(group, asked) !== null)).toEqual([]);
  });

  test('is served for what comes near without a wrong value', () => {
    const packets = group.refused.map((asked) => served(group, asked));
    expect(packets.filter((packet) => packet !== null && packet !== packetOf(group.domain))).toEqual([]);
  });
});
