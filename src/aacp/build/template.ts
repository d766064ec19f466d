import { tryParsePacket } from '../parse.js';
import { validatePacket } from '../validate.js';
import { checkedDomain, checkedKey, checkedTask, EncodeError, encodeError, fieldText, unwritable } from './values.js';

/** A value that can be interpolated. Where it is the TASK, the DOM or a key, only a string is allowed. */
export type Interpolation = string | number | bigint | readonly string[];

/**
 * Builds the text of a packet from a template. The structure of the packet is that of the literal, whatever the interpolations contain.
 * White space next to a "|" of the literal is removed, so that templates can be wrapped. An interpolation is a value, a part of a value,
 * the TASK, the DOM or a key. A part of a value cannot contain a comma, which would extend a list. Source: draft-mackay-aacp-01,
 * sections 4 and 15.
 *
 * @throws EncodeError if an interpolation cannot be used in its place (`path` has the field and its index), and with code
 *   `invalid-packet` if the packet is not valid
 * @throws TypeError if the function is not used as a tag
 * @example
 * aacp`FETCH|HR|return:${agent}|p:1|aacp:1.1|filter:status=${status}|fields:${['id', 'name']}`
 */
export function aacp(strings: TemplateStringsArray, ...values: readonly Interpolation[]): string {
  const keys = new Set<string>();
  const text = slotsOf(literalsOf(strings, values), values)
    .map((slot, index) => slotText(slot, index, keys))
    .join('|');
  checkWhole(text);
  return text;
}

/** A literal part of the template, or an interpolation. */
type Piece = string | { readonly index: number; readonly value: unknown };

type Slot = readonly Piece[];

function literalsOf(strings: TemplateStringsArray, values: readonly unknown[]): readonly string[] {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw) || strings.length !== values.length + 1) {
    throw new TypeError('aacp must be used as a template tag: aacp`FETCH|HR|return:$' + '{agent}|aacp:1.1`');
  }
  return Array.from(strings as readonly unknown[], (literal) => {
    if (typeof literal === 'string') return literal;
    throw new TypeError('the template contains an invalid escape sequence');
  });
}

/** Splits the template at the separators of its literal parts. */
function slotsOf(literals: readonly string[], values: readonly unknown[]): readonly Slot[] {
  const slots: Piece[][] = [[]];
  literals.forEach((literal, index) => {
    const [first, ...others] = literal.split('|');
    slots.at(-1)!.push(first!);
    for (const text of others) slots.push([text]);
    if (index < values.length) slots.at(-1)!.push({ index, value: values[index] });
  });
  return slots.map(trimmed);
}

function trimmed(slot: Slot): Slot {
  const last = slot.length - 1;
  return slot.map((piece, at) => {
    if (typeof piece !== 'string') return piece;
    const start = at === 0 ? piece.trimStart() : piece;
    return at === last ? start.trimEnd() : start;
  });
}

function slotText(slot: Slot, index: number, keys: Set<string>): string {
  if (index === 0) return wordOf(slot, 'task', checkedTask);
  if (index === 1) return wordOf(slot, 'domain', checkedDomain);
  const colon = slot.findIndex((piece) => typeof piece === 'string' && piece.includes(':'));
  if (colon < 0) {
    const first = slot.find((piece) => typeof piece !== 'string');
    if (first === undefined) return slot.join('');
    const help = 'include the key and its colon in the template: key:$' + '{value}';
    throw encodeError('bad-key', at(`slot ${index}`, first), 'is in the place of a field, but has no key', help);
  }
  return fieldOf(slot, colon, index, keys);
}

/** Builds a field. Its key ends at the first colon of the literal, which an interpolation cannot move. */
function fieldOf(slot: Slot, colon: number, index: number, keys: Set<string>): string {
  const text = slot[colon] as string;
  const split = text.indexOf(':');
  const keyPieces: Slot = [...slot.slice(0, colon), text.slice(0, split)];
  const valuePieces: Slot = [text.slice(split + 1), ...slot.slice(colon + 1)];
  const key = wordOf(keyPieces, `key of slot ${index}`, checkedKey);
  if (keys.has(key)) {
    const message = 'is repeated; readers disagree on which field counts';
    throw encodeError('duplicate-key', key, message, 'remove one of the two');
  }
  keys.add(key);
  return `${key}:${valueText(valuePieces, key)}`;
}

function valueText(slot: Slot, key: string): string {
  const whole = slot.every((piece) => typeof piece !== 'string' || piece === '') && slot.length <= 3;
  return slot
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const path = at(key, piece);
      const text = fieldText(piece.value, path);
      if (text === null) throw unwritable(piece.value, path);
      if (!whole && typeof piece.value === 'string' && text.includes(',')) {
        const help = 'pass the items as a list, or the whole value as one interpolation';
        throw encodeError('list-separator', path, 'is a part of a value and contains a ","', help);
      }
      return text;
    })
    .join('');
}

/** Builds the TASK, the DOM or a key. A literal without interpolations is checked with the whole packet. */
function wordOf(slot: Slot, name: string, checked: (word: string, path: string) => string): string {
  const first = slot.find((piece) => typeof piece !== 'string');
  if (first === undefined) return slot.join('');
  const pieces = slot.map((piece) => {
    if (typeof piece === 'string') return piece;
    if (typeof piece.value === 'string') return piece.value;
    throw unwritable(piece.value, at(name, piece));
  });
  return checked(pieces.join(''), at(name, first));
}

function at(name: string, { index }: { readonly index: number }): string {
  return `${name} (interpolation ${index})`;
}

function checkWhole(text: string): void {
  const read = tryParsePacket(text);
  const fault = read.ok ? validatePacket(read.value).errors[0] : read.error;
  if (fault === undefined) return;
  const { message, help } = fault;
  const cause = read.ok ? undefined : read.error;
  throw new EncodeError({ code: 'invalid-packet', path: 'template', message, help }, { cause });
}
