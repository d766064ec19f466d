/** Packets of earlier versions as v1.1 ones. */
import { ParseError, PrintError } from '../../text/errors.js';
import type { Span } from '../../text/span.js';
import { quotedShort as show } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { parsePacket } from '../parse.js';
import { spanOf } from '../places.js';
import { printPacket } from '../print.js';
import { validatePacket } from '../validate.js';
import { CORE_KEYS, lowerAscii, VERSION } from '../vocabulary.js';
import { isBracketPacket, readBracketPacket } from './upgrade-bracket.js';
import type { Notes, UpgradeNote } from './upgrade-notes.js';
import { createNotes, refused } from './upgrade-notes.js';
import { isEmptySlot, readSlots } from './upgrade-slots.js';

export interface Upgrade {
  /** A packet in the form of v1.1. It is a valid one unless a note `not-valid` says what is missing or wrong. */
  readonly packet: Packet;
  /** The packet as text. */
  readonly text: string;
  /**
   * What is not as it stood, in the order of the text, then what keeps it from being valid; empty for a packet that was of
   * v1.1, which is not validated here.
   */
  readonly notes: readonly UpgradeNote[];
}

/**
 * Reads a packet of v1.0, whose slots 2 to 9 are res, period, filter, fields, fmt, return, p and aacp, each possibly empty
 * and with or without its key, or the bracket form of v0.1, `[TASK:FETCH][DOM:HR]...[AACP:0.1]`. Gives it in the form of
 * v1.1: named fields, the core ones first, version 1.1. A packet that is of v1.1 comes back as it is.
 *
 * Known keys always count as keys, wherever they stand. A slot whose colon follows something else is a value where that is an
 * address (`s3://...`) or can be no key (`08:30`). What can be read in two ways is refused:
 *
 * - a value without a key in a packet of fewer than ten slots, or beside fields that stand in other slots than their own;
 * - `word:text` in a slot of v1.0, where the word is no known key: a private field, or a value;
 * - a known key before `//`: a field, or an address.
 *
 * Source: draft-mackay-aacp-01, sections 4 and 14; the earlier forms are those of the reference SDK's first releases.
 *
 * @throws ParseError on what is no packet of any of these forms, or could be two
 * @example
 * upgradePacket('FETCH|HR|emp_salary|2024-08|||json|HR-Agent|1|1.0').text
 * // 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|fmt:json'
 */
export function upgradePacket(text: string): Upgrade {
  const read = parsePacket(text, { dialect: 'tolerant', spans: true });
  if (isBracketPacket(text)) {
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

/** The fields with the version that they now follow. Versions after 1.1 are left to themselves. */
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

/** The core fields first, in the order of the draft's examples; then the others as they stood. */
function coreFirst(fields: readonly Field[]): readonly Field[] {
  const rank = ({ key }: Field): number => {
    const index = CORE_KEYS.indexOf(key);
    return index < 0 ? CORE_KEYS.length : index;
  };
  return [...fields].sort((a, b) => rank(a) - rank(b));
}

/** Holds what was read to be a packet that v1.1 can write. */
function finished(packet: Packet, notes: Notes, source: string): Upgrade {
  checkKeys(packet, source);
  try {
    const text = printPacket(packet);
    if (notes.all().length > 0) noteFaults(text, notes);
    return { packet: parsePacket(text), text, notes: notes.all() };
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    const message = `${partAt(thrown.path, packet)} ${thrown.message.slice(thrown.path.length + 2)}.`;
    throw new ParseError({
      code: codeOf(thrown.path),
      reason: 'syntax',
      text: source,
      span: placeOf(thrown.path, packet, source),
      message,
      help: thrown.help,
    });
  }
}

/** What an upgrade cannot know: who gets the result, above all. */
function noteFaults(text: string, notes: Notes): void {
  for (const { message, help } of validatePacket(text).errors) {
    notes.add('not-valid', `The packet is not valid yet: ${message}`, undefined, help);
  }
}

/** Two values for one key are two readings. */
function checkKeys({ fields }: Packet, source: string): void {
  const seen = new Set<string>();
  for (const { key, span } of fields) {
    if (seen.has(key)) throw refused(source, 'duplicate-key', `The field ${show(key)} is there twice.`, span);
    seen.add(key);
  }
}

function codeOf(path: string): string {
  if (path === 'task') return 'bad-task';
  if (path === 'domain') return 'bad-dom';
  return path.endsWith('.key') ? 'bad-key' : 'unprintable';
}

function placeOf(path: string, packet: Packet, source: string): Span | null {
  // A packet that stood in brackets has no place of its own.
  if (packet.span === undefined) return null;
  if (path === 'task') return spanOf('TASK', packet, source);
  if (path === 'domain') return spanOf('DOM', packet, source);
  const number = Number(/\d+/.exec(path)?.[0]);
  if (packet.fields[number] === undefined) return null;
  return spanOf(path.endsWith('.value') ? 'value' : 'field', packet, source, number);
}

/** The part of the packet that a path of the printer names. */
function partAt(path: string, { fields }: Packet): string {
  if (path === 'task') return 'The TASK';
  if (path === 'domain') return 'The DOM';
  const key = show(fields[Number(/\d+/.exec(path)?.[0])]?.key ?? '');
  return path.endsWith('.key') ? `The key ${key}` : `The value of ${key}`;
}
