/** The slots of a v1.0 packet, by position or by name. */
import { quotedShort as show } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { CORE_KEYS, EXTENDED_KEYS, lowerAscii, VERSION } from '../vocabulary.js';
import type { Notes } from './upgrade-notes.js';
import { refused } from './upgrade-notes.js';

/** What stands in slots 2 to 9. */
export const SLOT_KEYS = ['res', 'period', 'filter', 'fields', 'fmt', 'return', 'p', 'aacp'] as const;

const KNOWN: ReadonlySet<string> = new Set([...CORE_KEYS, ...EXTENDED_KEYS]);
const KEY = /^[a-z][a-z0-9_]*$/;
/** Values that the last two slots have in every packet: they show that no slot before them is missing. */
const SHAPES: Readonly<Record<string, RegExp>> = { p: /^[0-9]$/, aacp: /^[0-9]+\.[0-9]+$/ };

export function isEmptySlot({ value, bare }: Field): boolean {
  return bare === true && value === '';
}

/**
 * The fields of a packet with all their keys, and whether its slots were read by position.
 *
 * @throws ParseError where a slot could be read in two ways
 */
export function readSlots(
  { fields }: Packet,
  text: string,
  notes: Notes,
): { readonly fields: readonly Field[]; readonly positional: boolean } {
  const head = fields.slice(0, SLOT_KEYS.length);
  const positional = isPositional(head);
  const read = fields.flatMap((field, index) => {
    const slotKey = positional ? SLOT_KEYS[index] : undefined;
    if (isEmptySlot(field)) {
      notes.add('empty-slot', 'An empty slot is left out.', field.span);
      return [];
    }
    return [slotKey === undefined ? namedField(field, index, head, text) : slotField(field, slotKey, text, notes)];
  });
  return { fields: read, positional };
}

/** Ten slots or more, each named field of slots 2 to 9 in its own, and something that v1.1 would not have. */
function isPositional(head: readonly Field[]): boolean {
  const last = head[SLOT_KEYS.length - 1];
  if (last === undefined) return false;
  const key = (field: Field): string => lowerAscii(field.key);
  const aligned = head.every((field, index) => !KNOWN.has(key(field)) || key(field) === SLOT_KEYS[index]);
  const endsInVersion = last.bare === true || key(last) === 'aacp';
  return aligned && endsInVersion && (head.some(({ bare }) => bare === true) || last.value !== VERSION);
}

/** A field of a packet whose slots are not read by position. */
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

/** What stands in the slot of `slotKey`. */
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
