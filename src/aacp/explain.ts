import { meaning, type Words } from '../text/ascii.js';
import { anyText, quoted, visible } from '../text/visible.js';
import type { Field, Packet } from './ast.js';
import { readStrictly, readTolerantly } from './parse.js';
import {
  DOMAINS,
  FIELD_LABELS,
  KEY_NUMBERS,
  lowerAscii,
  PRIORITIES,
  RISKS,
  STATUSES,
  TASKS,
  TONES,
} from './vocabulary.js';

/** A company form at the end of a name. The hyphen before it replaces a space. */
const COMPANY_FORM = /-(?=(?:Ltd|Limited|Inc|LLC|LLP|PLC|plc|Co|Corp|GmbH|AG|SA|SAS|SARL|BV|NV|Oy|AB|AS|Pty)$)/;

type Shape = (text: string) => string;

/** The format of the value of a key: the meaning of a word, or a function. */
const FORMATS: Readonly<Record<string, Shape | Words>> = {
  res: spaced,
  // Not in >=, <=, != or ==.
  filter: (text) => text.replace(/(?<![<>=!])=(?!=)/g, ' = '),
  fields: listed(' '),
  fmt: (text) => text.toUpperCase(),
  rules: spaced,
  tmpl: spaced,
  sup: company,
  terms: (text) => text.replace(/^net(?=[0-9]+$)/, 'Net '),
  party: company,
  issue: spaced,
  risk: RISKS,
  flags: listed(' '),
  req: listed(' '),
  to: listed(' and '),
  subj: spaced,
  tone: TONES,
  prog: percent,
  status: STATUSES,
  chain: listed(' > '),
  p: PRIORITIES,
};

const SENTENCES = Object.entries(FIELD_LABELS).map(([key, label]) => ({ label, format: FORMATS[key] }));
/** The order of the sentences: `p` and `return`, which begin packets, come last. */
const ORDER = [...SENTENCES.keys()].slice(2).concat(1, 0);
const AMOUNT = KEY_NUMBERS.get('amt')!;
const CURRENCY = KEY_NUMBERS.get('ccy')!;
/** Labels that begin sentences. A private key may have the same name. */
const LABELS: ReadonlySet<string> = new Set(['domain', ...SENTENCES.map(({ label }) => label.toLowerCase())]);

/**
 * Explains a packet in plain English. Accepts any text. Every field appears, including unknown, repeated and malformed ones: the last
 * field of a key makes its sentence, the others follow as `Key: value.`. Values that could be mistaken for part of the explanation are
 * quoted. The explanation is advisory (draft-mackay-aacp-01, section 8).
 *
 * @example
 * explainPacket('FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary')
 * // 'Retrieve (Human Resources domain). Resource: emp salary. Priority: critical priority. Return to: HR-Agent. Aacp: 1.1.'
 */
export function explainPacket(input: string | Packet): string {
  if (typeof input !== 'string') return explain(plainPacket(input));
  const strict = readStrictly(input);
  if (strict !== null) return explain(strict);
  const result = readTolerantly(input);
  return result.ok ? explain(result.value) : `Not a packet: ${result.error.message}`;
}

/** Copies a packet as strings: hand-built trees may contain other values. */
function plainPacket(packet: Packet): Packet {
  const { task, domain, fields } = packet ?? {};
  return {
    kind: 'packet',
    task: anyText(task ?? ''),
    domain: anyText(domain ?? ''),
    fields: Array.isArray(fields) ? Array.from(fields as readonly Field[], plainField) : [],
  };
}

function plainField(field: Field): Field {
  if (typeof field !== 'object' || field === null) return { key: '', value: anyText(field), bare: true };
  const { key, value, bare } = field;
  const plain = { key: anyText(key), value: anyText(value) };
  return bare ? { ...plain, bare } : plain;
}

function explain(packet: Packet): string {
  const last = new Array<Field | undefined>(SENTENCES.length);
  for (const field of packet.fields) {
    const number = numberOf(field);
    if (number !== undefined) last[number] = field;
  }
  const head = opening(packet);
  const sentences = head === null ? [] : [head];
  const currency = last[AMOUNT] && last[CURRENCY];
  for (const number of ORDER) {
    const field = last[number];
    if (field === undefined) continue;
    if (SENTENCES[number]!.label !== '') sentences.push(sentenceOf(number, field.value, currency?.value));
    else if (field !== currency) last[number] = undefined;
  }
  if (sentences.length === 0) sentences.push('Empty or unrecognised packet');
  if (head === null && packet.domain !== '') sentences.push(`Domain: ${data(packet.domain)}`);
  for (const field of packet.fields) {
    const number = numberOf(field);
    const sentence = number !== undefined && last[number] === field ? '' : leftOver(field);
    if (sentence !== '') sentences.push(sentence);
  }
  return `${sentences.join('. ')}.`;
}

function sentenceOf(number: number, value: string, currency = ''): string {
  const { label, format } = SENTENCES[number]!;
  const meant = typeof format === 'object' ? meaning(format, value) : undefined;
  // The meaning of a tone is a complete sentence.
  if (meant !== undefined) return format === TONES ? meant : `${label}: ${meant}`;
  const shown = data(value, typeof format === 'function' ? format : undefined);
  if (number !== AMOUNT || currency === '') return `${label}: ${shown}`;
  return `${label}: ${data(currency)} ${shown}`.trimEnd();
}

function numberOf({ key, bare }: Field): number | undefined {
  return bare ? undefined : (KEY_NUMBERS.get(key) ?? KEY_NUMBERS.get(lowerAscii(key)));
}

function opening({ task, domain }: Packet): string | null {
  if (task === '') return null;
  const verb = meaning(TASKS, task) ?? word(task);
  return domain === '' ? verb : `${verb} (${meaning(DOMAINS, domain) ?? word(domain)} domain)`;
}

/** Quotes an unknown word that could be mistaken for a continuation of the sentence. */
function word(text: string): string {
  return /^[\w -]+$/.test(text) ? data(text) : quoted(text);
}

/** Returns `Key: value` for a field without a sentence of its own, or '' for an empty slot. */
function leftOver({ key, value, bare }: Field): string {
  if (bare) return value === '' ? '' : `A field without a key: ${data(value)}`;
  if (key === '') return `A field with an empty key: ${data(value)}`;
  const label = `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
  // The key must not be mistaken for one of the labels.
  const plain = /^\w+$/.test(key) && (KEY_NUMBERS.has(lowerAscii(key)) || !LABELS.has(lowerAscii(key)));
  return `${plain ? label : quoted(key)}: ${data(value)}`;
}

/**
 * Formats a plain value. A value with quotes, unusual white space or invisible characters, or one that would end its sentence, is quoted
 * unchanged.
 */
function data(value: string, shape?: Shape): string {
  const shaped = shape === undefined ? value : shape(value);
  // A fast path for most values.
  if (/^[\w,=<>%+-]*$/.test(value)) return shaped;
  const plain =
    !/"| {2}|^ | $|[^\S ]/.test(value) &&
    visible(value) === value &&
    !/[.:;!?]\s|[\u3002\uff01\uff1a\uff1b\uff1f]/.test(shaped);
  return plain ? shaped : quoted(value);
}

function spaced(text: string): string {
  return text.replaceAll('_', ' ');
}

function company(text: string): string {
  return text.replace(COMPANY_FORM, ' ');
}

function listed(separator: string): Shape {
  return (text) => text.split(',').join(separator);
}

function percent(text: string): string {
  return /^-?[0-9]{1,9}(?:\.[0-9]{1,15})?$/.test(text) ? `${Math.round(Number(text) * 100)}%` : text;
}
