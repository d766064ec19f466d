import { tryParsePacket } from '../parse.js';
import { validatePacket } from '../validate.js';
import { checkedDomain, checkedKey, checkedTask, EncodeError, fieldText, refusal, unwritable } from './values.js';

/** What may stand in `${}`: where it is the TASK, the DOM or a key, only a text. */
export type Interpolation = string | number | bigint | readonly string[];

/**
 * A template tag for packets, whose structure is that of the literal, whatever the interpolations hold. White space next to
 * a "|" of the literal is removed, so that templates can be wrapped. An interpolation is a value or a part of one, or the
 * TASK, the DOM or a key; a part cannot hold a comma, which would extend a list. Source: draft-mackay-aacp-01, sections 4
 * and 15.
 *
 * @throws EncodeError on an interpolation that cannot stand in its place (`path` has the field and its index), and with
 *   code `invalid-packet` if the packet is not valid
 * @throws TypeError if it is not used as a tag
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

/** Text of the author, or an interpolation. */
type Piece = string | { readonly index: number; readonly value: unknown };

type Slot = readonly Piece[];

function literalsOf(strings: TemplateStringsArray, values: readonly unknown[]): readonly string[] {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw) || strings.length !== values.length + 1) {
    throw new TypeError('aacp is a template tag: aacp`FETCH|HR|return:$' + '{agent}|aacp:1.1`');
  }
  return Array.from(strings as readonly unknown[], (literal) => {
    if (typeof literal === 'string') return literal;
    throw new TypeError('the template holds an escape that means nothing');
  });
}

/** Splits the template at the separators of its literal parts only. */
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
    const help = 'write the key and its colon into the template: key:$' + '{value}';
    throw refusal('bad-key', at(`slot ${index}`, first), 'stands where a field is, without its key', help);
  }
  return fieldOf(slot, colon, index, keys);
}

/** Takes the key from before the first colon of the literal, which an interpolation cannot move. */
function fieldOf(slot: Slot, colon: number, index: number, keys: Set<string>): string {
  const text = slot[colon] as string;
  const split = text.indexOf(':');
  const keyPieces: Slot = [...slot.slice(0, colon), text.slice(0, split)];
  const valuePieces: Slot = [text.slice(split + 1), ...slot.slice(colon + 1)];
  const key = wordOf(keyPieces, `key of slot ${index}`, checkedKey);
  if (keys.has(key)) {
    const message = 'is given twice; readers disagree on which field counts';
    throw refusal('duplicate-key', key, message, 'keep one of the two');
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
        const help = 'give the items as a list, or the whole value in one interpolation';
        throw refusal('list-separator', path, 'is a part of a value and holds a ","', help);
      }
      return text;
    })
    .join('');
}

/** The TASK, the DOM or a key. What the author alone wrote is checked with the whole packet. */
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
