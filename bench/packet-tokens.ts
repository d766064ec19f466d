/** Recounts the draft's table of token counts (draft-mackay-aacp-01, section 10.2): its figures beside exact counts. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { encodeStep, type StepResult, toObject } from '../src/aacp/encoders/index.js';
import { parsePacket } from '../src/aacp/index.js';
import type { Encoding } from '../src/tokens/counter.js';
import { loadTokenCounter } from '../src/tokens/load-counter.js';
import { projectRoot } from './root.js';

/** The packets of one message: that of the draft's benchmark, and those of our encoders in their modes. */
export const VARIANTS = ['benchmark', 'compat', 'default', 'knowsFields'] as const;

export type Variant = (typeof VARIANTS)[number];

/** The figures of the draft; changes in percent. */
export interface Published {
  readonly claude: { readonly english: number; readonly packet: number; readonly change: number };
  readonly gpt4o: { readonly change: number };
}

/** The messages of the table, and the draft's figures for all of them. */
export interface Workflow {
  readonly published: Published;
  readonly cases: readonly Hop[];
}

/** One message of the table. */
export interface Hop {
  readonly id: string;
  readonly name: string;
  readonly english: string;
  readonly encoder: string;
  readonly method: string;
  readonly args: Readonly<Record<string, string>>;
  readonly packets: Readonly<Record<'benchmark' | 'compat', string>>;
  /** English with the content of each packet, and nothing else. */
  readonly terse: Readonly<Record<Variant, string>>;
  /** Content of `english` that the packet lacks. */
  readonly unsaid: Readonly<Record<'benchmark' | 'default', readonly string[]>>;
  readonly published: Published;
  /** Published counts. */
  readonly recorded: { readonly o200k_base: Readonly<Record<'english' | 'benchmark' | 'compat', number>> };
}

/** Tokens of one message. */
export interface PacketCounts {
  readonly english: number;
  readonly packets: Readonly<Record<Variant, number>>;
  readonly terse: Readonly<Record<Variant, number>>;
  /** The packet of the default mode as compact JSON, with the same keys. */
  readonly json: number;
}

export function readWorkflow(): Workflow {
  const file = path.join(projectRoot(), 'test/conformance/aacp/tokenisation.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Workflow;
}

/** Returns the packets of a message. The encoders make all but that of the benchmark. */
export function packetsOf({ encoder, method, args, packets }: Hop): Record<Variant, string> {
  const encode = (options: object): string => {
    const { packet } = encodeStep(encoder as string, method, args, options) as StepResult;
    return packet;
  };
  return {
    benchmark: packets.benchmark,
    compat: encode({ compat: 'sdk' }),
    default: encode({}),
    knowsFields: encode({ receiver: { knowsFields: true } }),
  };
}

/** @throws Error if gpt-tokenizer is not installed: the table does not contain estimates */
export async function packetCounts(hop: Hop, encoding: Encoding): Promise<PacketCounts> {
  const { count, exact } = await loadTokenCounter(encoding);
  if (!exact) throw new Error('The table needs gpt-tokenizer.');
  const packets = packetsOf(hop);
  return {
    english: count(hop.english),
    packets: each((variant) => count(packets[variant])),
    terse: each((variant) => count(hop.terse[variant])),
    json: count(JSON.stringify(toObject(parsePacket(packets.default)))),
  };
}

function each(numberOf: (variant: Variant) => number): Record<Variant, number> {
  return Object.fromEntries(VARIANTS.map((variant) => [variant, numberOf(variant)])) as Record<Variant, number>;
}

/** Adds up the counts of several messages. */
export function totalOf(counts: readonly PacketCounts[]): PacketCounts {
  const sum = (numberOf: (one: PacketCounts) => number): number =>
    counts.reduce((total, one) => total + numberOf(one), 0);
  return {
    english: sum(({ english }) => english),
    packets: each((variant) => sum(({ packets }) => packets[variant])),
    terse: each((variant) => sum(({ terse }) => terse[variant])),
    json: sum(({ json }) => json),
  };
}
