import type { Diagnostic } from '../../text/diagnostic.js';
import { ParseError, PrintError } from '../../text/errors.js';
import type { Span } from '../../text/span.js';
import { quotedShort as show } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { MAX_FINDINGS, moreFindings } from '../codes.js';
import { parsePacket } from '../parse.js';
import { printPacket } from '../print.js';
import { spanOf } from '../spans.js';
import { validatePacket } from '../validate.js';
import { CORE_KEYS, EXTENDED_KEYS, KEY, lowerAscii, VERSION } from '../vocabulary.js';

/** The result of `upgradePacket`. */
export interface Upgrade {
  /** The packet in the form of v1.1. It is valid unless there is a note `not-valid`. */
  readonly packet: Packet;
  /** The packet as text. */
  readonly text: string;
  /** Changes in the order of the text, then the errors and warnings of the result. Empty for a packet of v1.1, which is not validated. */
  readonly notes: readonly UpgradeNote[];
}

/**
 * Converts a packet of an earlier version to v1.1, and returns a packet of v1.1 unchanged. In v1.0, slots 2 to 9 are res, period, filter,
 * fields, fmt, return, p and aacp, each possibly empty, with or without its key. v0.1 is `[TASK:FETCH][DOM:HR]...[AACP:0.1]`. Known keys
 * always count as keys. A slot whose colon follows another word is a value if it is an address (`s3://...`) or cannot be a key (`08:30`).
 * Ambiguous slots are rejected:
 *
 * - a value without a key in a packet of fewer than ten slots, or beside fields in slots other than their own;
 * - `word:text` in a slot of v1.0, if the word is not a known key: it could be a private field or a value;
 * - a known key before `//`: it could be a field or an address.
 *
 * Source: draft-mackay-aacp-01, sections 4 and 14, and the first releases of the reference SDK.
 *
 * @throws ParseError if the text has none of these forms, or is ambiguous
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
  if (key !== field.key) notes.add('key-case', `The key ${show(field.key)} was changed to ${show(key)}.`, field.span);
  return { ...field, key };
}

/** Sets the version to 1.1, unless the packet has a later one. */
function withVersion(fields: readonly Field[], upgraded: 'any' | '1.0', notes: Notes): readonly Field[] {
  if (!fields.some(({ key }) => key === 'aacp')) {
    notes.add('version', `The packet had no version; it was set to ${VERSION}.`);
    return [...fields, { key: 'aacp', value: VERSION }];
  }
  return fields.map((field) => {
    const { key, value } = field;
    if (key !== 'aacp' || value === VERSION || (upgraded !== 'any' && value !== upgraded)) return field;
    notes.add('version', `The packet had version ${show(value)}; it was set to ${VERSION}.`, field.span);
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
    throw parseError(source, code, message, span, thrown.help);
  }
}

function noteFaults(text: string, notes: Notes): void {
  for (const { message, help } of validatePacket(text).errors) {
    notes.add('not-valid', `The packet is not valid yet: ${message}`, undefined, help);
  }
}

/** Rejects repeated keys, since readers disagree on which one counts. */
function checkKeys({ fields }: Pick<Packet, 'fields'>, source: string): void {
  const seen = new Set<string>();
  for (const { key, span } of fields) {
    if (seen.has(key)) throw parseError(source, 'duplicate-key', `The field ${show(key)} is repeated.`, span);
    seen.add(key);
  }
}

function rejectedPart(path: string, packet: Packet, source: string) {
  // A packet in brackets has no span.
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
 * The kind of a change by `upgradePacket`. `version`: the version was set. `positional-value`: a value got the key of its slot.
 * `empty-slot`: an empty slot was removed. `bracket-form`: the packet was of v0.1. `key-case`: a key had capital letters. `not-valid`: the
 * result is not valid, since something is missing or wrong. `more-findings`: the number of changes that are not listed.
 */
export type UpgradeCode =
  | 'version'
  | 'positional-value'
  | 'empty-slot'
  | 'bracket-form'
  | 'key-case'
  | 'not-valid'
  | 'more-findings';

/** A change by `upgradePacket`, or a fault of its result. */
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
      // Faults are always listed: the validator reports at most 100.
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

function parseError(text: string, code: string, message: string, span?: Span | null, help?: string): ParseError {
  return new ParseError({ code, reason: 'syntax', text, span: span ?? null, message, help });
}

/** The keys of slots 2 to 9 in v1.0. */
const SLOT_KEYS = ['res', 'period', 'filter', 'fields', 'fmt', 'return', 'p', 'aacp'] as const;

const KNOWN: ReadonlySet<string> = new Set([...CORE_KEYS, ...EXTENDED_KEYS]);
/** The forms of the last two slots. They show that no slot before them is missing. */
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
    notes.add('empty-slot', 'An empty slot was removed.', field.span);
    return [];
  });
  return { fields: read, positional };
}

