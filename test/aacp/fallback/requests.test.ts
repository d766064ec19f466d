/** Requests that are the same, and requests that differ. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFallbackEncoder,
  type EncodeOptions,
  type FallbackEncoder,
  importPatterns,
  instructionId,
  memoryRegistry,
  normaliseInstruction,
  type Registry,
  type Rule,
  registryKey,
} from '../../../src/aacp/fallback/index.js';
import { goodReply, packetFor, type ScriptedModel, scriptedModel } from '../../helpers/fallback.js';
import { runs } from '../../helpers/runs.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';
const HR = { domain: 'HR' } as const;
const REQUEST = {
  normalised: normaliseInstruction(INSTRUCTION),
  domain: 'HR',
  returnAgent: 'HR-Agent',
  priority: '2',
  version: '1.1',
} as const;

interface Scene extends ScriptedModel {
  readonly encoder: FallbackEncoder;
  readonly registry: Registry;
  readonly setNow: (now: number) => void;
}

function scene(fields?: string): Scene {
  let now = Date.UTC(2026, 10, 22, 12);
  const registry = memoryRegistry({ now: () => now });
  const scripted = scriptedModel((request) => goodReply(request, fields));
  const encoder = createFallbackEncoder({ model: scripted.model, registry, rules: null, now: () => now });
  return {
    ...scripted,
    encoder,
    registry,
    setNow: (time) => {
      now = time;
    },
  };
}

async function keyFor(instruction: string, options: EncodeOptions): Promise<string> {
  const { encoder } = scene();
  return (await encoder.explain(instruction, options)).key;
}

describe('the same request', () => {
  test('has a key that is the hash of its members', async () => {
    expect(await keyFor(INSTRUCTION, HR)).toBe(registryKey(REQUEST));
    expect(registryKey(REQUEST)).toMatch(/^[0-9a-f]{64}$/);
  });

  const spaces = fc.stringMatching(/^[ \t\n\r\u00a0\u3000]{1,3}$/);

  test('in any case and with any white space', async () => {
    const words = INSTRUCTION.split(' ');
    await fc.assert(
      fc.asyncProperty(fc.array(spaces, { minLength: 9, maxLength: 9 }), fc.boolean(), async (blanks, capitals) => {
        const text = blanks[0]! + words.map((word, at) => word + blanks[at + 1]!).join('');
        expect(await keyFor(capitals ? text.toUpperCase() : text, HR)).toBe(registryKey(REQUEST));
      }),
      runs(30),
    );
  });

  test('with explicit defaults', async () => {
    const equivalent = [
      { domain: 'hr' },
      { ...HR, returnAgent: 'HR-Agent' },
      { ...HR, priority: 2 },
      { ...HR, priority: '2' },
    ];
    for (const options of equivalent)
      expect(await keyFor(INSTRUCTION, options as EncodeOptions)).toBe(registryKey(REQUEST));
  });
});

describe('another request', () => {
  const OTHERS: readonly (readonly [string, string, EncodeOptions])[] = [
    ['another domain', INSTRUCTION, { domain: 'FIN', returnAgent: 'HR-Agent' }],
    ['another agent', INSTRUCTION, { ...HR, returnAgent: 'Eve' }],
    ['an agent in other letters', INSTRUCTION, { ...HR, returnAgent: 'hr-agent' }],
    ['another priority', INSTRUCTION, { ...HR, priority: 1 }],
    ['another word', INSTRUCTION.replace('late', 'missing'), HR],
    ['a "not"', `Do not ${INSTRUCTION}`, HR],
    ['another punctuation', INSTRUCTION.replace('.', '!'), HR],
    ['no space', INSTRUCTION.replace(' ', ''), HR],
  ];

  test.each(OTHERS)('is one with %s', async (_what, instruction, options) => {
    const { encoder, registry } = scene();
    const first = await encoder.encode(INSTRUCTION, HR);
    const second = await encoder.encode(instruction, options);
    expect(second.tier).not.toBe('cache');
    expect(second.explain.key).not.toBe(first.explain.key);
    const { domain, returnAgent = 'HR-Agent', priority = 2 } = options;
    expect(second.packet).toBe(packetFor({ domain, returnAgent, priority: String(priority) }));
    // The first entry is unchanged.
    expect(registry.get(first.explain.key)?.packet).toBe(first.packet);
  });

  test('has no member that can be mistaken for another', () => {
    const parts = fc.tuple(fc.string(), fc.string(), fc.string(), fc.string(), fc.string());
    const key = ([normalised, domain, returnAgent, priority, version]: readonly string[]): string =>
      registryKey({ normalised, domain, returnAgent, priority, version } as typeof REQUEST);
    const separators = ['|', ',', '"', '\\', '\u0000', ' ', '\n'];
    for (const one of separators) {
      expect(key([`a${one}b`, 'c', 'd', 'e', 'f'])).not.toBe(key(['a', `b${one}c`, 'd', 'e', 'f']));
      expect(key([`a${one}`, 'b', 'd', 'e', 'f'])).not.toBe(key(['a', `${one}b`, 'd', 'e', 'f']));
    }
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = one.every((part, at) => part === other[at]);
        // Lone surrogates count as one character; `fc.string()` makes none.
        expect(key(one) === key(other)).toBe(same);
      }),
      runs(200),
    );
  });

  test('is one of another version', async () => {
    const { encoder, registry } = scene();
    const old = { ...REQUEST, version: '1.0' };
    registry.put({
      ...{ ...old, key: registryKey(old), id: instructionId(old.normalised), instruction: INSTRUCTION },
      ...{
        packet: 'FETCH|HR|return:HR-Agent|p:2|aacp:1.0|res:old',
        origin: 'host',
        model: null,
        cost: null,
        terms: [],
      },
    });
    const { packet, tier } = await encoder.encode(INSTRUCTION, HR);
    expect([packet, tier, registryKey(old) === registryKey(REQUEST)]).toEqual([packetFor(REQUEST), 'model', false]);
    expect([...registry.entries()].length).toBe(2);
  });
});

describe('a time that depends on the calendar', () => {
  /** An instruction; a time at which it means the same as on 22 November 2026, and one at which it does not. */
  const RELATIVE: readonly (readonly [string, number, number])[] = [
    ['Fetch what came in today', Date.UTC(2026, 10, 22, 23), Date.UTC(2026, 10, 23)],
    ['Fetch what came in yesterday', Date.UTC(2026, 10, 22, 0), Date.UTC(2026, 10, 21, 23)],
    ['Fetch the payroll of last month', Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)],
    ['Fetch the payroll for this month', Date.UTC(2026, 10, 30), Date.UTC(2027, 10, 22)],
    ['Fetch the sales of next week', Date.UTC(2026, 10, 16), Date.UTC(2026, 10, 23)],
    ['Fetch the sales of last quarter', Date.UTC(2026, 11, 31), Date.UTC(2027, 0, 1)],
    ['Fetch the accounts of last year', Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)],
    ['Fetch the sales of the last 30 days', Date.UTC(2026, 10, 22, 1), Date.UTC(2026, 10, 23)],
    ['Fetch the sales of Q2', Date.UTC(2026, 1, 1), Date.UTC(2027, 1, 1)],
    ['Fetch the payroll for March', Date.UTC(2026, 1, 1), Date.UTC(2027, 1, 1)],
  ];

  test.each(RELATIVE)('makes a different request when its meaning changes: %s', async (text, same, other) => {
    const { encoder, registry, calls, setNow } = scene();
    const first = await encoder.encode(text, HR);
    setNow(same);
    expect((await encoder.encode(text, HR)).tier).toBe('cache');
    setNow(other);
    const second = await encoder.explain(text, HR);
    expect([second.tier === 'cache', second.key === first.explain.key]).toEqual([false, false]);
    await encoder.encode(text, HR);
    expect([...registry.entries()].length).toBe(calls.length);
    // Both are known, each at its time.
    setNow(same);
    expect((await encoder.explain(text, HR)).key).toBe(first.explain.key);
  });

  test.each(RELATIVE)('is sent to the model with the day: %s', async (text, _same, other) => {
    const { encoder, calls, setNow } = scene();
    setNow(other);
    await encoder.encode(text, HR);
    expect(calls[0]?.prompt).toContain(new Date(other).toISOString().slice(0, 10));
  });

  test('is never answered with the time of another', async () => {
    const { encoder, setNow } = scene('res:payroll|period:2026-10');
    expect((await encoder.encode('Fetch the payroll of last month', HR)).packet).toContain('period:2026-10');
    setNow(Date.UTC(2026, 11, 5));
    const { tier, packet } = await encoder.encode('Fetch the payroll of last month', HR);
    // The pattern may have been filled; the scripted model answers as before.
    if (tier === 'pattern') expect(packet).toContain('period:2026-11');
    else expect(tier).toBe('model');
  });

  test.each([
    ['Fetch the payroll for October 2026'],
    ['Fetch the payroll for 2026-10'],
    ['Fetch invoice INV-7 of 3 May 2026'],
    ['Order four chairs'],
  ])('is not in other instructions, which are the same at all times: %s', async (text) => {
    const { encoder, calls, setNow } = scene();
    await encoder.encode(text, HR);
    setNow(Date.UTC(2031, 3, 1));
    expect((await encoder.encode(text, HR)).tier).toBe('cache');
    expect(calls.length).toBe(1);
  });
});

