import type { Diagnostic } from '../../text/diagnostic.js';
import { ParseError, PrintError } from '../../text/errors.js';
import type { Span } from '../../text/span.js';
import { quotedShort as show } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { MAX_FINDINGS, moreFindings } from '../codes.js';
import { parsePacket } from '../parse.js';
import { spanOf } from '../places.js';
import { printPacket } from '../print.js';
import { validatePacket } from '../validate.js';
import { CORE_KEYS, EXTENDED_KEYS, KEY, lowerAscii, VERSION } from '../vocabulary.js';

export interface Upgrade {
  /** A packet in the form of v1.1. It is a valid one unless a note `not-valid` says what is missing or wrong. */
  readonly packet: Packet;
  /** The packet as text. */
  readonly text: string;
  /** Changes in the order of the text, then faults of the result. Empty for a packet of v1.1, which is not validated. */
  readonly notes: readonly UpgradeNote[];
}

/**
 * Converts a packet of v1.0, whose slots 2 to 9 are res, period, filter, fields, fmt, return, p and aacp, each possibly
 * empty and with or without its key, or of v0.1, `[TASK:FETCH][DOM:HR]...[AACP:0.1]`, to v1.1. Returns a packet of v1.1
 * unchanged. Known keys always count as keys. A slot whose colon follows something else is a value if it is an address
 * (`s3://...`) or cannot be a key (`08:30`). Ambiguous slots are rejected:
 *
 * - a value without a key in a packet of fewer than ten slots, or beside fields in other slots than their own;
 * - `word:text` in a slot of v1.0, if the word is not a known key: a private field, or a value;
 * - a known key before `//`: a field, or an address.
 *
 * Source: draft-mackay-aacp-01, sections 4 and 14, and the first releases of the reference SDK.
 *
 * @throws ParseError on any other text, and on ambiguous ones
 * @example
 * upgradePacket('FETCH|HR|emp_salary|2024-08|||json|HR-Agent|1|1.0').text
 * // 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|fmt:json'
 */
export function upgradePacket(text: string): Upgrade {
  const read = parsePacket(text, { dialect: 'tolerant', spans: true });
  if (text.trimStart().startsWith('[')) {
    const { packet, notes } = readBracketPacket(text);
    return finished({ ...packet, fields: coreFirst(packet.fields) }, notes, text);
  }
  const notes = createNotes();
  const { fields, positional } = readSlots(read, text, notes);
  const version = positional ? 'any' : '1.0';
  const named = withVersion(
    fields.map((field) => inLowerCase(field, notes)),
    version,
    notes,
  );
  const isOld = positional || read.fields.some(isEmptySlot) || notes.has('version');
  return finished({ ...read, fields: isOld ? coreFirst(named) : named }, notes, text);
}

function inLowerCase(field: Field, notes: Notes): Field {
  const key = lowerAscii(field.key);
  if (key !== field.key) notes.add('key-case', `The key ${show(field.key)} is ${show(key)} now.`, field.span);
  return { ...field, key };
}

/** Sets the version. Versions after 1.1 stay. */
function withVersion(fields: readonly Field[], upgraded: 'any' | '1.0', notes: Notes): readonly Field[] {
  if (!fields.some(({ key }) => key === 'aacp')) {
    notes.add('version', `The packet told no version; it is of ${VERSION} now.`);
    return [...fields, { key: 'aacp', value: VERSION }];
  }
  return fields.map((field) => {
    const { key, value } = field;
    if (key !== 'aacp' || value === VERSION || (upgraded !== 'any' && value !== upgraded)) return field;
    notes.add('version', `The packet was of version ${show(value)}; it is of ${VERSION} now.`, field.span);
    return { ...field, value: VERSION };
  });
}

/** Puts the core fields first, in the order of the draft's examples. */
function coreFirst(fields: readonly Field[]): readonly Field[] {
  const rank = ({ key }: Field): number => {
    const index = CORE_KEYS.indexOf(key);
    return index < 0 ? CORE_KEYS.length : index;
  };
  return [...fields].sort((a, b) => rank(a) - rank(b));
}

function finished(packet: Packet, notes: Notes, source: string): Upgrade {
  checkKeys(packet, source);
  try {
    const text = printPacket(packet);
    if (notes.all().length > 0) noteFaults(text, notes);
    return { packet: parsePacket(text), text, notes: notes.all() };
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    const { code, part, span } = rejectedPart(thrown.path, packet, source);
    const message = `${part} ${thrown.message.slice(thrown.path.length + 2)}.`;
    throw refused(source, code, message, span, thrown.help);
  }
}

