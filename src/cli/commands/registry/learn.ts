import { compactFrame, createRegistry, learnRegistry } from '../../../accp/compact/index.js';
import { printFrame } from '../../../accp/print.js';
import { percentChange } from '../../../bench/table.js';
import { createRandom } from '../../../text/random.js';
import { textTable } from '../../../text/table.js';
import { compareTokens } from '../../../tokens/compare.js';
import { ENCODINGS, type Encoding, type TokenCounter } from '../../../tokens/counter.js';
import { loadTokenCounter } from '../../../tokens/load-counter.js';
import { notExact } from '../../io/errors.js';
import { exactJson } from '../../io/exact-json.js';
import { tryFile, writeText } from '../../io/files.js';
import { toJson } from '../../io/json.js';
import { count, countedText, forEachLine } from '../../io/report.js';
import { defineCommand } from '../../options/command.js';
import { choice, integer, text, upTo, value } from '../../options/option.js';
import { ENCODING_HELP } from '../../session/options.js';
import { readSample, type SampleMessage } from './sample.js';
import { typesOf } from './types.js';

const SHARE = 0.5;

export const command = defineCommand({
  takes: 'file',
  options: {
    out: text('FILE', 'Write the registry to this file, as JSON for createRegistry'),
    types: text('FILE', 'Write TypeScript types and zod schemas of all messages to this file'),
    share: value('SHARE', 'Learn from this share of the messages, and measure the others (default: 0.5)', upTo(1)),
    seed: value('N', 'Choose the share with this seed (default: 1)', integer({ from: 0, to: 0xffffffff })),
    encoding: choice('NAME', ENCODING_HELP, ENCODINGS),
  },
  details:
    'The input has one message as JSON, or one plain frame, per line. The table has the tokens of the messages that were not learned from: as ' +
    'JSON and TOON, as plain frames, and as compact frames without and with the registry, all without metadata. With --share 1, the registry ' +
    'is learned from all messages, and the table has the tokens of the same messages. Invalid lines are reported and left out; the exit code ' +
    'is then 1.',
  example: [
    'pegwire registry learn messages.jsonl --out registry.json --types messages.ts',
    'pegwire registry learn messages.jsonl --share 1 --out registry.json',
  ],
  run: async (invocation) => {
    const { output, json, options, given } = invocation;
    const { out, types, share = SHARE, seed = 1, encoding } = options;
    // Fails before the work.
    for (const file of [out, types]) if (file !== undefined) tryFile(file);
    const counter = await loadTokenCounter(encoding);
    const messages: SampleMessage[] = [];
    const { lines, rejected, exitCode } = await forEachLine(invocation, 'message', async (line) => {
      const read = await readSample(invocation, line);
      if (read !== null) messages.push(read);
      return read !== null;
    });
    if (messages.length === 0) return exitCode;
    const { sample, rest } = split(messages, share, seed);
    const learned = learnRegistry(
      sample.map(({ frame }) => frame),
      { counter },
    );
    const registry = createRegistry(learned);
    const measured = rest.length === 0 ? sample : rest;
    const total = noTokens();
    const kinds = new Map<string, Tokens>();
    const showCounted = output.bar('Counting tokens');
    for (const [done, message] of measured.entries()) {
      showCounted(done, measured.length);
      const { intent, operation } = message.frame;
      const kind = kinds.get(`${intent}:${operation}`) ?? noTokens();
      kinds.set(`${intent}:${operation}`, kind);
      const tokens = await tokensOf(message, registry, counter, encoding);
      for (const sum of [kind, total]) add(sum, tokens);
    }
    const { shapes = [], strings = [], agents = [] } = learned.compact ?? {};
    const sizes = { shapes: shapes.length, strings: strings.length, agents: agents.length };
    if (out !== undefined) writeText(out, `${JSON.stringify(learned, null, 2)}\n`);
    if (types !== undefined) writeText(types, typesOf(messages.map(({ message }) => message)));
    if (json) {
      for (const [kind, tokens] of kinds) await output.result(toJson({ kind, ...tokens }));
      const summary = { lines, rejected, learnedFrom: sample.length, seed, registry: sizes };
      await output.result(toJson({ total, ...summary, encoding: counter.encoding, exact: counter.exact }));
    } else {
      const rows = [...kinds].map(([kind, tokens]) => cells(kind, tokens));
      await output.result(textTable({ header: HEADER, rows: [...rows, cells('total', total)] }, output.width));
      const { shapes: some, strings: texts, agents: names } = sizes;
      await output.note(
        `Learned from ${count(sample.length, 'message')}, seed ${seed}: ` +
          `${count(some, 'shape')}, ${count(texts, 'string')}, ${count(names, 'agent')}. ` +
          (rest.length === 0
            ? 'The table has the tokens of the same messages.'
            : `The table has the tokens of ${rest.length === 1 ? 'the other one' : `the other ${rest.length}`}.`),
      );
      await output.note(countedText(counter, total.toon === null));
      for (const file of [out, types]) if (file !== undefined) await output.note(`Written to ${file}`);
    }
    if (!counter.exact && given['encoding'] !== undefined) throw notExact(encoding);
    return exitCode;
  },
});

