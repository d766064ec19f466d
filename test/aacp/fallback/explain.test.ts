/** `explain` describes exactly what `encode` does. */
import { describe, expect, test } from 'vitest';
import {
  createFallbackEncoder,
  type FallbackEncoder,
  type FallbackOptions,
  type FallbackResult,
  memoryRegistry,
  type Registry,
} from '../../../src/aacp/fallback/index.js';
import { readJson } from '../../conformance/fixtures.js';
import { goodReply, type ScriptedModel, scriptedModel } from '../../helpers/fallback.js';
import { runs, sampled } from '../../helpers/runs.js';

interface Request {
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: '1' | '2' | '3';
}

interface Pair {
  readonly id: string;
  readonly first: Request & { readonly packet: string };
  readonly second: Request;
}

const { cases: PAIRS } = readJson('aacp/instruction-pairs.json') as { readonly cases: readonly Pair[] };
const NOW = Date.UTC(2026, 10, 22, 12);

interface Scene extends ScriptedModel {
  readonly encoder: FallbackEncoder;
  readonly registry: Registry;
}

/** A model that knows the packet of each first instruction. */
function scene(options: FallbackOptions = {}): Scene {
  const registry = memoryRegistry({ now: () => NOW });
  const known = new Map(PAIRS.map(({ first }) => [first.instruction, first.packet]));
  const scripted = scriptedModel((request) => {
    const packet = known.get(request.instruction);
    // The same instruction may be given for another domain.
    const isKnown = packet?.split('|')[1] === request.domain;
    return isKnown ? { ...goodReply(request), text: packet } : goodReply(request);
  });
  const encoder = createFallbackEncoder({ model: scripted.model, registry, now: () => NOW, ...options });
  return { ...scripted, encoder, registry };
}

/** Explains, checks that nothing was changed, then encodes. */
async function explainedAndEncoded({ encoder, registry, calls }: Scene, request: Request): Promise<FallbackResult> {
  const before = registry.statistics();
  const asked = calls.length;
  const explained = await encoder.explain(request.instruction, request);
  expect(await encoder.explain(request.instruction, request)).toEqual(explained);
  expect(registry.statistics()).toEqual(before);
  expect(calls.length).toBe(asked);

  const result = await encoder.encode(request.instruction, request);
  const { explain } = result;
  expect(result.tier).toBe(explained.tier === 'none' ? 'model' : explained.tier);
  expect(calls.length > asked).toBe(explained.tier === 'none');
  expect({ key: explain.key, match: explain.match, candidates: explain.candidates }).toEqual({
    key: explained.key,
    match: explained.match,
    candidates: explained.candidates,
  });
  if (explained.tier !== 'none') expect(explain.text).toBe(explained.text);
  expect(explained.text).toMatch(/\.$/);
  return result;
}

describe('each pair of instructions', () => {
  test('is explained as it is encoded, alone', async () => {
    for (const { first, second } of sampled(PAIRS, 4)) {
      const all = scene({ rules: null });
      await all.encoder.encode(first.instruction, first);
      await explainedAndEncoded(all, second);
    }
  });

  test('is explained as it is encoded, among all others and rules', async () => {
    const all = scene();
    const tiers = new Set<string>();
    for (const { first } of PAIRS) tiers.add((await all.encoder.encode(first.instruction, first)).tier);
    const every = Math.max(1, Math.floor(PAIRS.length / runs(20).numRuns));
    for (const { first, second } of PAIRS.filter((_, at) => at % every === 0)) {
      tiers.add((await explainedAndEncoded(all, second)).tier);
      tiers.add((await explainedAndEncoded(all, first)).tier);
    }
    expect(tiers).toEqual(new Set(['cache', 'pattern', 'model']));
  });
});

describe('an explanation', () => {
  const HR = { domain: 'HR' } as const;
  const TEXT = 'Chase the late timesheets of the warehouse team for June 2026.';

  test('needs no model', async () => {
    const encoder = createFallbackEncoder({ registry: memoryRegistry() });
    expect(await encoder.explain(TEXT, HR)).toMatchObject({ tier: 'none', match: null });
    const rule = 'Please retrieve the employee salary records for September 2026';
    expect(await encoder.explain(rule, HR)).toMatchObject({ tier: 'pattern', match: { refusal: null } });
  });

  test('names the reason why a similar pattern does not match, as the error does', async () => {
    const { encoder } = scene();
    await encoder.encode(TEXT, HR);
    const near = TEXT.replace('Chase', 'Do not chase');
    const { tier, text, match, candidates } = await encoder.explain(near, HR);
    const [first] = candidates;
    expect([tier, match, first?.refusal]).toEqual(['none', null, 'negation']);
    expect(first?.source.kind === 'registry' && first.source.entry.instruction).toBe(TEXT);
    expect(text).toContain(first!.reason);

    const registry = await encoder.registry();
    const alone = createFallbackEncoder({ registry, now: () => NOW });
    await expect(alone.encode(near, HR)).rejects.toMatchObject({
      code: 'no-model',
      message: expect.stringContaining(first!.reason),
      cost: 0,
      usage: { calls: 0 },
    });
  });

  test('names the slots that were filled', async () => {
    const { encoder } = scene();
    await encoder.encode('Please retrieve the employee salary records for September 2026', HR);
    const { match } = await encoder.explain('Please retrieve the employee salary records for May 2027', HR);
    expect(match?.slots).toEqual({ period: 'May 2027' });
    expect(match?.score).toBeGreaterThan(0);
  });

  test('lists the changes to the packet of a model', async () => {
    const { model } = scriptedModel({ text: 'FETCH|HR|return:Eve|p:2|res:x' });
    const encoder = createFallbackEncoder({ model, registry: null, rules: null });
    const { explain } = await encoder.encode(TEXT, HR);
    expect(explain.adjustments).toEqual(['return was "Eve"', 'aacp was missing']);
  });

  test('can be written as JSON, like an answer', async () => {
    const { encoder } = scene();
    for (const text of [TEXT, TEXT, TEXT.replace('June', 'July')]) {
      const result = await encoder.encode(text, HR);
      const json = JSON.parse(JSON.stringify(result)) as FallbackResult;
      expect(json).toMatchObject({ packet: result.packet, tier: result.tier, tokens: { packet: expect.any(Number) } });
    }
  });
});
