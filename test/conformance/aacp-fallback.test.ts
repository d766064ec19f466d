/** The conformance cases about encoding. */
import { statSync } from 'node:fs';
import process from 'node:process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { EncodeError, encodeStep, type StepResult } from '../../src/aacp/encoders/index.js';
import {
  createFallbackEncoder,
  exportPatterns,
  FallbackError,
  type FallbackOptions,
  type FallbackResult,
  importPatterns,
  instructionId,
  loadRules,
  memoryRegistry,
  normaliseInstruction,
  type Registry,
  RegistryError,
  sqliteRegistry,
} from '../../src/aacp/fallback/index.js';
import { explainPacket, validatePacket } from '../../src/aacp/index.js';
import { digestOf } from '../../src/aacp/matching/instruction/normalise.js';
import { anthropicModel } from '../../src/aacp/models/index.js';
import { scriptedModel } from '../helpers/fallback.js';
import { freshFiles } from '../storage/folder.js';
import { moduleAt, runWithout } from '../tokens/hidden-packages.js';
import { readJson } from './fixtures.js';

/** The expected outcome of an encoding. */
type ExpectedOutcome =
  | {
      readonly tier: string;
      readonly packet: string;
      readonly modelCalls: number;
      readonly warnings?: readonly string[];
      readonly entries?: number;
    }
  | { readonly error: string; readonly modelCalls: number; readonly entries?: number };

interface Step {
  readonly english: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: '1' | '2' | '3';
  readonly llmReply: string | null;
  readonly expected: ExpectedOutcome;
}

interface FallbackCase {
  readonly id: string;
  readonly registryBefore?: unknown;
  readonly import?: { readonly imported: number; readonly skipped: readonly number[] } | { readonly error: string };
  readonly steps: readonly Step[];
}

interface Check {
  readonly function: string;
  readonly args?: readonly unknown[];
  readonly case?: string;
  readonly outcome: 'error' | 'result';
  readonly code?: string;
  readonly path?: string;
  readonly value?: string;
  readonly count?: number;
  readonly name?: 'TypeError';
  readonly mentions?: string;
  readonly detail: string;
}

interface InjectionCase {
  readonly id: string;
  readonly encoder: string;
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<'default' | 'compat', { readonly code: string; readonly path: string }>>;
}

interface NormaliseCase {
  readonly id: string;
  readonly english: string;
  readonly normalised: string;
  readonly instructionId: string;
  readonly sha256: string;
  readonly keywords: readonly string[];
}

interface BuiltinCase {
  readonly id: string;
  readonly english: string;
  readonly domain: string;
  readonly expected: ExpectedOutcome;
}

interface FindCase {
  readonly id: string;
  readonly query: string;
  readonly domain: string | null;
  readonly task: string | null;
  readonly expected: { readonly find: string | null };
}

function casesOf<Case>(file: string): readonly Case[] {
  return (readJson(`aacp/${file}.json`) as { readonly cases: readonly Case[] }).cases;
}

const FALLBACK = casesOf<FallbackCase>('fallback');
const COMMUNITY = casesOf<unknown>('community-rules');

/** Encodes one step with a new encoder, and returns the outcome. */
async function outcomeOf(
  registry: Registry | null,
  { english, domain, returnAgent, priority, llmReply, expected }: Step,
): Promise<{ readonly outcome: ExpectedOutcome; readonly result?: FallbackResult; readonly error?: unknown }> {
  const { model, calls } = scriptedModel({ text: llmReply ?? '' });
  const encoder = createFallbackEncoder({ registry, model: llmReply === null ? null : model });
  // Only if the case expects a number.
  const entries = (): { readonly entries?: number } =>
    expected.entries === undefined || registry === null ? {} : { entries: registry.statistics().entries };
  try {
    const result = await encoder.encode(english, { domain, returnAgent, priority });
    const { tier, packet, warnings } = result;
    const codes = warnings.length === 0 ? {} : { warnings: warnings.map(({ code }) => code) };
    return { outcome: { tier, packet, modelCalls: calls.length, ...codes, ...entries() }, result };
  } catch (error) {
    if (!(error instanceof FallbackError)) throw error;
    return { outcome: { error: error.code, modelCalls: calls.length, ...entries() }, error };
  }
}

function registryOf({ registryBefore }: FallbackCase): Registry | null {
  return registryBefore === null ? null : memoryRegistry();
}

/** Imports patterns, and returns counts or the error. */
function importedInto(registry: Registry | null, { registryBefore }: FallbackCase): FallbackCase['import'] {
  if (registry === null || registryBefore === undefined) return undefined;
  try {
    const { imported, merged, skipped } = importPatterns(registry, registryBefore);
    expect(merged).toBe(0);
    for (const { reason } of skipped) expect(reason).toMatch(/^[A-Z].*\.$/s);
    return { imported, skipped: skipped.map(({ index }) => index) };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return { error: error.code };
  }
}

describe('fallback.json', () => {
  test.each(FALLBACK)('$id', async (row) => {
    const registry = registryOf(row);
    expect(importedInto(registry, row)).toEqual(row.import);
    for (const step of row.steps) {
      const { outcome } = await outcomeOf(registry, step);
      expect(outcome, step.english).toEqual(step.expected);
    }
  });
});