describe('an import from the file of the reference SDK', () => {
  function imported(english: string, packet: string): Scene {
    const all = scene();
    const timestamp = '2026-11-02T09:00:00+00:00';
    importPatterns(all.registry, [{ domain: 'HR', english, aacp_packet: packet, timestamp, times_seen: 2 }]);
    return all;
  }

  test('answers the same request', async () => {
    const { encoder, calls } = imported(INSTRUCTION, packetFor(REQUEST));
    expect(await encoder.encode(INSTRUCTION, HR)).toMatchObject({ tier: 'cache', packet: packetFor(REQUEST) });
    expect(calls.length).toBe(0);
  });

  test('answers a request with another value', async () => {
    const { encoder, calls } = imported(
      'Retrieve the salary records of all employees for October 2026',
      packetFor(REQUEST, 'res:emp_salary|period:2026-10'),
    );
    const { packet, tier } = await encoder.encode('Retrieve the salary records of all employees for May 2027', HR);
    expect([packet, tier, calls.length]).toEqual([packetFor(REQUEST, 'res:emp_salary|period:2027-05'), 'pattern', 0]);
  });

  test('answers an instruction about a month in that month only', async () => {
    const packet = packetFor(REQUEST, 'res:payroll|period:2026-10');
    const { encoder, setNow } = imported('Fetch the payroll of last month', packet);
    expect(await encoder.encode('fetch the payroll of last month', HR)).toMatchObject({ tier: 'cache', packet });
    setNow(Date.UTC(2026, 11, 5));
    expect((await encoder.explain('fetch the payroll of last month', HR)).tier).not.toBe('cache');
  });
});