/** Returns whether fields are positional: at least ten slots, each named field in its own slot, and something that v1.1 does not allow. */
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
    throw parseError(text, 'malformed-field', `${message}; after slot 9, fields are named.`, field.span);
  }
  const reason =
    head.length < SLOT_KEYS.length
      ? 'and a packet of v1.0 has ten slots'
      : 'and other fields are not in their own slots';
  throw parseError(text, 'ambiguous-slot', `${message}, ${reason}.`, field.span, `add one of: ${SLOT_KEYS.join(', ')}`);
}

function slotField(field: Field, slotKey: string, text: string, notes: Notes): Field {
  const key = lowerAscii(field.key);
  const isAddress = field.value.startsWith('//') && !field.bare;
  if (KNOWN.has(key)) {
    if (!isAddress) return field;
    const message = `The slot ${show(`${field.key}:${field.value}`)} is either the field ${show(key)} or an address.`;
    throw parseError(text, 'ambiguous-slot', message, field.span, `write "${slotKey}:" before it`);
  }
  if (!field.bare && !isAddress && KEY.test(key)) {
    const message = `The slot ${show(`${field.key}:${field.value}`)} is either a private field or a value of ${show(slotKey)}.`;
    const help = `write "${slotKey}:" before it, or move the private field after slot 9`;
    throw parseError(text, 'ambiguous-slot', message, field.span, help);
  }
  const source = field.span === undefined ? field.value : text.slice(field.span.start, field.span.end);
  if (SHAPES[slotKey]?.test(source) === false) {
    const message = `Slot ${SLOT_KEYS.indexOf(slotKey as 'res') + 2} contains ${show(source)}, which is not a valid ${slotKey}.`;
    throw parseError(text, 'ambiguous-slot', message, field.span, 'check for a missing or surplus slot before it');
  }
  notes.add('positional-value', `The value ${show(source)} was assigned to ${show(slotKey)}.`, field.span);
  return { key: slotKey, value: source, ...(field.span === undefined ? {} : { span: field.span }) };
}

/** Reads `[KEY:value]` groups. Unknown keys are rejected, since they have no known form in v1.1. */
function readBracketPacket(text: string): { readonly packet: Packet; readonly notes: Notes } {
  const notes = createNotes();
  const all = groupsOf(text);
  const textOf = (name: string): string => all.find(({ key }) => key === name)?.value ?? '';
  const task = textOf('task');
  const domain = textOf('dom');
  if (task === '') throw parseError(text, 'missing-task', 'The group [TASK:...] is missing.', { start: 0, end: 0 });
  if (domain === '') throw parseError(text, 'missing-dom', 'The group [DOM:...] is missing.', { start: 0, end: 0 });
  const span = { start: 0, end: text.length };
  notes.add('bracket-form', `The packet was in brackets; it was converted to version ${VERSION}.`, span);
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
      throw parseError(text, 'malformed-field', 'Expected [KEY:value].', { start: at, end: at + 1 });
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
  throw parseError(text, 'bad-key', `The key ${show(key)} is not defined by v${VERSION}.`, span);
}