/** Returns a random share of the messages, at least one, and the others, both in their order. */
function split(messages: readonly SampleMessage[], share: number, seed: number) {
  const size = Math.max(1, Math.round(messages.length * share));
  const random = createRandom(seed);
  const ranked = messages.map((_, index) => ({ index, rank: random.next() })).sort((a, b) => a.rank - b.rank);
  const chosen = new Set(ranked.slice(0, size).map(({ index }) => index));
  return {
    sample: messages.filter((_, index) => chosen.has(index)),
    rest: messages.filter((_, index) => !chosen.has(index)),
  };
}

/** The tokens of messages in each form; `null` for TOON if its package is not installed. */
interface Tokens {
  messages: number;
  json: number;
  toon: number | null;
  frames: number;
  compact: number;
  withRegistry: number;
}

function noTokens(): Tokens {
  return { messages: 0, json: 0, toon: 0, frames: 0, compact: 0, withRegistry: 0 };
}

function add(sum: Tokens, { messages, json, toon, frames, compact, withRegistry }: Tokens): void {
  sum.messages += messages;
  sum.json += json;
  sum.toon = sum.toon === null || toon === null ? null : sum.toon + toon;
  sum.frames += frames;
  sum.compact += compact;
  sum.withRegistry += withRegistry;
}

async function tokensOf(
  { message, frame }: SampleMessage,
  registry: ReturnType<typeof createRegistry>,
  counter: TokenCounter,
  encoding: Encoding,
): Promise<Tokens> {
  const { agent } = frame;
  // TOON cannot write half of a character.
  const document = JSON.parse(exactJson({ agent, ...message }).replace(/\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd')) as object;
  const { counts } = await compareTokens({ message: document }, { encoding });
  const bodyOf = (form: string): number | null => counts.find(({ notation }) => notation === form)?.body ?? null;
  return {
    messages: 1,
    json: bodyOf('json')!,
    toon: bodyOf('toon'),
    frames: counter.count(printFrame(frame)),
    compact: counter.count(compactFrame(frame, { counter })),
    withRegistry: counter.count(compactFrame(frame, { registry, counter })),
  };
}

const HEADER = ['kind', 'messages', 'JSON', 'TOON', 'frames', 'compact', 'with registry', 'to JSON', 'to TOON'];
const MAX_KIND = 40;

function cells(kind: string, { messages, json, toon, frames, compact, withRegistry }: Tokens): readonly string[] {
  const shown = kind.length > MAX_KIND ? `${kind.slice(0, MAX_KIND)}...` : kind;
  const counts = [messages, json, toon ?? '-', frames, compact, withRegistry].map(String);
  return [shown, ...counts, percentChange(withRegistry, json), toon === null ? '-' : percentChange(withRegistry, toon)];
}
