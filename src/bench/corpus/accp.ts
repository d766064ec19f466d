/** The ACCP corpus: seeded frames, by content and by length. */
import { parseFrame } from '../../accp/index.js';
import { createRandom, type Random } from '../../text/random.js';
import type { Category, Sample } from '../candidate.js';
import { plainFrame } from '../plain.js';
import { EXAMPLES } from './examples.js';
import * as values from './values.js';

export function frameSample(text: string): Sample {
  return { text, json: JSON.stringify(plainFrame(parseFrame(text))) };
}

/** Frames of 13 B to 2 KB, on which the headline figures are measured. */
export function mixedFrames(): Sample[] {
  const random = createRandom(1);
  const generated = Array.from({ length: 40 }, (_, index) => {
    // Lengths grow exponentially from 30 B to 2 KB.
    const length = 30 * 2 ** ((6.06 * index) / 39);
    return frameOfLength(random, length);
  });
  return [...EXAMPLES, ...generated].map(frameSample);
}

/** Each category has a different worst case. */
export function frameCategories(): Category[] {
  return Object.entries(CATEGORIES).map(([name, make], index) => {
    const random = createRandom(100 + index);
    return { name, samples: Array.from({ length: 16 }, () => frameSample(make(random))) };
  });
}

const CATEGORIES: Readonly<Record<string, (random: Random) => string>> = {
  'short frames': (random) => frame(random, values.params(random, random.integer(0, 2), values.scalar), null),
  metadata: (random) => frame(random, values.params(random, 1, values.scalar), 1),
  strings: (random) => frame(random, values.params(random, random.integer(6, 14), values.string), 0.3),
  integers: (random) => frame(random, values.params(random, random.integer(8, 16), values.integer), null),
  decimals: (random) => frame(random, values.params(random, random.integer(8, 16), values.decimal), null),
  'small integer arrays': (random) =>
    frame(random, [`d:${values.array(random, random.integer(20, 60), (item) => values.natural(item, 1))}`], null),
  'big arrays': (random) => frame(random, [`d:${values.array(random, random.integer(200, 500), values.scalar)}`], 0.3),
  'true/false/~ arrays': (random) =>
    frame(random, [`d:${values.array(random, random.integer(20, 60), values.literal)}`], null),
  escapes: (random) => frame(random, values.params(random, random.integer(4, 10), values.escaped), null),
  'nested maps': (random) => frame(random, [`d:${nestedMap(random, 5)}`], 0.3),
};

function nestedMap(random: Random, levels: number): string {
  const entries = values.params(random, random.integer(2, 4), values.scalar);
  if (levels > 1) entries[0] = `${entries[0]!.slice(0, entries[0]!.indexOf(':'))}:${nestedMap(random, levels - 1)}`;
  return `{${entries.join(',')}}`;
}

/** @param envelope the probability of each optional field; null for no metadata */
function frame(random: Random, params: readonly string[], envelope: number | null): string {
  const head = `@${random.pick(values.AGENTS)}>${random.pick(values.INTENTS)}:${random.pick(values.OPERATIONS)}`;
  return `${head}{${params.join('|')}}${envelope === null ? '' : values.envelope(random, envelope)}`;
}

/** As in real messages, longer frames have longer values. */
const MAX_PARAMS = 12;

/** Makes a frame of about this length. Long ones contain lists of records, like tool results. */
function frameOfLength(random: Random, length: number): string {
  const params: string[] = [];
  const envelope = length < 60 ? null : 0.5;
  let size = envelope === null ? 25 : 90;
  for (const key of random.sample(values.KEYS, MAX_PARAMS)) {
    const rest = length - size;
    if (rest <= 0) break;
    const isLast = params.length === MAX_PARAMS - 1;
    const value =
      rest > 150 && (isLast || random.next() < 0.2) ? records(random, isLast ? rest : rest / 2) : short(random, rest);
    params.push(`${key}:${value}`);
    size += key.length + value.length + 2;
  }
  return frame(random, params, envelope);
}

function short(random: Random, length: number): string {
  const value = values.nested(random, 2);
  return value.length > length + 20 ? values.string(random) : value;
}

function records(random: Random, length: number): string {
  const keys = random.sample(values.KEYS, random.integer(3, 6));
  const list: string[] = [];
  for (let size = 0; size < length; size += list.at(-1)!.length + 1) {
    list.push(`{${keys.map((key) => `${key}:${values.nested(random, 1)}`).join(',')}}`);
  }
  return `[${list.join(',')}]`;
}

/** Each length is ten times the previous one, to show how the work grows. */
export const GROWTH_LENGTHS: readonly number[] = [1_000, 10_000, 100_000, 1_000_000];

/** Shapes that grow in one direction: each makes a text of about `length` characters. */
export const GROWTH_SHAPES: Readonly<Record<string, (length: number) => string>> = {
  mixed: (length) => frameOfLength(createRandom(7), length),
  'one long string': (length) => `@a>req:x{k:${'v'.repeat(length)}}`,
  'many parameters': (length) =>
    `@a>req:x{${repeated(length, 10, (index) => `k${String(index).padStart(6, '0')}:v`, '|')}}`,
  'array of integers': (length) => `@a>req:x{k:[${repeated(length, 3, (index) => String(10 + (index % 90)), ',')}]}`,
  'array of words': (length) => `@a>req:x{k:[${repeated(length, 5, () => 'word', ',')}]}`,
  escapes: (length) => `@a>req:x{k:${'\\,'.repeat(length / 2)}}`,
};

function repeated(length: number, size: number, item: (index: number) => string, separator: string): string {
  return Array.from({ length: Math.ceil(length / size) }, (_, index) => item(index)).join(separator);
}
