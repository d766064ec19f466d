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

/** Counts the frames again, for the summary. */
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
    rejected: FRAMES.length - accepted.length,
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
    rejected: PACKETS.length - valid.length,
    characters: valid.join('').length,
    canonicalCharacters: canonical.join('').length,
  };
}

function recountProse() {
  const found = PROSE.flatMap((text) => [...findFrames(text), ...findPackets(text)]);
  return { inProse: found.length, invalid: found.filter(({ ok }) => !ok).length };
}

test('the demo succeeds and writes only to stdout', () => {
  expect(stderr).toBe('');
});

test('it shows the sections of the conversation in order, and a summary at the end', () => {
  expect(TITLES.length).toBeGreaterThanOrEqual(8);
  expect(SHOWN.filter((line) => TITLES.includes(line) || line === 'Summary')).toEqual([...TITLES, 'Summary']);
});

test('it shows each message unchanged, with its line number', () => {
  const shown = SHOWN.flatMap((line) => {
    const match = /^ *(\d+) (\S.*)$/.exec(line);
    return match === null || line.includes(' | ') ? [] : [{ number: Number(match[1]), text: match[2]! }];
  });
  expect(shown).toEqual(MESSAGES);
});

test('it explains each message, or shows its error', () => {
  for (const { number, text } of MESSAGES) {
    const at = SHOWN.indexOf(`${String(number).padStart(3)} ${text}`);
    const next = SHOWN.findIndex((line, index) => index > at && !line.startsWith('    '));
    const report = SHOWN.slice(at + 1, next).join('\n');
    const frame = text.startsWith('@');
    if (frame ? !tryParseFrame(text, { dialect: 'lenient' }).ok : !validatePacket(text).valid) {
      expect(report).toMatch(/^ {4}error\[/m);
      expect(report).toContain(`--> conversation:${number}:`);
      expect(report).not.toContain('    meaning ');
    } else {
      const meaning = frame ? explainFrame(parseFrame(text, { dialect: 'lenient' })) : explainPacket(text);
      expect(report).toContain(`    meaning   ${meaning}`);
      expect(report).not.toContain('error[');
    }
  }
});

test('messages in prose are found', () => {
  for (const text of PROSE) {
    expect(SHOWN).toContain(`  > ${text}`);
    for (const { start, end } of [...findFrames(text), ...findPackets(text)]) {
      expect(stdout).toMatch(new RegExp(`^ {4}${start}-${end} `, 'm'));
    }
  }
});

describe('the summary', () => {
  test('counts at least 40 frames and 20 packets, some of them rejected', () => {
    expect(recountFrames().messages).toBeGreaterThanOrEqual(40);
    expect(recountPackets().messages).toBeGreaterThanOrEqual(20);
    expect(recountFrames().rejected).toBeGreaterThan(0);
    expect(recountPackets().rejected).toBeGreaterThan(0);
  });

  test.each([
    ['accp', 'frames', 'lenient', recountFrames()],
    ['aacp', 'packets', 'tolerant', recountPackets()],
  ] as const)('matches a recount: %s', (protocol, messages, other, counts) => {
    expect(SUMMARY).toContain(
      `${protocol}: ${counts.messages} ${messages}: ${counts.strict} strict, ${counts.otherDialect} ${other} only, ` +
        `${counts.rejected} rejected; ${counts.withWarnings} with warnings. ` +
        `${counts.characters} characters accepted, ${counts.canonicalCharacters} in canonical form.`,
    );
  });

  test('matches a recount: prose', () => {
    const { inProse, invalid } = recountProse();
    expect(SUMMARY).toContain(`In prose and JSON: ${inProse} found, ${invalid} of them invalid.`);
  });
});

test('--json prints the same conversation, one JSON document per line', async () => {
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

test('the output has no control characters except line ends and colour codes', async () => {
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
  const colored = await demo({ color: true });
  expect(colored.stdout).not.toBe(stdout);
  const codes = new RegExp(`${ESCAPE}\\[\\d+(?:;\\d+)*m`, 'g');
  expect(colored.stdout.replaceAll(codes, '').replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}]/u);
});

describe('the conversation contains the examples of the drafts', () => {
  /** This example of the draft is only a metadata block; the conformance case adds the frame. */
  const NO_WHOLE_FRAME = 'frames/draft-3-5-example-metadata-block';
  const frames = accpCases().filter(({ id }) => /^(frames|lenient)\/draft-/.test(id) && id !== NO_WHOLE_FRAME);
  const packets = packetCases().filter(({ id }) => id.startsWith('draft-'));

  test('of which there are enough', () => {
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
  interface StepRecord {
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

  let steps: readonly StepRecord[];
  let tokens: Tokens;

  beforeAll(async () => {
    const records = jsonLines((await demo({ json: true })).stdout).slice(MESSAGES.length + PROSE.length + 1);
    steps = records.slice(0, -1) as StepRecord[];
    tokens = (records.at(-1) as { tokens: Tokens }).tokens;
  });

  const messages = (): readonly StepRecord[] => steps.filter(({ english }) => english !== undefined);
  const deliveries = (): readonly Delivered[] => steps.flatMap((step) => step.deliveries ?? []);
  const sequence = (frame: string): number => Number(/[[,]seq:(\d+)/.exec(frame)![1]);

  test('shows the steps of its script in order', () => {
    const titles = SCRIPT.steps.flatMap((step) => (step.do === 'title' ? [step.text] : []));
    expect(titles.length).toBeGreaterThanOrEqual(7);
    expect(PIPELINE.filter((line) => titles.includes(line))).toEqual(titles);
    const agents = new Set(SCRIPT.steps.flatMap((step) => ('with' in step ? [SCRIPT.hub, step.with] : [])));
    expect(agents.size).toBe(5);
    for (const step of SCRIPT.steps) if ('english' in step) expect(stdout).toContain(`"${step.english}"`);
  });

  test('cannot send a sentence before the registries are exchanged', () => {
    expect(steps[1]).toMatchObject({ step: 'rejected', error: { code: 'E1004' } });
    const goals = messages().flatMap(({ frames }) => frames);
    expect(goals.some((frame) => frame.includes("task:'FindOutWhy"))).toBe(true);
  });

  test('sends the additions of the analyst\u2019s registry once', () => {
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

  test('reports a failing tool as E4002; the retry keeps the correlation and has a new identifier and number', () => {
    const calls = messages().filter(({ frames }) => frames[0]!.includes('>req:tool{'));
    const [first, second] = calls.map(({ frames }) => frames[0]!);
    const failure = messages().find(({ step }) => step === 'fail')!;
    expect(failure.frames[0]).toContain('code:E4002|');
    const mid = /\[mid:(\w+)/.exec(first!)![1];
    expect(second).toContain(`cid:${mid}`);
    expect(/\[mid:(\w+)/.exec(second!)![1]).not.toBe(mid);
    expect(sequence(second!)).toBe(sequence(first!) + 1);
  });

  test('detects a lost frame with E3003, and receives it after a resync', () => {
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

  test('reads the stream in the order of its chunks, although they are sent in another', () => {
    const script = SCRIPT.steps.find((step) => step.do === 'stream')!;
    expect(script.order).not.toEqual(script.order.toSorted());
    expect(steps.find(({ step }) => step === 'streamed')!.text).toBe(script.chunks.join(''));
  });

  test('makes a checkpoint on both sides for each finished task, and shows its summary', () => {
    const done = messages().filter(({ frames }) => frames[0]!.includes('>done:'));
    expect(done.length).toBeGreaterThanOrEqual(6);
    for (const { checkpoints, from, to } of done) {
      expect(checkpoints.map(({ agent }) => agent)).toEqual([from, to]);
      const { summary } = checkpoints.find(({ agent }) => agent === SCRIPT.hub)!.checkpoint;
      expect(summary).not.toBe('');
      expect(PIPELINE).toContain(`      ${summary}`);
    }
  });

  test('continues with the next number in another process, after its sessions were closed', () => {
    const at = steps.findIndex(({ step }) => step === 'resumed');
    const { last } = steps[at]!;
    const next = steps[at + 1]!;
    expect(sequence(next.frames[0]!)).toBe(last! + 1);
    expect(next.deliveries).toMatchObject([{ outcome: 'message', to: 'reviewer' }]);
  });

  describe('the table', () => {
    test('matches a recount', async () => {
      const { count, exact } = await loadTokenCounter('o200k_base');
      const sum = (texts: readonly string[]): number => texts.reduce((total, text) => total + count(text), 0);
      const all = messages();
      const frames = all.flatMap((step) => step.frames);
      const rows = new Map(tokens.rows.map((row) => [row.form, row]));
      expect(tokens).toMatchObject({ exact, messages: all.length });
      expect(rows.get('english')).toMatchObject({ alone: sum(all.map(({ english }) => english!)), whole: null });
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

    test('shows the messages for which frames are longer', () => {
      const losing = tokens.longer['thanEnglishWithEnvelope']!;
      expect(losing).toBeGreaterThan(0);
      expect(stdout).toContain(
        `Of ${tokens.messages} messages, ${losing} are longer than English as frames with envelope, `,
      );
      const accp = tokens.rows.find(({ form }) => form === 'accp')!;
      expect(stdout).toMatch(new RegExp(`^ACCP frames +${accp.alone} +[-+]\\d+ % +${accp.whole} `, 'm'));
      expect(stdout).toMatch(/^English +\d+ +[-+]\d+ % +-/m);
    });

    test('ends with the state of the sessions', () => {
      const { hot, warm, checkpoints } = tokens.contexts;
      expect(PIPELINE.at(-2)).toContain(`${hot} tokens of hot state, and ${warm} tokens in ${checkpoints} checkpoints`);
      expect(checkpoints).toBe(
        steps.flatMap((step) => step.checkpoints ?? []).filter(({ agent }) => agent === SCRIPT.hub).length,
      );
    });
  });
});
