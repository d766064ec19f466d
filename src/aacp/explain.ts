/** Plain English of a packet (draft-mackay-aacp-01, section 8). */
import { anyText, quoted, visible } from '../text/visible.js';
import { meaning, type Words } from '../text/words.js';
import type { Field, Packet } from './ast.js';
import { tryParsePacket } from './parse.js';
import { DOMAINS, lowerAscii, PRIORITIES, TASKS } from './vocabulary.js';

/** Says one field; `get` reaches its companions, and marks them as said. */
type Sentence = (value: string, get: (key: string) => string | undefined) => string;

const RISKS: Words = {
  low: 'low risk',
  medium: 'medium risk',
  high: 'high risk \u2014 review required',
  critical: 'critical risk \u2014 do not proceed without approval',
};

const STATUSES: Words = {
  ok: 'completed successfully',
  review_required: 'completed \u2014 review required before proceeding',
  error: 'completed with errors',
  blocked: 'blocked \u2014 cannot proceed',
  negotiate: 'recommend negotiation',
  approve: 'approved to proceed',
};

const TONES: Words = {
  empathetic: 'Use an empathetic, supportive tone',
  formal: 'Use a formal, professional tone',
  terse: 'Use a brief, direct tone',
};

/** A company form at the end of a name: the hyphen before it was a space before the packet was written. */
const COMPANY_FORM = /-(?=(?:Ltd|Limited|Inc|LLC|LLP|PLC|plc|Co|Corp|GmbH|AG|SA|SAS|SARL|BV|NV|Oy|AB|AS|Pty)$)/;

/** The sentences, in their order. Values are shown as data: see `data`. */
const SENTENCES: readonly (readonly [key: string, sentence: Sentence])[] = [
  ['res', (value) => `Resource: ${data(value, spaced)}`],
  ['period', (value) => `For period: ${data(value)}`],
  // Not within >=, <=, != or ==.
  ['filter', (value) => `Filter: ${data(value, (text) => text.replace(/(?<![<>=!])=(?!=)/g, ' = '))}`],
  ['fields', (value) => `Return fields: ${data(value, listed(' '))}`],
  ['fmt', (value) => `Format: ${data(value, (text) => text.toUpperCase())}`],
  ['src', (value) => `Source: ${data(value)}`],
  ['src_prev', (value) => `Prior period: ${data(value)}`],
  ['rules', (value) => `Apply rules: ${data(value, spaced)}`],
  ['validate', (value) => `Validate against: ${data(value)}`],
  ['tmpl', (value) => `Template: ${data(value, spaced)}`],
  ['data_ptr', (value) => `Data reference: ${data(value)}`],
  [
    'amt',
    (value, get) =>
      `Amount: ${[get('ccy') ?? '', value]
        .filter((part) => part !== '')
        .map((part) => data(part))
        .join(' ')}`,
  ],
  ['sup', (value) => `Supplier: ${data(value, company)}`],
  ['match', (value) => `Match against: ${data(value)}`],
  ['terms', (value) => `Terms: ${data(value, (text) => text.replace(/^net(?=[0-9]+$)/, 'Net '))}`],
  ['party', (value) => `Counterparty: ${data(value, company)}`],
  ['type', (value) => `Document type: ${data(value)}`],
  ['clause', (value) => `Clause: ${data(value)}`],
  ['issue', (value) => `Issue: ${data(value, spaced)}`],
  ['risk', (value) => `Risk: ${meaning(RISKS, value) ?? data(value)}`],
  ['block', (value) => `Blocked pending: ${data(value)}`],
  ['flags', (value) => `Flags: ${data(value, listed(' '))}`],
  ['req', (value) => `Required actions: ${data(value, listed(' '))}`],
  ['to', (value) => `Send to: ${data(value, listed(' and '))}`],
  ['subj', (value) => `Subject: ${data(value, spaced)}`],
  ['sentiment', (value) => `Sentiment: ${data(value)}`],
  ['tone', (value) => meaning(TONES, value) ?? `Tone: ${data(value)}`],
  ['prog', (value) => `Progress: ${percent(value) ?? data(value)}`],
  ['status', (value) => `Status: ${meaning(STATUSES, value) ?? data(value)}`],
  ['actor', (value) => `Initiated by: ${data(value)}`],
  ['chain', (value) => `Agent chain: ${data(value, listed(' > '))}`],
  ['p', (value) => `Priority: ${meaning(PRIORITIES, value) ?? data(value)}`],
  ['return', (value) => `Return to: ${data(value)}`],
];