describe('crashes.json', () => {
  const fresh = freshFiles();
  const library = loadRules(COMMUNITY);

  afterEach(() => {
    vi.doUnmock('@anthropic-ai/sdk');
  });

  /** The result of a call, in the terms of the file. */
  interface CallResult {
    /** The returned text. */
    readonly value?: unknown;
    /** The code of the first diagnostic in the result. */
    readonly code?: unknown;
    readonly count?: unknown;
  }

  type Call = (...args: never[]) => CallResult | Promise<CallResult>;

  const CALLS: Readonly<Record<string, Call>> = {
    validatePacket(packet: string) {
      const { valid, errors } = validatePacket(packet);
      expect(valid).toBe(false);
      return { code: errors[0]?.code };
    },
    explainPacket: (packet: string) => ({ value: explainPacket(packet) }),
    encodeStep(encoder: string, method: string, args: Record<string, unknown>, options?: { compat: 'sdk' }) {
      const { packet, diagnostics } = encodeStep(encoder, method, args, options) as StepResult;
      return { value: packet, code: diagnostics[0]?.code };
    },
    async encode(instruction: string, options: { domain: string }) {
      const encoder = createFallbackEncoder({ registry: memoryRegistry() });
      return { value: (await encoder.encode(instruction, options)).packet };
    },
    instructionId(text: string) {
      const id = instructionId(text);
      expect(id).toMatch(/^[0-9a-f]{12}$/);
      expect(id).toBe(instructionId(text.replace(/\p{Cs}/gu, '\ufffd')));
      return { value: id };
    },
    importPatterns(registry: Registry, file: unknown) {
      try {
        const { imported, skipped } = importPatterns(registry, file);
        expect(skipped.map(({ index, reason }) => [index, reason.length > 0])).toEqual([[0, true]]);
        return { count: imported };
      } finally {
        expect(registry.statistics().entries).toBe(0);
      }
    },
    loadRules(source: string | readonly unknown[]) {
      const { rules, reports } = loadRules(source);
      const invalid = new Set(reports.map(({ index }) => index));
      expect(invalid.size).toBe(source.length - rules.length);
      return { count: rules.length };
    },
    find: (query: string) => ({ count: library.find(query).length }),
    async sqliteRegistry(file: string) {
      const registry = await sqliteRegistry(file);
      expect(registry.statistics().entries).toBe(0);
      registry.close();
      if (process.platform !== 'win32') {
        for (let folder = file, up = 0; up < 3; up++) {
          folder = folder.slice(0, folder.lastIndexOf('/'));
          expect(statSync(folder).mode & 0o777).toBe(0o700);
        }
      }
      return {};
    },
    async createFallbackEncoder(options: FallbackOptions) {
      const encoder = createFallbackEncoder({ registry: null, ...options });
      const { match } = await encoder.explain('Fetch the customer profile', { domain: 'CS' });
      const { id } = match?.source.kind === 'rule' ? match.source.rule : { id: null };
      expect(id).toBe('cs-fetch-customer-profile');
      return {};
    },
    async anthropicModel(options: { model: string }) {
      vi.doMock('@anthropic-ai/sdk', () => {
        throw new Error('not installed');
      });
      const encoder = createFallbackEncoder({ model: anthropicModel(options), registry: null, rules: null });
      return { value: (await encoder.encode('a novel instruction', { domain: 'HR' })).packet };
    },
    import(path: string) {
      expect(path).toBe('pegwire/aacp/fallback');
      const program = `
        const { createFallbackEncoder } = await import(${moduleAt('src/aacp/fallback/index.ts')});
        const encoder = createFallbackEncoder({ registry: null });
        const { tier } = await encoder.encode(
          'Please retrieve the employee salary records for September 2026', { domain: 'HR' });
        console.log(tier);`;
      expect(runWithout(['@anthropic-ai/sdk', 'openai'], program).trim()).toBe('pattern');
      return {};
    },
  };

  /** Replaces the placeholders in an argument. */
  function argument(given: unknown): unknown {
    if (Array.isArray(given)) return given.map(argument);
    if (typeof given === 'object' && given !== null) {
      return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, argument(value)]));
    }
    if (typeof given !== 'string') return given;
    if (given === '$registry') return memoryRegistry();
    if (given === '$library') return library;
    if (given.startsWith('$bytes:')) return new TextEncoder().encode(given.slice('$bytes:'.length));
    if (given.startsWith('$directory')) return given.replace('$directory', fresh('folder'));
    expect(given.startsWith('$'), `${given} is a known placeholder`).toBe(false);
    return given;
  }

  /** Returns the outcome of the last step of a case in fallback.json. */
  async function lastOutcome(id: string): Promise<CallResult> {
    const row = FALLBACK.find((one) => one.id === id)!;
    const registry = registryOf(row);
    importedInto(registry, row);
    const outcomes = [];
    for (const step of row.steps) outcomes.push(await outcomeOf(registry, step));
    const { result, error } = outcomes.at(-1)!;
    if (error !== undefined) throw error;
    return { value: result?.packet };
  }

  const CHECKS = casesOf<{ readonly id: string; readonly expected: readonly Check[] }>('crashes').flatMap(
    ({ id, expected }) => expected.map((check, at) => ({ id: `${id} ${at + 1}: ${check.function}`, check })),
  );

  test.each(CHECKS)('$id', async ({ check }) => {
    const { args, case: id, outcome, code, path, value, count, name, mentions } = check;
    const call = async (): Promise<CallResult> =>
      id === undefined ? CALLS[check.function]!(...((args ?? []).map(argument) as never[])) : lastOutcome(id);

    if (outcome === 'result') {
      const result = await call();
      if (code !== undefined) expect(result.code).toBe(code);
      if (value !== undefined) expect(result.value).toBe(value);
      if (count !== undefined) expect(result.count).toBe(count);
      return;
    }
    const row = FALLBACK.find((one) => one.id === id)?.steps.at(-1);
    const error: unknown = await call().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    if (name !== undefined) expect((error as Error).constructor.name).toBe(name);
    if (code !== undefined) expect(error).toMatchObject({ code });
    if (path !== undefined) expect(error).toMatchObject({ path });
    if (mentions !== undefined) expect((error as Error).message).toContain(mentions);
    // The class in the description.
    const [, kind] = /\b(?:An?) (\w*Error)\b/.exec(check.detail) ?? [];
    if (kind !== undefined) expect((error as Error).constructor.name).toBe(kind);
    // Without prices, the cost of a call is unknown.
    if (kind === 'FallbackError') expect(error).toHaveProperty('cost', row?.llmReply == null ? 0 : null);
  });
});

