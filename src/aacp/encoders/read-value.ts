import { safeParse } from 'zod/v4/core';
import { digitsOf } from '../../text/decimal.js';
import { issueMessage } from '../../text/issue-message.js';
import { anyText, quotedShort } from '../../text/visible.js';
import { checkedValue, EncodeError, encodeError } from '../build/values.js';
import { normalised } from './normalise.js';
import type { Mode, Program, Reading, Slot } from './plan.js';
import type { EncodeLoss } from './result.js';

/** A change of a value, before its key is known. */
interface Change extends Omit<EncodeLoss, 'key'> {
  readonly slot: number;
}

export interface Reader {
  readonly program: Pick<Program, 'mode' | 'lenient' | 'pureSlots'>;
  /** The changes; `null` if there are none. */
  changes: Change[] | null;
}

/** Returns the text of a value, checked and normalised; `null` if there is nothing to write. */
export function readValue(slot: Slot, value: unknown, reader: Reader): string | null {
  const reading = slot.reading[reader.program.mode];
  if (reading.asItIs && !slot.list && typeof value === 'string' && isPlain(value, reading.item)) return value;
  if (slot.list) {
    const given = listOf(value, reader);
    return readList(slot, given, parsed(slot, reading, given), reader);
  }
  const output = parsed(slot, reading, value);
  if (Array.isArray(output)) throw badInput(slot.name, 'is a list; expected a single value');
  const { compatText } = slot.definition;
  if (reader.program.mode === 'compat' && typeof output === 'number' && compatText !== undefined) {
    return readForSdk(slot, output, compatText(output), reader);
  }
  const text = textOf(slot, output, slot.name, reader.program.mode);
  if (output !== value) noteTransform(slot, value, text, reader);
  return readText(slot, text, slot.name, reader);
}

function readForSdk(slot: Slot, value: number, text: string | null, reader: Reader): string | null {
  const from = pythonText(value);
  if (text !== null && text !== from) {
    note(reader, { slot: slot.index, input: slot.name, kind: 'rounded', from, to: text });
  }
  return text;
}

/** Converts a value to a list. The reference SDK treats a string as a list of its characters. */
function listOf(value: unknown, { program }: Reader): unknown {
  return program.mode === 'compat' && typeof value === 'string' ? [...value] : value;
}

function readList(slot: Slot, given: unknown, value: unknown, reader: Reader): string | null {
  if (!Array.isArray(value)) throw badInput(slot.name, 'is not a list');
  if (given !== value) noteTransforms(slot, given, value, reader);
  const { asItIs: itemsAsTheyAre } = slot.reading[reader.program.mode];
  let list = '';
  for (let at = 0; at < value.length; at++) {
    const item: unknown = value[at];
    const plain = itemsAsTheyAre && typeof item === 'string' && isPlain(item, true);
    const text = plain ? item : itemText(slot, item, `${slot.name}[${at}]`, reader);
    list = at === 0 ? text : `${list},${text}`;
  }
  return list === '' && reader.program.mode === 'default' ? checkedValue(list, slot.name) : list;
}

function itemText(slot: Slot, item: unknown, path: string, reader: Reader): string {
  return readText(slot, textOf(slot, item, path, reader.program.mode), path, reader);
}

function parsed(slot: Slot, { schema, guard, anyString }: Reading, value: unknown): unknown {
  if ((anyString && typeof value === 'string') || guard?.(value)) return value;
  const result = safeParse(schema, value, { error: issueMessage });
  if (result.success) return result.data;
  const { message, path } = result.error.issues[0]!;
  const help = slot.list && typeof value === 'string' ? 'pass a list of strings' : undefined;
  throw badInput(slot.name + path.map((key) => `[${anyText(key)}]`).join(''), message, help);
}