function noteFaults(text: string, notes: Notes): void {
  for (const { message, help } of validatePacket(text).errors) {
    notes.add('not-valid', `The packet is not valid yet: ${message}`, undefined, help);
  }
}

/** Rejects repeated keys, which have two readings. */
function checkKeys({ fields }: Pick<Packet, 'fields'>, source: string): void {
  const seen = new Set<string>();
  for (const { key, span } of fields) {
    if (seen.has(key)) throw refused(source, 'duplicate-key', `The field ${show(key)} is there twice.`, span);
    seen.add(key);
  }
}

function rejectedPart(path: string, packet: Packet, source: string) {
  // A packet from brackets has no span.
  const text = packet.span === undefined ? null : source;
  if (path === 'task') return { code: 'bad-task', part: 'The TASK', span: spanOf('TASK', packet, text) };
  if (path === 'domain') return { code: 'bad-dom', part: 'The DOM', span: spanOf('DOM', packet, text) };
  const number = Number(/\d+/.exec(path)?.[0]);
  const key = show(packet.fields[number]!.key);
  if (path.endsWith('.key')) {
    return { code: 'bad-key', part: `The key ${key}`, span: spanOf('field', packet, text, number) };
  }
  return { code: 'unprintable', part: `The value of ${key}`, span: spanOf('value', packet, text, number) };
}

/**
 * Changes of an upgrade. `positional-value`: a value got the key of its slot. `empty-slot`: one was removed.
 * `bracket-form`: the packet was of v0.1. `key-case`: a key had capitals. `not-valid`: the result is not valid, since
 * something is missing or wrong. `more-findings`: counts what a full list leaves out.
 */
export type UpgradeCode =
  | 'version'
  | 'positional-value'
  | 'empty-slot'
  | 'bracket-form'
  | 'key-case'
  | 'not-valid'
  | 'more-findings';

export type UpgradeNote = Diagnostic<UpgradeCode>;

const SECTIONS: Readonly<Record<NotedCode, string>> = {
  version: '14',
  'positional-value': '4',
  'empty-slot': '4',
  'bracket-form': '4',
  'key-case': '4.2',
  'not-valid': '7',
};

type NotedCode = Exclude<UpgradeCode, 'more-findings'>;

type Notes = ReturnType<typeof createNotes>;

function createNotes() {
  const notes: UpgradeNote[] = [];
  const codes = new Set<UpgradeCode>();
  let more = 0;
  const startOf = ({ span }: UpgradeNote): number => span?.start ?? Number.MAX_SAFE_INTEGER;
  return {
    add(code: NotedCode, message: string, span?: Span, help?: string): void {
      const note: UpgradeNote = { code, severity: 'warning', message, span: span ?? null, section: SECTIONS[code] };
      codes.add(code);
      // Faults are always listed: the validator reports 100 at most.
      if (notes.length >= MAX_FINDINGS && code !== 'not-valid') more++;
      else notes.push(help === undefined ? note : { ...note, help });
    },
    has: (code: UpgradeCode): boolean => codes.has(code),
    all: (): readonly UpgradeNote[] => {
      const sorted = [...notes].sort((a, b) => startOf(a) - startOf(b));
      return more === 0 ? sorted : [...sorted, moreFindings(more, 'warning')];
    },
  };
}

function refused(text: string, code: string, message: string, span?: Span | null, help?: string): ParseError {
  return new ParseError({ code, reason: 'syntax', text, span: span ?? null, message, help });
}

/** The keys of slots 2 to 9. */
const SLOT_KEYS = ['res', 'period', 'filter', 'fields', 'fmt', 'return', 'p', 'aacp'] as const;

const KNOWN: ReadonlySet<string> = new Set([...CORE_KEYS, ...EXTENDED_KEYS]);
/** Forms of the last two slots, which show that no slot before them is missing. */
const SHAPES: Readonly<Record<string, RegExp>> = { p: /^[0-9]$/, aacp: /^[0-9]+\.[0-9]+$/ };

function isEmptySlot({ value, bare }: Field): boolean {
  return bare === true && value === '';
}

function readSlots({ fields }: Packet, text: string, notes: Notes) {
  const head = fields.slice(0, SLOT_KEYS.length);
  const positional = isPositional(head);
  const read = fields.flatMap((field, index) => {
    const slotKey = positional ? SLOT_KEYS[index] : undefined;
    if (!isEmptySlot(field)) {
      return slotKey === undefined ? namedField(field, index, head, text) : slotField(field, slotKey, text, notes);
    }
    notes.add('empty-slot', 'An empty slot is left out.', field.span);
    return [];
  });
  return { fields: read, positional };
}