const SENTENCE_KEYS: ReadonlySet<string> = new Set(SENTENCES.map(([key]) => key));
/** Words that begin sentences: `resource` is no key of the draft, but somebody could use it as one. */
const LABELS: ReadonlySet<string> = new Set(
  'resource filter format source template amount supplier terms counterparty clause issue risk flags subject progress status tone priority domain'.split(
    ' ',
  ),
);

/**
 * Says in plain English what a packet asks for. Total: every field appears, known or not, repeated or malformed, and any
 * text gets an answer. The last field of a key gives the sentence; earlier ones follow at the end as `Key: value.`, with
 * all others that have no sentence. Values that could be taken for part of the explanation stand between quotes.
 *
 * The explanation is advisory; the packet itself is the record (draft-mackay-aacp-01, section 8).
 *
 * @example
 * explainPacket('FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary')
 * // 'Retrieve (Human Resources domain). Resource: emp salary. Priority: critical priority. Return to: HR-Agent. Aacp: 1.1.'
 */
export function explainPacket(input: string | Packet): string {
  if (typeof input !== 'string') return explain(plainPacket(input));
  const result = tryParsePacket(input, { dialect: 'tolerant' });
  return result.ok ? explain(result.value) : `No packet: ${result.error.message}`;
}

/** A tree with nothing but strings in it: those built by hand may hold what their types forbid. */
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
  const last = new Map(packet.fields.filter(({ bare }) => !bare).map((field) => [lowerAscii(field.key), field]));
  const said = new Set<Field>();
  const get = (key: string): string | undefined => {
    const field = last.get(key);
    if (field !== undefined) said.add(field);
    return field?.value;
  };

  const sentences: string[] = [];
  for (const [key, sentence] of SENTENCES) {
    const value = get(key);
    if (value !== undefined) sentences.push(sentence(value, get));
  }
  const head = opening(packet);
  if (head !== null) sentences.unshift(head);
  else if (sentences.length === 0) sentences.push('Empty or unrecognised packet');
  if (head === null && packet.domain !== '') sentences.push(`Domain: ${data(packet.domain)}`);
  const rest = packet.fields.filter((field) => !said.has(field)).flatMap(leftOver);
  return `${[...sentences, ...rest].join('. ')}.`;
}

/** `Retrieve (Human Resources domain)`; unknown words are shown as they are. */
function opening({ task, domain }: Packet): string | null {
  if (task === '') return null;
  const verb = meaning(TASKS, task) ?? word(task);
  return domain === '' ? verb : `${verb} (${meaning(DOMAINS, domain) ?? word(domain)} domain)`;
}

/** An unknown TASK or DOM. One that could be taken for more of the sentence stands between quotes. */
function word(text: string): string {
  return /^[A-Za-z0-9_ -]+$/.test(text) ? data(text) : quoted(text);
}

/** A field without a sentence of its own: `Key: value`. Of an empty slot there is nothing to say. */
function leftOver({ key, value, bare }: Field): string | [] {
  if (bare) return value === '' ? [] : `A field without a key: ${data(value)}`;
  if (key === '') return `A field with an empty key: ${data(value)}`;
  const label = `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
  // A key must not pass for the beginning of a sentence above.
  const plain = /^[A-Za-z0-9_]+$/.test(key) && (SENTENCE_KEYS.has(lowerAscii(key)) || !LABELS.has(lowerAscii(key)));
  return `${plain ? label : quoted(key)}: ${data(value)}`;
}

/**
 * A value as data. Plain ones are shown as `shape` makes them nicer to read. One with quotes, white space other than single
 * spaces or invisible characters, or one that would end its sentence and begin another, is shown as it is, between quotes.
 */
function data(value: string, shape: (text: string) => string = (text) => text): string {
  const shaped = shape(value);
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

function listed(separator: string): (text: string) => string {
  return (text) => text.split(',').join(separator);
}

/** A fraction as a whole percentage; `undefined` when it is no plain number of a sensible length. */
function percent(value: string): string | undefined {
  return /^-?[0-9]{1,9}(?:\.[0-9]{1,15})?$/.test(value) ? `${Math.round(Number(value) * 100)}%` : undefined;
}