function textOf(slot: Slot, value: unknown, path: string, mode: Mode): string {
  if (typeof value === 'string') {
    if (mode === 'default' && slot.definition.decimal === true && !DECIMAL.test(value)) {
      throw badInput(path, `${quotedShort(value)} is not a plain decimal number`, 'write it as 4200 or 4200.50');
    }
    return value;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw badInput(path, `${value} is not a finite number`);
  if (typeof value === 'number' || typeof value === 'bigint') {
    return mode === 'compat' ? pythonText(value) : plainDigits(value);
  }
  if (typeof value === 'boolean') return String(value);
  throw badInput(path, 'is neither a string nor a number nor a boolean');
}

function readText(slot: Slot, given: string, path: string, reader: Reader): string {
  const { item } = slot.reading[reader.program.mode];
  let text = given;
  for (const kind of slot.normalise) {
    const changed = normalised(text, kind);
    if (changed !== text) note(reader, { slot: slot.index, input: path, kind, from: text, to: changed });
    text = changed;
  }
  const refused = slot.definition.refuse?.(text, reader.program.mode === 'compat', given) ?? null;
  if (refused !== null) throw new EncodeError({ path, ...refused });
  if (isPlain(text, item)) return text;
  if (reader.program.mode === 'compat') {
    if (text === '' || (reader.program.pureSlots[slot.index] && BLANK.test(text))) return '';
    if (reader.program.lenient) return checkedLeniently(text, path);
  }
  if (item && text.includes(',')) {
    const help = slot.list
      ? 'a comma would split the item in two; pass two items'
      : 'the value is an item of a list, which a comma would split';
    throw encodeError('list-separator', path, 'contains a ","', help);
  }
  return checkedValue(text, path);
}

/** Checks a value in compat mode: it must not add a field, and must be valid UTF-8. */
function checkedLeniently(text: string, path: string): string {
  if (text.includes('|')) return checkedValue(text, path);
  if (/\p{Surrogate}/u.test(text)) throw badInput(path, 'contains a lone surrogate');
  return text;
}

/** Records a change by a schema: those of your own workflows may transform values. */
function noteTransform(slot: Slot, given: unknown, text: string, reader: Reader, path = slot.name): void {
  const from = typeof given === 'number' || typeof given === 'bigint' ? plainDigits(given) : given;
  if (typeof from !== 'string' || from === text) return;
  note(reader, { slot: slot.index, input: path, kind: 'transformed', from, to: text });
}

function noteTransforms(slot: Slot, given: unknown, list: readonly unknown[], reader: Reader): void {
  const texts = list.map((item, at) => textOf(slot, item, `${slot.name}[${at}]`, reader.program.mode));
  if (Array.isArray(given) && given.length === texts.length) {
    for (const [at, text] of texts.entries()) noteTransform(slot, given[at], text, reader, `${slot.name}[${at}]`);
  } else noteTransform(slot, Array.isArray(given) ? given.join(',') : given, texts.join(','), reader);
}

function note(reader: Reader, change: Change): void {
  reader.changes ??= [];
  reader.changes.push(change);
}

function badInput(path: string, message: string, help?: string): EncodeError {
  return encodeError('bad-input', path, message, help);
}

/** The white space of Python's `strip`: unlike `trim`, it includes U+001C to U+001F and U+0085, and not the byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they count as white space
const BLANK = /^[\t-\r\x1C- \x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*$/;

/** Classes of ASCII characters: 0 other, 1 plain, 2 space, 3 comma. */
const KINDS = new Uint8Array(128);
KINDS.fill(1, 0x21, 0x7f);
KINDS['|'.charCodeAt(0)] = 0;
KINDS[' '.charCodeAt(0)] = 2;
KINDS[','.charCodeAt(0)] = 3;

/** The maximum length of texts that are checked here; for longer ones `checkedValue` is faster. */
const MAX_LENGTH = 256;

/** Returns whether a text is printable ASCII without "|" and outer spaces, like most values. Faster than `checkedValue`. */
function isPlain(text: string, item: boolean): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_LENGTH) return false;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127) return false;
    const kind = KINDS[code];
    if (kind === 1) continue;
    if (kind === 2 ? at === 0 || at === length - 1 : kind !== 3 || item) return false;
  }
  return true;
}

const DECIMAL: RegExp = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** Returns plain digits, never with an exponent. */
export function plainDigits(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : digitsOf(value);
}

/** Returns Python's `str` of a finite number. Integers below 1e16 count as Python integers, since JavaScript has no 4200.0. */
export function pythonText(value: number | bigint): string {
  if (typeof value === 'bigint' || value === 0) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return String(value);
  // The shortest round-trip digits are the same in both languages; only the notation differs.
  const [mantissa = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) return digitsOf(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

/** Returns Python's `format(value, '.2f')`, which rounds half to even. `toFixed` is exact too, but rounds ties (odd multiples of 1/8) up. */
export function pythonTwoDecimals(value: number): string {
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}.00`;
  const downwards = (Math.abs(value) * 8) % 4 === 1;
  return downwards ? value.toFixed(3).slice(0, -1) : value.toFixed(2);
}