/** Requires ten slots or more, each named field in its own slot, and something that v1.1 does not have. */
function isPositional(head: readonly Field[]): boolean {
  const last = head[SLOT_KEYS.length - 1];
  if (last === undefined) return false;
  const key = (field: Field): string => lowerAscii(field.key);
  const aligned = head.every((field, index) => !KNOWN.has(key(field)) || key(field) === SLOT_KEYS[index]);
  const endsInVersion = last.bare === true || key(last) === 'aacp';
  return aligned && endsInVersion && (head.some(({ bare }) => bare === true) || last.value !== VERSION);
}

function namedField(field: Field, index: number, head: readonly Field[], text: string): Field {
  if (!field.bare) return field;
  const message = `The value ${show(field.value)} has no key`;
  if (index >= SLOT_KEYS.length) {
    throw refused(text, 'malformed-field', `${message}; after slot 9, fields are named.`, field.span);
  }
  const reason =
    head.length < SLOT_KEYS.length
      ? 'and a packet of v1.0 has ten slots'
      : 'and other fields do not stand in their own slots';
  throw refused(text, 'ambiguous-slot', `${message}, ${reason}.`, field.span, `give it one: ${SLOT_KEYS.join(', ')}`);
}

function slotField(field: Field, slotKey: string, text: string, notes: Notes): Field {
  const key = lowerAscii(field.key);
  const isAddress = field.value.startsWith('//') && !field.bare;
  if (KNOWN.has(key)) {
    if (!isAddress) return field;
    const message = `The slot ${show(`${field.key}:${field.value}`)} is the field ${show(key)}, or an address in the slot of it.`;
    throw refused(text, 'ambiguous-slot', message, field.span, `write "${slotKey}:" before it`);
  }
  if (!field.bare && !isAddress && KEY.test(key)) {
    const message = `The slot ${show(`${field.key}:${field.value}`)} is a private field, or a value of ${show(slotKey)}.`;
    const help = `write "${slotKey}:" before it, or put the private field behind slot 9`;
    throw refused(text, 'ambiguous-slot', message, field.span, help);
  }
  const source = field.span === undefined ? field.value : text.slice(field.span.start, field.span.end);
  if (SHAPES[slotKey]?.test(source) === false) {
    const message = `Slot ${SLOT_KEYS.indexOf(slotKey as 'res') + 2} holds ${show(source)}, which is no ${slotKey}.`;
    throw refused(text, 'ambiguous-slot', message, field.span, 'a slot before it may be missing, or one too many');
  }
  notes.add('positional-value', `The value ${show(source)} is that of ${show(slotKey)}.`, field.span);
  return { key: slotKey, value: source, ...(field.span === undefined ? {} : { span: field.span }) };
}

/** Reads `[KEY:value]` groups. Unknown keys are rejected, since their v1.1 form is unknown. */
function readBracketPacket(text: string): { readonly packet: Packet; readonly notes: Notes } {
  const notes = createNotes();
  const all = groupsOf(text);
  const textOf = (name: string): string => all.find(({ key }) => key === name)?.value ?? '';
  const task = textOf('task');
  const domain = textOf('dom');
  if (task === '') throw refused(text, 'missing-task', 'There is no [TASK:...].', { start: 0, end: 0 });
  if (domain === '') throw refused(text, 'missing-dom', 'There is no [DOM:...].', { start: 0, end: 0 });
  const span = { start: 0, end: text.length };
  notes.add('bracket-form', `The packet was in brackets; it is of version ${VERSION} now.`, span);
  const fields = all.filter(({ key }) => key !== 'task' && key !== 'dom' && key !== 'aacp');
  fields.push({ key: 'aacp', value: VERSION });
  return { packet: { kind: 'packet', task, domain, fields }, notes };
}

function groupsOf(text: string): readonly Field[] {
  const group = /\s*\[([^:[\]|]*):([^[\]|]*)\]/y;
  const fields: Field[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    group.lastIndex = at;
    const match = group.exec(text);
    if (match === null) {
      throw refused(text, 'malformed-field', 'Expected [KEY:value].', { start: at, end: at + 1 });
    }
    const span = { start: at + match[0].indexOf('['), end: group.lastIndex };
    fields.push({ key: knownKey(match[1]!.trim(), text, span), value: match[2]!.trim(), span });
    at = group.lastIndex;
  }
  checkKeys({ fields }, text);
  return fields;
}

function knownKey(key: string, text: string, span: Span): string {
  const lower = lowerAscii(key);
  if (lower === 'task' || lower === 'dom' || KNOWN.has(lower)) return lower;
  throw refused(text, 'bad-key', `The key ${show(key)} is none of v${VERSION}.`, span);
}
