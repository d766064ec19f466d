/** The ACCP corpus: frames made from seeds, in two halves, by content and by length. */
import { parseFrame } from '../../accp/index.js';
import { transliterate } from '../../accp/message/transliterate.js';
import { createRandom, type Random } from '../../text/random.js';
import type { Category, Sample } from '../candidate.js';
import { plainFrame } from '../plain.js';
import { flat } from '../workload.js';
import type { Half } from './texts.js';
import * as texts from './texts.js';
import * as values from './values.js';

export function frameSample(source: string): Sample {
  // A text made from Cyrillic has two bytes for each character, even if it is ASCII; one from a socket has not.
  const text = flat(source);
  return { text, json: JSON.stringify(plainFrame(parseFrame(text))) };
}

/** Frames of 25 B to 2 KB with real contents, on which the headline figures are measured. */
export function mixedFrames(half: Half = 'unseen'): Sample[] {
  const random = createRandom(half === 'tuning' ? 1 : 1001);
  return Array.from({ length: 80 }, (_, index) => {
    // Lengths grow exponentially from 25 B to 2 KB.
    return message(random, half, 25 * 2 ** ((6.32 * index) / 79));
  });
}

/** Each category has a different worst case. */
export function frameCategories(half: Half = 'unseen'): Category[] {
  return Object.entries(CATEGORIES).map(([name, make], index) => {
    const random = createRandom((half === 'tuning' ? 100 : 1100) + index);
    return { name, samples: Array.from({ length: 16 }, () => frameSample(make(random, half))) };
  });
}

/** Categories that cost a frame more than JSON, which escapes less and rounds numbers; with the goals of their own. */
export const COSTLY_CATEGORIES: Readonly<Record<string, string>> = {
  'dense escapes': 'escapes',
  'big integers': 'big-integers',
  'other numbers': 'other-numbers',
};