describe('a user-defined rule', () => {
  const RULE: Rule = {
    ...{ id: 'x', name: 'Timesheets', description: 'Late timesheets.', task: 'FETCH', domain: 'HR', tags: [] },
    ...{ packet: 'FETCH|HR|return:Any|p:2|aacp:1.1|res:timesheets|period:{period}', version: '1', source: 'test' },
    ...{ phrases: ['fetch the late timesheets for {period}'], workflow: null },
  };
  const TEXT = 'Please fetch the late timesheets for May 2026.';

  test('answers before the model, for the agent and the priority of the request', async () => {
    const { model, calls } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: memoryRegistry(), rules: [RULE] });
    const { packet, tier, explain } = await encoder.encode(TEXT, { ...HR, returnAgent: 'Ann', priority: 1 });
    expect([packet, tier]).toEqual(['FETCH|HR|return:Ann|p:1|aacp:1.1|res:timesheets|period:2026-05', 'pattern']);
    expect([explain.match?.source.kind, explain.match?.slots['period'], calls.length]).toEqual(['rule', 'May 2026', 0]);
  });

  test.each<[string, string]>([
    ['of another domain', 'FETCH|FIN|return:Any|p:2|aacp:1.1|res:timesheets|period:{period}'],
    ['that is invalid', 'rm -rf {period}'],
    ['with a field twice', 'FETCH|HR|return:Any|p:2|aacp:1.1|res:a|res:b|period:{period}'],
  ])('with a packet %s does not answer', async (_what, packet) => {
    const { model } = scriptedModel(goodReply);
    const encoder = createFallbackEncoder({ model, registry: null, rules: [{ ...RULE, packet }] });
    expect(await encoder.encode(TEXT, HR)).toMatchObject({ tier: 'model', packet: packetFor(REQUEST) });
    const { tier, text, candidates } = await encoder.explain(TEXT, HR);
    expect(tier).toBe('none');
    for (const { refusal, reason } of candidates)
      expect([refusal, text.includes(reason)]).toEqual(['invalid-packet', true]);
  });
});

test.each(['return_agent', 'returnagent', 'Domain', 'prioirty'])('a misspelt option is rejected: %s', async (name) => {
  const encoder = createFallbackEncoder({ registry: null, rules: null, model: async () => ({ text: '' }) });
  const options = { domain: 'HR', [name]: '1' } as never;
  await expect(encoder.encode('Fetch the list.', options)).rejects.toThrow(TypeError);
});
