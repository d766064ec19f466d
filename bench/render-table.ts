/** Counts the text for models beside compact JSON and TOON, for `results/tokens.md`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../src/accp/message/message.js';
import { CONTEXT_RULE, renderForContext, renderJson } from '../src/accp/render/index.js';
import { percentChange } from '../src/bench/table.js';
import { compareTokens } from '../src/tokens/compare.js';
import type { Encoding, TokenCounter } from '../src/tokens/counter.js';
import { loadTokenCounter } from '../src/tokens/load-counter.js';
import { toolResults } from './corpus/tool-results.js';
import { projectRoot } from './root.js';

interface Entry {
  /** The first character is the conversation. */
  readonly id: string;
  readonly kind: string;
  readonly message: Message;
}

/** The tokens of one content. */
export interface RenderCounts {
  readonly json: number;
  readonly toon: number;
  /** Rendered, without and with fences. */
  readonly bare: number;
  readonly fenced: number;
}

const ENCODINGS = ['o200k_base', 'cl100k_base'] as const;

function corpus(): Entry[] {
  return JSON.parse(readFileSync(path.join(projectRoot(), 'bench/corpus/messages.json'), 'utf8')) as Entry[];
}

/** Returns the groups of messages by a property, in the order of the corpus. */
function groups(entries: readonly Entry[], keyOf: (entry: Entry) => string): [name: string, messages: Message[]][] {
  const found = new Map<string, Message[]>();
  for (const entry of entries) found.set(keyOf(entry), [...(found.get(keyOf(entry)) ?? []), entry.message]);
  return [...found];
}

async function others(value: object, encoding: Encoding): Promise<Pick<RenderCounts, 'json' | 'toon'>> {
  const { counts, exact, skipped } = await compareTokens({ message: value }, { encoding });
  if (!exact || skipped.length > 0) throw new Error('The table needs gpt-tokenizer and @toon-format/toon.');
  const of = (notation: string): number => counts.find((one) => one.notation === notation)!.body!;
  return { json: of('json'), toon: of('toon') };
}

/** Counts messages one by one, each with a fence of its own. */
async function single(messages: readonly Message[], counter: TokenCounter): Promise<RenderCounts> {
  const all = await Promise.all(
    messages.map(async (message) => ({
      ...(await others(message, counter.encoding as Encoding)),
      bare: renderForContext(message, { counter, fence: false }).tokens,
      fenced: renderForContext(message, { counter }).tokens,
    })),
  );
  return sumOf(all);
}

/** Counts messages as one list, in one fence. */
async function together(messages: readonly Message[], counter: TokenCounter): Promise<RenderCounts> {
  const list = messages.map(({ envelope: _, ...body }) => body);
  return {
    ...(await others(list, counter.encoding as Encoding)),
    bare: renderForContext(messages, { counter, fence: false }).tokens,
    fenced: renderForContext(messages, { counter }).tokens,
  };
}

async function data(value: unknown, counter: TokenCounter): Promise<RenderCounts> {
  return {
    ...(await others(value as object, counter.encoding as Encoding)),
    bare: renderJson(value, { counter, fence: false }).tokens,
    fenced: renderJson(value, { counter }).tokens,
  };
}

function sumOf(counts: readonly RenderCounts[]): RenderCounts {
  const sum = (form: keyof RenderCounts): number => counts.reduce((total, one) => total + one[form], 0);
  return { json: sum('json'), toon: sum('toon'), bare: sum('bare'), fenced: sum('fenced') };
}

/** The rows of the tables: the messages by kind, the conversations, and the results of tools, each with a total. */
export async function renderRows(encoding: Encoding) {
  const counter = await loadTokenCounter(encoding);
  const entries = corpus();
  const rowsOf = async <T>(
    parts: readonly (readonly [name: string, part: T])[],
    count: (part: T, counter: TokenCounter) => Promise<RenderCounts>,
  ): Promise<[name: string, counts: RenderCounts][]> => {
    const rows = await Promise.all(
      parts.map(async ([name, part]): Promise<[string, RenderCounts]> => [name, await count(part, counter)]),
    );
    return [...rows, ['**total**', sumOf(rows.map(([, counts]) => counts))]];
  };
  return {
    kinds: await rowsOf(
      groups(entries, ({ kind }) => kind).map(
        ([kind, list]) => [`${kind.replaceAll('_', ' ')} (${list.length})`, list] as const,
      ),
      single,
    ),
    conversations: await rowsOf(
      groups(entries, ({ id }) => id[0]!).map(
        ([, list]) => [`${list[0]!.agent} and others (${list.length})`, list] as const,
      ),
      together,
    ),
    json: await rowsOf(
      toolResults().map(({ name, value }) => [name, value] as const),
      data,
    ),
  };
}

/** Formats the tables as Markdown. */
export async function renderTable(): Promise<string> {
  const [newer, older] = await Promise.all(ENCODINGS.map(renderRows));
  const rule = (await loadTokenCounter()).count(CONTEXT_RULE);
  return [
    `Exact counts in \`o200k_base\`. The text of \`renderForContext\` and \`renderJson\` is compared with compact JSON and with TOON of the same content,`,
    'which leave the envelope out, too. "Bare" is the text without a fence. The forms are chosen by these counts. The explanation for the model,',
    `\`CONTEXT_RULE\`, is not included: ${rule} tokens, once per context.`,
    '',
    'Messages of the [corpus](../corpus/README.md), each with a fence of its own, and their number:',
    '',
    ...table('messages', newer!.kinds),
    '',
    'The same messages as five conversations, each in one fence, and in one array of JSON and TOON:',
    '',
    ...table('conversation', newer!.conversations),
    '',
    'JSON that was never a message, as tools return it:',
    '',
    ...table('content', newer!.json),
    '',
    'The totals in `cl100k_base`:',
    '',
    ...table('total', [
      ['messages, one by one', older!.kinds.at(-1)![1]],
      ['conversations', older!.conversations.at(-1)![1]],
      ['JSON', older!.json.at(-1)![1]],
    ]),
    '',
    'Negative percentages are savings. The saving is of keys, quotes and brackets; words and numbers cost the same in each form, so prose saves least.',
    'All forms are lossless, but no model was asked which of them it reads best.',
  ].join('\n');
}

function table(title: string, rows: readonly (readonly [name: string, counts: RenderCounts])[]): string[] {
  return [
    `| ${title} | JSON | TOON | bare | fenced | bare to JSON | fenced to JSON | fenced to TOON |`,
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows.map(([name, { json, toon, bare, fenced }]) => {
      const cells = [
        name,
        json,
        toon,
        bare,
        fenced,
        percentChange(bare, json),
        percentChange(fenced, json),
        percentChange(fenced, toon),
      ];
      return `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)).join(' | ')} |`;
    }),
  ];
}
