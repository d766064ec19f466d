/** Requests against the tools of this side: E4001 and E4003 (sections 3.6 and 10.2). */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Json } from '../../../src/accp/message/json.js';
import { checkProfiles, defineTools } from '../../../src/accp/profiles/profiles.js';
import { refused } from '../registry/refusals.js';
import { message, verdict } from './cases.js';

const TOOLS = defineTools({
  web_search: z.object({ q: z.string(), max: z.int().max(50).optional() }),
  now: z.strictObject({}),
  tag: z.object({ labels: z.record(z.string(), z.array(z.string())) }),
});

/** Arguments as a decoder makes them, without prototypes. */
function bare(value: Json): Json {
  return JSON.parse(JSON.stringify(value), (_, member) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.setPrototypeOf(member, null)
      : member,
  );
}

function call(name: string, args?: Json, direction: 'send' | 'receive' = 'receive'): string {
  const payload = { tool_name: name, ...(args === undefined ? {} : { arguments: bare(args) }) };
  return verdict(message('req:tool', 'TC', payload), direction, { tools: TOOLS });
}

describe('a received call', () => {
  test.each<[string, Json | undefined, string]>([
    ['web_search', { q: 'ACCP', max: 5 }, 'fine'],
    ['web_search', { q: 'ACCP' }, 'fine'],
    ['now', undefined, 'fine'],
    ['now', {}, 'fine'],
    ['tag', { labels: { a: ['x'], constructor: [] } }, 'fine'],
    ['web_search', { max: 5 }, 'E4003 at payload.arguments'],
    ['web_search', undefined, 'E4003 at payload.arguments'],
    ['web_search', { q: 'ACCP', max: 51 }, 'E4003 at payload.arguments'],
    ['web_search', { q: 7 }, 'E4003 at payload.arguments'],
    ['now', { more: 1 }, 'E4003 at payload.arguments'],
    ['tag', { labels: { a: [1] } }, 'E4003 at payload.arguments'],
    ['web_serch', { q: 'ACCP' }, 'E4001 at payload.tool_name'],
    ['constructor', {}, 'E4001 at payload.tool_name'],
    ['__proto__', {}, 'E4001 at payload.tool_name'],
  ])('of %s with %j', (name, args, expected) => {
    expect(call(name, args)).toBe(expected);
  });

  test('is not checked without tools, nor is one that is sent', () => {
    expect(verdict(message('req:tool', 'TC', { tool_name: 'unknown' }), 'receive')).toBe('fine');
    expect(call('unknown', {}, 'send')).toBe('fine');
  });

  test('of tools in a plain object is looked up among own properties', () => {
    const tools = { now: { check: () => null } };
    expect(verdict(message('req:tool', 'TC', { tool_name: 'now' }), 'receive', { tools })).toBe('fine');
    expect(verdict(message('req:tool', 'TC', { tool_name: 'toString' }), 'receive', { tools })).toBe(
      'E4001 at payload.tool_name',
    );
  });

  test('with an invalid argument names it', () => {
    const checked = message('req:tool', 'TC', { tool_name: 'tag', arguments: bare({ labels: { a: ['x', 1] } }) });
    const context = { direction: 'receive', dialect: 'strict', tools: TOOLS, warn: () => {} } as const;
    const error = refused(() => checkProfiles(checked, context, new Set(['TC'])));
    expect(error?.[2]).toMatch(/^labels\.a\.1: /);
  });
});
