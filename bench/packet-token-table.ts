/** Formats the counts of `packet-tokens.ts` as Markdown. */
import type { Encoding } from '../src/tokens/counter.js';
import {
  type Hop,
  type PacketCounts,
  type Published,
  packetCounts,
  totalOf,
  VARIANTS,
  type Variant,
  type Workflow,
} from './packet-tokens.js';

const ENCODINGS = ['o200k_base', 'cl100k_base'] as const;
/** The published figures of GPT-4o include these tokens per message, as the API does for billing. */
const CHAT_TOKENS = 7;

/** Returns the tables with an explanation of their columns. */
export async function packetTokenTable(workflow: Workflow): Promise<string> {
  const { cases: hops } = workflow;
  const [newer, older] = await Promise.all(ENCODINGS.map((encoding) => tables(workflow, encoding)));
  const { english, packets } = totalOf(await Promise.all(hops.map((hop) => packetCounts(hop, 'o200k_base'))));
  const chat = hops.length * CHAT_TOKENS;
  const live = (variant: Variant): string => {
    const change = percent(packets[variant] + chat, english + chat, 1);
    return `${english + chat} to ${packets[variant] + chat} (${change})`;
  };
  return [
    'Exact counts in `o200k_base`. Verbose English and the first packet are those of the benchmark that the draft reports in section',
    '10.2. `PayrollEncoder` makes the other packets: in the form of the reference SDK (`compat`), by default, and for a receiver that',
    'knows its fields. Terse English is ours; it states the content of the packet, the receiver and the priority, but no version. The columns',
    '"terse English" and "JSON" (compact, with the keys of the packet) belong to the default packet.',
    '',
    newer!,
    '',
    'Verbose English has more content than the packets, so only the changes against terse English compare the same message. The packets of',
    'the benchmark leave out:',
    '',
    ...hops.map(omitted),
    '',
    'Verbose English leaves out the receiver and the priority, which all packets have.',
    '',
    `A chat adds ${CHAT_TOKENS} tokens to each message. With these, the packets of the benchmark go from ${live('benchmark')}, which is`,
    `the published change for GPT-4o; the packets of the reference SDK go from ${live('compat')}. The tokens of Claude cannot`,
    'be counted offline.',
    '',
    'The same in `cl100k_base`:',
    '',
    older!,
  ].join('\n');
}

function omitted({ name, unsaid: { benchmark, default: ours } }: Hop): string {
  const kept = benchmark.filter((part) => !ours.includes(part));
  const besides = kept.length === 0 ? '' : `. The default packet includes: ${kept.join(', ')}`;
  return `- ${name}: ${benchmark.join(', ')}${besides}.`;
}

const TITLES: Readonly<Record<Variant, string>> = {
  benchmark: "the benchmark's packet",
  compat: 'compat packet',
  default: 'default packet',
  knowsFields: 'receiver knows fields',
};

async function tables({ cases: hops, published: ofAll }: Workflow, encoding: Encoding): Promise<string> {
  const counts = await Promise.all(hops.map((hop) => packetCounts(hop, encoding)));
  const rows = [
    ...hops.map(({ name, published }, index) => ({ name, published: publishedOf(published), counts: counts[index]! })),
    { name: '**total**', published: publishedOf(ofAll), counts: totalOf(counts) },
  ];
  const titles = VARIANTS.map((variant) => TITLES[variant]);
  return [
    ...heading(['hop', 'verbose English', 'terse English', 'JSON', ...titles]),
    ...rows.map((row) => countRow(row.name, row.counts)),
    '',
    'Changes against verbose English, and against terse English with the same content:',
    '',
    ...heading(['hop', 'published: Claude tokens, Claude, GPT-4o', ...titles]),
    ...rows.map((row) => changeRow(row.name, row.published, row.counts)),
  ].join('\n');
}

function heading(titles: readonly string[]): string[] {
  return [`| ${titles.join(' | ')} |`, `|---${'|--:'.repeat(titles.length - 1)}|`];
}

function countRow(name: string, { english, terse, json, packets }: PacketCounts): string {
  return `| ${[name, english, terse.default, json, ...VARIANTS.map((variant) => packets[variant])].join(' | ')} |`;
}

function changeRow(name: string, published: string, { english, terse, packets }: PacketCounts): string {
  const changes = VARIANTS.map((variant) => {
    const tokens = packets[variant];
    return `${percent(tokens, english)}, ${percent(tokens, terse[variant])}`;
  });
  return `| ${[name, published, ...changes].join(' | ')} |`;
}

function publishedOf({ claude, gpt4o }: Published): string {
  return `${claude.english} to ${claude.packet}, ${signed(claude.change, 1)}, ${signed(gpt4o.change, 1)}`;
}

/** `-12 %`, `+40 %`. */
function percent(value: number, from: number, places = 0): string {
  return signed((value / from - 1) * 100, places);
}

function signed(value: number, places: number): string {
  const text = value.toFixed(places);
  return `${value > 0 && Number(text) !== 0 ? '+' : ''}${Number(text) === 0 ? '0' : text} %`;
}
