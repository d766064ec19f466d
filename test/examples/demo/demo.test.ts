import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { findPackets } from '../../../src/aacp/find.js';
import {
  canonicalizePacket,
  explainPacket,
  parsePacket,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../../../src/aacp/index.js';
import { findFrames } from '../../../src/accp/find.js';
import { explainFrame, parseFrame, printFrame, tryParseFrame } from '../../../src/accp/index.js';
import { createRegistry, registerSchema } from '../../../src/accp/registry/registry.js';
import { createOutput } from '../../../src/cli/io/output.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';
import { accpCases, packetCases } from '../../conformance/fixtures.js';
import { jsonLines, PROGRAM, Screen } from '../../helpers/cli.js';
import { runDemo } from './demo.js';
import type { Script } from './script.js';

/** Runs the demo in this process. */
async function demo({ json = false, color = false } = {}): Promise<{ stdout: string; stderr: string }> {
  const [stdout, stderr] = [new Screen(), new Screen()];
  await runDemo(createOutput(stdout, stderr, color ? 'always' : 'never'), { json, commandLine: PROGRAM });
  return { stdout: stdout.text, stderr: stderr.text };
}

const ESCAPE = '\u001b';
const SOURCE = readFileSync('test/examples/demo/conversation.txt', 'utf8')
  .split('\n')
  .map((text, index) => ({ text, number: index + 1 }))
  .filter(({ text }) => text !== '');
const TITLES = SOURCE.filter(({ text }) => /^# \d/.test(text)).map(({ text }) => text.slice(2));
const PROSE = SOURCE.filter(({ text }) => text.startsWith('> ')).map(({ text }) => text.slice(2));
const MESSAGES = SOURCE.filter(({ text }) => !/^[#>]/.test(text));
const FRAMES = MESSAGES.filter(({ text }) => text.startsWith('@')).map(({ text }) => text);
const PACKETS = MESSAGES.filter(({ text }) => !text.startsWith('@')).map(({ text }) => text);

const { stdout, stderr } = await demo();
const SCRIPT = JSON.parse(readFileSync('test/examples/demo/pipeline.json', 'utf8')) as Script;
const ALL = stdout.split('\n');
const SHOWN = ALL.slice(0, ALL.indexOf(SCRIPT.title));
const PIPELINE = ALL.slice(ALL.indexOf(SCRIPT.title));
const SUMMARY = SHOWN.slice(SHOWN.indexOf('Summary'));

/** What the summary should say of the frames, counted once more. */
function recountFrames() {
  const strict = FRAMES.filter((text) => tryParseFrame(text).ok);
  const lenient = FRAMES.filter((text) => !strict.includes(text) && tryParseFrame(text, { dialect: 'lenient' }).ok);
  const accepted = FRAMES.filter((text) => strict.includes(text) || lenient.includes(text));
  const canonical = accepted.map((text) => printFrame(parseFrame(text, { dialect: 'lenient' })));
  return {
    messages: FRAMES.length,
    strict: strict.length,
    otherDialect: lenient.length,
    withWarnings: 0,
    refused: FRAMES.length - accepted.length,
    characters: accepted.join('').length,
    canonicalCharacters: canonical.join('').length,
  };
}

function recountPackets() {
  const valid = PACKETS.filter((text) => validatePacket(text).valid);
  const strict = valid.filter((text) => tryParsePacket(text).ok);
  const canonical = valid.map((text) => printPacket(canonicalizePacket(parsePacket(text, { dialect: 'tolerant' }))));
  return {
    messages: PACKETS.length,
    strict: strict.length,
    otherDialect: valid.length - strict.length,
    withWarnings: valid.filter((text) => validatePacket(text).warnings.length > 0).length,
    refused: PACKETS.length - valid.length,
    characters: valid.join('').length,
    canonicalCharacters: canonical.join('').length,
  };
}

function recountProse() {
  const found = PROSE.flatMap((text) => [...findFrames(text), ...findPackets(text)]);
  return { inProse: found.length, broken: found.filter(({ ok }) => !ok).length };
}

test('the demo succeeds, and writes to stdout only', () => {
  expect(stderr).toBe('');
});

test('it goes through the sections of the conversation in their order, and ends with a summary', () => {
  expect(TITLES.length).toBeGreaterThanOrEqual(8);
  expect(SHOWN.filter((line) => TITLES.includes(line) || line === 'Summary')).toEqual([...TITLES, 'Summary']);
});

test('it shows every message as it stands, with its line number', () => {
  const shown = SHOWN.flatMap((line) => {
    const match = /^ *(\d+) (\S.*)$/.exec(line);
    return match === null || line.includes(' | ') ? [] : [{ number: Number(match[1]), text: match[2]! }];
  });
  expect(shown).toEqual(MESSAGES);
});

test('it says of every message what it means, or what is wrong with it', () => {
  for (const { number, text } of MESSAGES) {
    const at = SHOWN.indexOf(`${String(number).padStart(3)} ${text}`);
    const next = SHOWN.findIndex((line, index) => index > at && !line.startsWith('    '));
    const story = SHOWN.slice(at + 1, next).join('\n');
    const frame = text.startsWith('@');
    if (frame ? !tryParseFrame(text, { dialect: 'lenient' }).ok : !validatePacket(text).valid) {
      expect(story).toMatch(/^ {4}error\[/m);
      expect(story).toContain(`--> conversation:${number}:`);
      expect(story).not.toContain('    means ');
    } else {
      const meaning = frame ? explainFrame(parseFrame(text, { dialect: 'lenient' })) : explainPacket(text);
      expect(story).toContain(`    means ${meaning}`);
      expect(story).not.toContain('error[');
    }
  }
});

test('it finds the messages in the lines of prose', () => {
  for (const text of PROSE) {
    expect(SHOWN).toContain(`  > ${text}`);
    for (const { start, end } of [...findFrames(text), ...findPackets(text)]) {
      expect(stdout).toMatch(new RegExp(`^ {4}${start}-${end} `, 'm'));
    }
  }
});

describe('the summary', () => {
  test('tells of at least 40 frames and 20 packets, and that some were refused', () => {
    expect(recountFrames().messages).toBeGreaterThanOrEqual(40);
    expect(recountPackets().messages).toBeGreaterThanOrEqual(20);
    expect(recountFrames().refused).toBeGreaterThan(0);
    expect(recountPackets().refused).toBeGreaterThan(0);
  });

  test.each([
    ['accp', 'frames', 'lenient', recountFrames()],
    ['aacp', 'packets', 'tolerant', recountPackets()],
  ] as const)('has the numbers that a recount gives: %s', (protocol, messages, other, counts) => {
    expect(SUMMARY).toContain(
      `${protocol}: ${counts.messages} ${messages}: ${counts.strict} strict, ${counts.otherDialect} ${other} only, ` +
        `${counts.refused} refused; ${counts.withWarnings} with warnings. ` +
        `${counts.characters} characters accepted, ${counts.canonicalCharacters} in canonical form.`,
    );
  });

  test('has the numbers that a recount gives: prose', () => {
    const { inProse, broken } = recountProse();
    expect(SUMMARY).toContain(`In prose and JSON: ${inProse} found, ${broken} of them broken.`);
  });
});

test('--json tells the same conversation, one JSON document a line', async () => {
  const json = await demo({ json: true });
  expect(json.stderr).toBe('');
  const records = jsonLines(json.stdout).slice(0, MESSAGES.length + PROSE.length + 1);
  expect(records.slice(0, MESSAGES.length)).toMatchObject(
    MESSAGES.map(({ number, text }) => ({
      line: number,
      text,
      protocol: text.startsWith('@') ? 'accp' : 'aacp',
      ok: text.startsWith('@') ? tryParseFrame(text, { dialect: 'lenient' }).ok : validatePacket(text).valid,
    })),
  );
  expect(records.at(-1)).toEqual({
    summary: { accp: recountFrames(), aacp: recountPackets(), ...recountProse() },
  });
});

test('no control character reaches the output, but line ends and the codes of colours', async () => {
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
  const colored = await demo({ color: true });
  expect(colored.stdout).not.toBe(stdout);
  const codes = new RegExp(`${ESCAPE}\\[\\d+(?:;\\d+)*m`, 'g');
  expect(colored.stdout.replaceAll(codes, '').replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
});

describe('the conversation holds the examples of the drafts', () => {
  /** The draft shows a block of metadata by itself there; the frame around it is the conformance case's own. */
  const NO_WHOLE_FRAME = 'frames/draft-3-5-example-metadata-block';
  const frames = accpCases().filter(({ id }) => /^(frames|lenient)\/draft-/.test(id) && id !== NO_WHOLE_FRAME);
  const packets = packetCases().filter(({ id }) => id.startsWith('draft-'));

  test('and there are as many as expected', () => {
    expect(frames.length).toBeGreaterThanOrEqual(20);
    expect(packets.length).toBeGreaterThanOrEqual(7);
  });

  // Identifiers and counters are those of the conversation, so metadata may differ.
  test.each(frames)('$id', ({ input }) => {
    const message = input.replace(/\}\[[^\]]*\]$/, '}');
    expect(FRAMES.filter((text) => text === message || text.startsWith(`${message}[`))).not.toEqual([]);
  });

  test.each(packets)('$id', ({ packet }) => {
    expect(PACKETS).toContain(packet);
  });
});

describe('the pipeline', () => {
  interface Delivered {
    readonly frame: string;
    readonly from: string;
    readonly to: string;
    readonly isReply: boolean;
    readonly outcome: string;
    readonly error?: { readonly code: string };
  }
  interface Told {
    readonly step: string;
    readonly from: string;
    readonly to: string;
    readonly english?: string;
    readonly text?: string;
    readonly frames: readonly string[];
    readonly lost?: boolean;
    readonly last?: number;
    readonly error?: { readonly code: string };
    readonly checkpoints: readonly { readonly agent: string; readonly checkpoint: { readonly summary: string } }[];
    readonly deliveries: readonly Delivered[];
  }
  interface Tokens {
    readonly exact: boolean;
    readonly messages: number;
    readonly rows: readonly { readonly form: string; readonly alone: number; readonly whole: number | null }[];
    readonly protocol: { readonly frames: number; readonly tokens: number };
    readonly contexts: { readonly hot: number; readonly warm: number; readonly checkpoints: number };
    readonly longer: Readonly<Record<string, number>>;
  }

  let steps: readonly Told[];
  let tokens: Tokens;

  beforeAll(async () => {
    const records = jsonLines((await demo({ json: true })).stdout).slice(MESSAGES.length + PROSE.length + 1);
    steps = records.slice(0, -1) as Told[];
    tokens = (records.at(-1) as { tokens: Tokens }).tokens;
  });

  const said = (): readonly Told[] => steps.filter(({ english }) => english !== undefined);
  const deliveries = (): readonly Delivered[] => steps.flatMap((step) => step.deliveries ?? []);
  const sequence = (frame: string): number => Number(/[[,]seq:(\d+)/.exec(frame)![1]);

  test('tells the steps of its script in their order', () => {
    const titles = SCRIPT.steps.flatMap((step) => (step.do === 'title' ? [step.text] : []));
    expect(titles.length).toBeGreaterThanOrEqual(7);
    expect(PIPELINE.filter((line) => titles.includes(line))).toEqual(titles);
    const agents = new Set(SCRIPT.steps.flatMap((step) => ('with' in step ? [SCRIPT.hub, step.with] : [])));
    expect(agents.size).toBe(5);
    for (const step of SCRIPT.steps) if ('english' in step) expect(stdout).toContain(`"${step.english}"`);
  });

  test('needs the exchange of registries before a sentence can be sent', () => {
    expect(steps[1]).toMatchObject({ step: 'refused', error: { code: 'E1004' } });
    const goals = said().flatMap(({ frames }) => frames);
    expect(goals.some((frame) => frame.includes("task:'FindOutWhy"))).toBe(true);
  });

  test('sends the analyst\u2019s registry once, as what the others lack of it', () => {
    const deltas = deliveries().filter(
      ({ frame, from }) => from === 'analyst' && frame.includes('delta:{risk_finding:'),
    );
    expect(deltas).toHaveLength(1);
    let registry = createRegistry();
    for (const [name, schema] of Object.entries(SCRIPT.schemas['analyst']!))
      registry = registerSchema(registry, name, schema);
    expect(/hash:(\w+)/.exec(deltas[0]!.frame)![1]).toBe(
      registry.hash.slice(0, /hash:(\w+)/.exec(deltas[0]!.frame)![1]!.length),
    );
  });

  test('tells a failing tool by E4002, and its retry keeps the chain under a new identifier and number', () => {
    const calls = said().filter(({ frames }) => frames[0]!.includes('>req:tool{'));
    const [first, second] = calls.map(({ frames }) => frames[0]!);
    const failure = said().find(({ step }) => step === 'fail')!;
    expect(failure.frames[0]).toContain('code:E4002|');
    const mid = /\[mid:(\w+)/.exec(first!)![1];
    expect(second).toContain(`cid:${mid}`);
    expect(/\[mid:(\w+)/.exec(second!)![1]).not.toBe(mid);
    expect(sequence(second!)).toBe(sequence(first!) + 1);
  });

  test('notices a lost frame by E3003, and gets it again behind a resync', () => {
    const lost = steps.find((step) => step.lost)!;
    expect(lost.deliveries).toEqual([]);
    const after = steps[steps.indexOf(lost) + 1]!;
    expect(after.deliveries.map(({ outcome, isReply, error }) => [outcome, isReply, error?.code])).toEqual([
      ['rejected', false, 'E3003'],
      ['message', true, undefined],
      ['message', true, undefined],
      ['message', true, undefined],
      ['message', true, undefined],
    ]);
    const body = (frame: string): string => frame.slice(0, frame.lastIndexOf('}['));
    const again = after.deliveries.slice(2).map(({ frame }) => body(frame));
    expect(again).toEqual(['@orchestrator>sync:resync{from:2', body(lost.frames[0]!), body(after.frames[0]!)]);
  });

  test('reads the stream in the order of its chunks, which were sent in another', () => {
    const script = SCRIPT.steps.find((step) => step.do === 'stream')!;
    expect(script.order).not.toEqual(script.order.toSorted());
    expect(steps.find(({ step }) => step === 'streamed')!.text).toBe(script.chunks.join(''));
  });

  test('has a checkpoint on both sides for each task that is done, with a summary that is shown', () => {
    const done = said().filter(({ frames }) => frames[0]!.includes('>done:'));
    expect(done.length).toBeGreaterThanOrEqual(6);
    for (const { checkpoints, from, to } of done) {
      expect(checkpoints.map(({ agent }) => agent)).toEqual([from, to]);
      const { summary } = checkpoints.find(({ agent }) => agent === SCRIPT.hub)!.checkpoint;
      expect(summary).not.toBe('');
      expect(PIPELINE).toContain(`      ${summary}`);
    }
  });

  test('goes on with the next number in another process, after its sessions were closed', () => {
    const at = steps.findIndex(({ step }) => step === 'resumed');
    const { last } = steps[at]!;
    const next = steps[at + 1]!;
    expect(sequence(next.frames[0]!)).toBe(last! + 1);
    expect(next.deliveries).toMatchObject([{ outcome: 'message', to: 'reviewer' }]);
  });

  describe('the table', () => {
    test('has the counts that a recount gives', async () => {
      const { count, exact } = await loadTokenCounter('o200k_base');
      const sum = (texts: readonly string[]): number => texts.reduce((total, text) => total + count(text), 0);
      const told = said();
      const frames = told.flatMap((step) => step.frames);
      const rows = new Map(tokens.rows.map((row) => [row.form, row]));
      expect(tokens).toMatchObject({ exact, messages: told.length });
      expect(rows.get('english')).toMatchObject({ alone: sum(told.map(({ english }) => english!)), whole: null });
      expect(rows.get('accp')).toMatchObject({
        alone: sum(frames.map((frame) => frame.slice(0, frame.lastIndexOf('}[') + 1))),
        whole: sum(frames),
      });
      const ownFrames = steps.filter(({ step }) => step === 'meet' || step === 'end').flatMap((step) => step.frames);
      const protocol = [...ownFrames, ...deliveries().flatMap(({ frame, isReply }) => (isReply ? [frame] : []))];
      expect(tokens.protocol).toEqual({ frames: protocol.length, tokens: sum(protocol) });
    });

    test('compares with JSON of the same content', async () => {
      const rows = new Map(tokens.rows.map((row) => [row.form, row]));
      const indented = rows.get('json-pretty')!;
      const compact = rows.get('json')!;
      expect(indented.alone).toBeGreaterThan(compact.alone);
      for (const { alone, whole } of [indented, compact, rows.get('accp')!]) expect(whole).toBeGreaterThan(alone);
    });

    test('shows where frames lose', () => {
      const losing = tokens.longer['thanEnglishWithEnvelope']!;
      expect(losing).toBeGreaterThan(0);
      expect(stdout).toContain(
        `Of ${tokens.messages} messages, the frame is longer than English in ${losing} with its envelope`,
      );
      const accp = tokens.rows.find(({ form }) => form === 'accp')!;
      expect(stdout).toMatch(new RegExp(`^ACCP frames +${accp.alone} +[-+]\\d+ % +${accp.whole} `, 'm'));
      expect(stdout).toMatch(/^English +\d+ +[-+]\d+ % +-/m);
    });

    test('ends with what is left in the contexts', () => {
      const { hot, warm, checkpoints } = tokens.contexts;
      expect(PIPELINE.at(-2)).toContain(`${hot} tokens of hot state, and ${warm} of ${checkpoints} checkpoints`);
      expect(checkpoints).toBe(
        steps.flatMap((step) => step.checkpoints ?? []).filter(({ agent }) => agent === SCRIPT.hub).length,
      );
    });
  });
});