describe('injection.json', () => {
  const CASES = casesOf<InjectionCase>('injection').flatMap((row) => [
    { ...row, options: undefined, expected: row.expected.default },
    { ...row, options: { compat: 'sdk' as const }, expected: row.expected.compat },
  ]);

  test.each(CASES)('$id with $options', ({ encoder, method, args, options, expected }) => {
    let error: unknown;
    try {
      encodeStep(encoder, method, args, options);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(EncodeError);
    expect(error).toMatchObject(expected);
  });
});

describe('normalise.json', () => {
  test.each(casesOf<NormaliseCase>('normalise'))('$id', async ({ english, keywords, ...expected }) => {
    const normalised = normaliseInstruction(english);
    expect({ normalised, instructionId: instructionId(normalised), sha256: digestOf(normalised) }).toEqual({
      normalised: expected.normalised,
      instructionId: expected.instructionId,
      sha256: expected.sha256,
    });
    // As stored by the encoder and exported to a registry file.
    const registry = memoryRegistry();
    const { model } = scriptedModel({ text: 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:x' });
    await createFallbackEncoder({ model, registry, rules: null }).encode(english, { domain: 'HR' });
    expect(JSON.parse(exportPatterns(registry))).toMatchObject([
      { id: expected.instructionId, english, english_normalised: expected.normalised, keywords },
    ]);
  });
});

test.each(casesOf<BuiltinCase>('builtin-match'))('builtin-match.json: $id', async ({ english, domain, expected }) => {
  const encoder = createFallbackEncoder({ registry: memoryRegistry() });
  const outcome = await encoder.encode(english, { domain }).then(
    ({ tier, packet, usage }) => ({ tier, packet, modelCalls: usage.calls }),
    (error: FallbackError) => ({ error: error.code, modelCalls: error.usage.calls }),
  );
  expect(outcome).toEqual(expected);
});

describe('rule-find.json', () => {
  const { rules } = readJson('aacp/rule-find.json') as { readonly rules: readonly unknown[] };
  const library = loadRules([...COMMUNITY, ...rules]);

  test('all of its rules are loaded', () => {
    expect([library.reports, library.rules.length]).toEqual([[], COMMUNITY.length + rules.length]);
  });

  test.each(casesOf<FindCase>('rule-find'))('$id', ({ query, domain, task, expected }) => {
    const options = { ...(domain === null ? {} : { domain }), ...(task === null ? {} : { task }) };
    const [first] = library.find(query, options);
    expect(first?.rule.id ?? null).toBe(expected.find);
  });
});

test.each(casesOf<{ readonly id: string; readonly words: readonly string[] }>('stop-words'))(
  'stop-words.json: $id: the words are not keywords of a registry file',
  async ({ words }) => {
    const registry = memoryRegistry();
    const { model } = scriptedModel({ text: 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:x' });
    const encoder = createFallbackEncoder({ model, registry, rules: null });
    await encoder.encode(`${words.join(' ')} timesheets`, { domain: 'HR' });
    // All other words of at least four letters are keywords.
    await encoder.encode(words.map((word) => `${word}${word}x`).join(' '), { domain: 'HR' });
    const stored = (JSON.parse(exportPatterns(registry)) as readonly { readonly keywords: readonly string[] }[]).map(
      ({ keywords }) => keywords,
    );
    expect(stored[0]).toEqual(['timesheets']);
    expect(stored[1]).toEqual(words.map((word) => `${word}${word}x`).filter((word) => word.length >= 4));
  },
);
