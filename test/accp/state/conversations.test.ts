/**
 * Checkpoints of whole conversations, compared with facts that were marked by hand.
 *
 * A marked fact is recognised if one fact of the entry in warm state, or one sentence of its summary, contains all of its terms as whole
 * words; case and underscores do not matter.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/accp/message/json.js';
import type { CheckpointResult, HotFrame } from '../../../src/accp/state/state.js';
import { counter, message, open } from './open.js';

interface Conversation {
  readonly id: string;
  readonly heldOut: boolean;
  readonly messages: readonly Partial<HotFrame>[];
  readonly marked: readonly { readonly says: string; readonly terms: readonly string[] }[];
}

const { conversations } = JSON.parse(readFileSync(new URL('conversations.json', import.meta.url), 'utf8')) as {
  readonly conversations: readonly Conversation[];
};

/** Maps come from the wire with their keys in order. */
function asDecoded(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(asDecoded);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, asDecoded(inner)]));
}

function summarized({ messages }: Conversation): { result: CheckpointResult; entry: Json } {
  const { state } = open({ budgets: { hot: 2000 } });
  for (const given of messages) {
    const payload = Object.fromEntries(Object.entries(given.payload!).map(([key, value]) => [key, asDecoded(value)]));
    state.addFrame(message({ ...given, payload }));
  }
  const result = state.checkpoint('phase') as CheckpointResult;
  return { result, entry: state.resolve('warm.ckpt_1') };
}

/** The separate statements: the facts, and the sentences of the summary. */
function units({ facts, summary }: CheckpointResult): string[] {
  const triples = facts.map(({ entity, relation, value }) => `${entity} ${relation} ${value}`);
  return [...triples, ...summary.split(/[.;](?= |$)/)].map(folded);
}

function folded(text: string): string {
  return text.toLowerCase().replaceAll('_', ' ');
}

function holds(unit: string, term: string): boolean {
  const word = folded(term).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.-])${word}(?![\\w%]|\\.\\w)`).test(unit);
}

function recognised(conversation: Conversation): { kept: number; missing: string[] } {
  const told = units(summarized(conversation).result);
  const missing = conversation.marked.filter(({ terms }) => {
    return !told.some((unit) => terms.every((term) => holds(unit, term)));
  });
  return { kept: conversation.marked.length - missing.length, missing: missing.map(({ says }) => says) };
}

function share(some: readonly Conversation[]): number {
  const kept = some.map((one) => recognised(one).kept).reduce((a, b) => a + b, 0);
  return kept / some.map(({ marked }) => marked.length).reduce((a, b) => a + b, 0);
}

test('there are ten conversations of 6 to 12 messages, two of which are held out', () => {
  expect(conversations).toHaveLength(10);
  expect(conversations.filter(({ heldOut }) => heldOut)).toHaveLength(2);
  for (const { messages, marked } of conversations) {
    expect(messages.length).toBeGreaterThanOrEqual(6);
    expect(messages.length).toBeLessThanOrEqual(12);
    expect(marked.length).toBeGreaterThanOrEqual(8);
  }
});

test('every term of a marked fact occurs in its conversation', () => {
  for (const { id, messages, marked } of conversations) {
    const text = folded(JSON.stringify(messages));
    for (const { says, terms } of marked) {
      for (const term of terms) expect(text.includes(folded(term)), `${id}: ${says}: ${term}`).toBe(true);
    }
  }
});

describe.each(conversations)('of $id', (conversation) => {
  test('at least nine of ten marked facts are kept', () => {
    const { kept, missing } = recognised(conversation);
    expect(kept / conversation.marked.length, missing.join('; ')).toBeGreaterThanOrEqual(0.9);
  });

  test('summary and facts keep to their budgets', () => {
    const { result, entry } = summarized(conversation);
    expect(counter.count(result.summary)).toBeLessThanOrEqual(100);
    expect(counter.count(JSON.stringify(entry))).toBeLessThanOrEqual(200);
  });
});

test('of all together, and of the held-out ones, at least nine of ten are kept', () => {
  expect(share(conversations)).toBeGreaterThanOrEqual(0.9);
  expect(share(conversations.filter(({ heldOut }) => heldOut))).toBeGreaterThanOrEqual(0.9);
});

test('a marked fact is not recognised if its terms are separated, or within other words', () => {
  const facts = [{ entity: 'load_test', relation: 'errors', value: 31 }];
  const told = units({ facts, summary: 'emea: growth -4.1%. apac grew 9.6%.' } as unknown as CheckpointResult);
  const finds = (...terms: string[]): boolean => told.some((unit) => terms.every((term) => holds(unit, term)));
  expect(finds('load test', '31')).toBe(true);
  expect(finds('load_test', '3')).toBe(false);
  expect(finds('emea', '9.6%')).toBe(false);
  expect(finds('emea', '4.1%')).toBe(false);
});
