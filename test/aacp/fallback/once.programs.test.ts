/** Interleavings of concurrent callers: each new request causes one call of the model, and no packet is lost. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createFallbackEncoder,
  memoryRegistry,
  type Registry,
  sqliteRegistry,
} from '../../../src/aacp/fallback/index.js';
import { validatePacket } from '../../../src/aacp/index.js';
import { normaliseInstruction, registryKey } from '../../../src/aacp/matching/instruction/normalise.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { gate, goodReply, packetFor } from '../../helpers/fallback.js';
import { runs } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';
import { type CountingModel, countingModel, ENCODER_CHILD, encoding } from './encoder-children.js';

const HR = { domain: 'HR' } as const;
const NOW = Date.UTC(2026, 10, 25, 7, 30);
const DAY = 86_400_000;
const fresh = freshFiles();

/** Two instructions that differ only in capital letters that distinguish a name from a word, one with a time, one without. */
const INSTRUCTIONS = [
  'Ask Will for the late timesheets.',
  'Ask will for the late timesheets.',
  'Remind me about the renewal in 3 months.',
  'Order four chairs.',
] as const;

/** An entry of yesterday, whose time is no longer valid. */
function yesterdays(instruction: string): Parameters<Registry['put']>[0] {
  const request = {
    normalised: normaliseInstruction(instruction),
    domain: 'HR',
    returnAgent: 'HR-Agent',
    priority: '2',
    version: '1.1',
  };
  return {
    ...request,
    ...{ key: registryKey(request), id: 'x', instruction, origin: 'model', model: null, cost: 1, terms: [] },
    packet: packetFor(request, 'res:renewal|period:2026-01'),
  };
}

interface Asking {
  /** The indices of the encoder and of the instruction. */
  readonly who: number;
  readonly what: number;
  /** Turns of the event loop before the call. */
  readonly after: number;
}

const asking = fc.record({ who: fc.nat(2), what: fc.nat(INSTRUCTIONS.length - 1), after: fc.nat(3) });
const askings: fc.Arbitrary<readonly Asking[]> = fc.array(asking, { minLength: 2, maxLength: 16 });

const SHARED: readonly (readonly [string, number, () => Promise<readonly Registry[]>])[] = [
  ['share a registry', 10, async () => Array(3).fill(memoryRegistry({ now: () => NOW }))],
  [
    'open one file each',
    4,
    async () => {
      const file = fresh();
      const open = (): Promise<Registry> => sqliteRegistry(file, { now: () => NOW });
      return [await open(), await open(), await open()];
    },
  ],
];

describe.each(SHARED)('encoders that %s', (_name, times, open) => {
  test('call the model once for each new request, even if a stale entry has its key (property)', async () => {
    await fc.assert(
      fc.asyncProperty(askings, fc.boolean(), async (all, isStale) => {
        const registries = await open();
        if (isStale) registries[0]!.put({ ...yesterdays(INSTRUCTIONS[2]), givenAt: NOW - DAY });
        const calls: string[] = [];
        const encoders = registries.map((registry) =>
          createFallbackEncoder({
            registry,
            ...{ rules: null, patterns: false, now: () => NOW },
            model: async (request) => {
              calls.push(request.instruction);
              await new Promise((resolve) => setTimeout(resolve, 2));
              return goodReply(request, `res:timesheets|x_text:${INSTRUCTIONS.indexOf(request.instruction as never)}`);
            },
          }),
        );
        const results = await Promise.all(
          all.map(async ({ who, what, after }) => {
            for (let turn = 0; turn < after; turn++) await new Promise((resolve) => setImmediate(resolve));
            return { what, ...(await encoders[who]!.encode(INSTRUCTIONS[what]!, HR)) };
          }),
        );
        // One call for each instruction, and its result for all callers.
        expect([...calls].sort()).toEqual([...new Set(all.map(({ what }) => INSTRUCTIONS[what]!))].sort());
        for (const { packet, what } of results) {
          expect([validatePacket(packet).valid, packet.endsWith(`x_text:${what}`)]).toEqual([true, true]);
        }
        expect(results.filter(({ tier }) => tier === 'model').length).toBe(calls.length);
        await Promise.all(encoders.map((encoder) => encoder.close()));
        for (const registry of new Set(registries)) registry.close();
      }),
      runs(times),
    );
  });
});

describe('processes that share a file in which the entry of the key cannot be used', () => {
  const program = bundledProgram(ENCODER_CHILD);
  let model: CountingModel | undefined;
  afterEach(() => model?.close());

  test('call the model once for each instruction', async () => {
    const file = fresh();
    const registry = await sqliteRegistry(file);
    // One entry is of another day, the other one has other capital letters.
    for (const kept of [INSTRUCTIONS[2], INSTRUCTIONS[0]]) {
      registry.put({ ...yesterdays(kept), givenAt: Date.now() - 2 * DAY });
    }
    registry.close();
    model = await countingModel(async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { text: packetFor(request, 'res:anew') };
    });
    const instructions = [INSTRUCTIONS[2], INSTRUCTIONS[1]];
    const children = Array.from({ length: 2 }, () =>
      encoding(program(), file, model!.url, { instructions: [...instructions, ...instructions], together: true }),
    );
    await Promise.all(children.map(({ says }) => says('open')));
    for (const { begin } of children) begin();
    const answers = (await Promise.all(children.map(({ ended }) => ended))).flatMap((one) => one.answers);
    expect([answers.length, new Set(answers.map(({ packet }) => packet.split('|').at(-1)))]).toEqual([
      8,
      new Set(['res:anew']),
    ]);
    expect(model.asked.map(({ instruction }) => instruction).sort()).toEqual([...instructions].sort());
  });

  test.each([
    ['ask the model once for spellings that differ in capital letters and white space', undefined, 1],
    // Reservations that end at once: each process calls the model, and all store at the same time.
    ['keep one entry where all store such spellings at the same moment', 1, 3],
  ] as const)('%s', async (_name, lease, calls) => {
    const file = fresh();
    const spellings = [
      'Chase the late timesheets of the warehouse team.',
      'chase the  late timesheets of the Warehouse team.',
      ' CHASE THE LATE TIMESHEETS OF\tTHE WAREHOUSE TEAM.',
    ];
    const all = gate();
    const counting = await countingModel(async (request, number) => {
      if (number === calls) all.open();
      await all.opened;
      return { text: packetFor(request, 'res:timesheets') };
    });
    model = counting;
    const children = spellings.map((instruction) =>
      encoding(program(), file, counting.url, {
        instructions: [instruction],
        together: true,
        ...(lease === undefined ? {} : { lease }),
      }),
    );
    await Promise.all(children.map(({ says }) => says('open')));
    for (const { begin } of children) begin();
    const ended = await Promise.all(children.map((child) => child.ended));
    for (const { code, stderr, answers } of ended) {
      expect([code, stderr, answers.map(({ warnings }) => warnings)]).toEqual([0, '', [0]]);
    }
    const registry = await sqliteRegistry(file);
    expect([counting.asked.length, registry.statistics().entries]).toEqual([calls, 1]);
    registry.close();
    for (const instruction of spellings) {
      const again = createFallbackEncoder({ registry: await sqliteRegistry(file), rules: null });
      expect((await again.encode(instruction, HR)).tier).toBe('cache');
      (await again.registry())?.close();
    }
  });
});