const CATEGORIES: Readonly<Record<string, (random: Random, half: Half) => string>> = {
  'short frames': (random) => frame(random, values.params(random, random.integer(0, 2), values.scalar), null),
  metadata: (random) => frame(random, values.params(random, 1, values.scalar), 1),
  words: (random) =>
    frame(random, [`d:${values.array(random, random.integer(10, 60), (one) => values.words(one, 1, 1))}`], null),
  strings: (random) => frame(random, values.params(random, random.integer(6, 14), values.string), 0.3),
  'small integers': (random) =>
    frame(random, [`d:${values.array(random, random.integer(20, 60), (item) => values.natural(item, 1))}`], null),
  integers: (random) => frame(random, values.params(random, random.integer(8, 16), values.integer), null),
  decimals: (random) => frame(random, values.params(random, random.integer(8, 16), values.decimal), null),
  'big arrays': (random) => frame(random, [`d:${values.array(random, random.integer(200, 500), values.scalar)}`], 0.3),
  'true/false/~ arrays': (random) =>
    frame(random, [`d:${values.array(random, random.integer(20, 60), values.literal)}`], null),
  'nested maps': (random) => frame(random, [`d:${nestedMap(random, 5)}`], 0.3),
  'one sentence': (random, half) => frame(random, [`content:${escapedText(texts.prose(random, half, 100))}`], null),
  'long prose': (random, half) =>
    frame(random, [`content:${escapedText(texts.prose(random, half, random.integer(1_000, 2_000)))}`], null),
  'dense escapes': (random) => frame(random, values.params(random, random.integer(4, 10), values.escaped), null),
  'big integers': (random) => frame(random, values.params(random, random.integer(4, 10), values.bigInteger), null),
  'other numbers': (random) => frame(random, values.params(random, random.integer(8, 16), values.otherNumber), null),
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

/** A text as the draft's examples write it: underscores for spaces and line ends, a backslash before each delimiter. */
function escapedText(text: string): string {
  return text.replace(/[^!-~]+/g, '_').replace(/[@>:{}[\]|$,~\\]/g, '\\$&');
}

type Plain = string | number | boolean | null | readonly Plain[] | PlainObject;
interface PlainObject {
  readonly [key: string]: Plain;
}

/**
 * A message of about this length: chat, a call or result of a tool, records, a change of state, a mail. Its JSON has the text
 * itself; its frame the codec's spelling of it or, for one in four, that of the draft's examples.
 */
function message(random: Random, half: Half, length: number): Sample {
  const envelope = length < 60 ? null : 0.5;
  const rest = Math.max(8, length - (envelope === null ? 25 : 90));
  const make = rest < 40 ? FEW_SCALARS : random.pick(MESSAGES);
  const payload = make(random, half, rest);
  const text = random.next() < 0.25 ? escapedText : (value: string) => escapedText(transliterate(value));
  const params = Object.entries(payload).map(([key, value]) => `${key}:${valueText(value, text)}`);
  const frameOf = frameSample(frame(random, params, envelope));
  return { text: frameOf.text, json: JSON.stringify({ ...(JSON.parse(frameOf.json) as object), payload }) };
}

function valueText(value: Plain, text: (value: string) => string): string {
  if (value === null) return '~';
  if (typeof value === 'string') return /^\$[\w.]+$/.test(value) ? value : text(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map((item) => valueText(item, text)).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${key}:${valueText(member, text)}`)
    .join(',')}}`;
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}

type MakePayload = (random: Random, half: Half, length: number) => PlainObject;

const FEW_SCALARS: MakePayload = (random, _half, length) =>
  payloadOf(values.params(random, length < 16 ? 1 : 2, values.scalar));

const MESSAGES: readonly MakePayload[] = [
  (random, half, length) => ({
    content: texts.prose(random, half, length - 20),
    role: 'user',
    turn: random.integer(1, 40),
  }),
  (random, half, length) => ({
    content: texts.foreign(random, half, length - 20),
    lang: random.pick(['de', 'fr', 'es']),
  }),
  (random, half, length) => {
    const text = random.pick([texts.code, texts.json, texts.code])(random, half, length - 60);
    return { tool: 'edit_file', args: { path: texts.path(random, half, 0), text } };
  },
  (random, half, length) => {
    const make = random.pick([texts.log, texts.table, texts.mail]);
    return { tool: random.pick(['read_log', 'query', 'read_mail']), res: make(random, half, length - 30), stat: 'ok' };
  },
  (random, half, length) => {
    const res: PlainObject[] = [];
    for (let size = 30; size < length; size += JSON.stringify(res.at(-1)).length) {
      const score = random.integer(1, 999) / 1000;
      res.push({ url: texts.url(random, half, 0), score, line: random.integer(1, 4000) });
    }
    return { tool: 'web_search', res, stat: 'ok' };
  },
  (random, _half, length) => payloadOf(paramsOfLength(random, length)),
  (random, _half, length) => payloadOf(paramsOfLength(random, length)),
  (random, _half, length) => ({ v: random.integer(1, 90), delta: payloadOf(paramsOfLength(random, length)) }),
];

function payloadOf(params: readonly string[]): PlainObject {
  const { json } = frameSample(`@a>req:x{${params.join('|')}}`);
  return (JSON.parse(json) as { readonly payload: PlainObject }).payload;
}

/** As in real messages, longer frames have longer values. */
const MAX_PARAMS = 12;

/** Makes parameters of about this length together. Long ones are lists of records, like results of tools. */
function paramsOfLength(random: Random, length: number): string[] {
  const params: string[] = [];
  let size = 0;
  for (const key of random.sample(values.KEYS, MAX_PARAMS)) {
    const rest = length - size;
    if (rest <= 0) break;
    const isLast = params.length === MAX_PARAMS - 1;
    const value =
      rest > 150 && (isLast || random.next() < 0.2) ? records(random, isLast ? rest : rest / 2) : short(random, rest);
    params.push(`${key}:${value}`);
    size += key.length + value.length + 2;
  }
  return params;
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
  mixed: (length) => {
    const random = createRandom(7);
    return frame(random, paramsOfLength(random, length - 60), 0.5);
  },
  prose: (length) => `@a>req:x{k:${escapedText(texts.prose(createRandom(8), 'unseen', length))}}`,
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
