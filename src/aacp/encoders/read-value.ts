/** From a value that was given for an input to the text that stands for it. */
import { safeParse } from 'zod/v4/core';
import { anyText, quotedShort } from '../../text/visible.js';
import { EncodeError } from '../build/errors.js';
import { checkedValue } from '../build/values.js';
import { normalised } from './normalise.js';
import { DECIMAL, plainDigits, pythonText } from './number-text.js';
import { isPlain } from './plain.js';
import type { Mode, Program, Reading, Refusal, Slot } from './plan.js';
import { isBlankToPython } from './python-text.js';
import type { EncodeLoss } from './result.js';

/** A change on the way, before it is known which keys it concerns. */
export interface Change {
  readonly slot: number;
  /** The input, or the item of it. */
  readonly input: string;
  readonly kind: EncodeLoss['kind'];
  readonly from: string;
  readonly to: string;
}

/** What reading the values of one step takes into account, and what it finds. */
export interface Reader {
  readonly program: Pick<Program, 'mode' | 'lenient' | 'pureSlots'>;
  /** In their order; `null` for none. */
  changes: Change[] | null;
}

/**
 * The text of a value: checked by the input's schema, normalised, and such that it can stand in a field.
 *
 * @returns `null` when there is nothing to write
 * @throws EncodeError naming the input, or the item of it
 */
export function readValue(slot: Slot, value: unknown, reader: Reader): string | null {
  const reading = slot.reading[reader.program.mode];
  if (reading.asItIs && !slot.list && typeof value === 'string' && isPlain(value, reading.item)) return value;
  if (slot.list) {
    const given = listOf(value, reader);
    return readList(slot, given, parsed(slot, reading, given), reader);
  }
  const output = parsed(slot, reading, value);
  if (Array.isArray(output)) throw badInput(slot.name, 'is a list; one text is wanted');
  const { compatText } = slot.definition;
  if (reader.program.mode === 'compat' && typeof output === 'number' && compatText !== undefined) {
    return readForSdk(slot, output, compatText(output), reader);
  }
  const text = textOf(slot, output, slot.name, reader.program.mode);
  if (output !== value) noteTransform(slot, value, text, reader);
  return readText(slot, text, slot.name, reader);
}

/** A number that the reference SDK writes in a way of its own. */
function readForSdk(slot: Slot, value: number, text: string | null, reader: Reader): string | null {
  const from = pythonText(value);
  if (text !== null && text !== from) {
    note(reader, { slot: slot.index, input: slot.name, kind: 'rounded', from, to: text });
  }
  return text;
}

/** For the reference SDK a text is a list of its characters. */
function listOf(value: unknown, { program }: Reader): unknown {
  return program.mode === 'compat' && typeof value === 'string' ? [...value] : value;
}

function readList(slot: Slot, given: unknown, value: unknown, reader: Reader): string | null {
  if (!Array.isArray(value)) throw badInput(slot.name, 'is no list');
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

/** The value as the schema gives it. */
function parsed(slot: Slot, { schema, guard, anyString }: Reading, value: unknown): unknown {
  if ((anyString && typeof value === 'string') || guard?.(value)) return value;
  const result = safeParse(schema, value);
  if (result.success) return result.data;
  const { message, path } = result.error.issues[0]!;
  const help = slot.list && typeof value === 'string' ? 'give a list of texts' : undefined;
  throw badInput(slot.name + path.map((key) => `[${anyText(key)}]`).join(''), message, help);
}

function textOf(slot: Slot, value: unknown, path: string, mode: Mode): string {
  if (typeof value === 'string') {
    if (mode === 'default' && slot.definition.decimal === true && !DECIMAL.test(value)) {
      throw badInput(path, `${quotedShort(value)} is no plain decimal number`, 'such as 4200 or 4200.50');
    }
    return value;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw badInput(path, `${value} is no number to write`);
  if (typeof value === 'number' || typeof value === 'bigint') {
    return mode === 'compat' ? pythonText(value) : plainDigits(value);
  }
  if (typeof value === 'boolean') return String(value);
  throw badInput(path, 'is neither a text nor a number nor a boolean');
}

/** The text after the declared normalisations, when it can be written. */
function readText(slot: Slot, given: string, path: string, reader: Reader): string {
  const { item } = slot.reading[reader.program.mode];
  let text = given;
  for (const kind of slot.normalise) {
    const changed = normalised(text, kind);
    if (changed !== text) note(reader, { slot: slot.index, input: path, kind, from: text, to: changed });
    text = changed;
  }
  const refusal = slot.definition.refuse?.(text, reader.program.mode === 'compat', given) ?? null;
  if (refusal !== null) throw new EncodeError({ path, ...refusal });
  if (isPlain(text, item)) return text;
  if (reader.program.mode === 'compat') {
    if (text === '' || (reader.program.pureSlots[slot.index] && isBlankToPython(text))) return '';
    if (reader.program.lenient) return checkedLeniently(text, path);
  }
  if (item && text.includes(',')) {
    const help = slot.list ? 'a comma would make two of it; give them as two' : 'it stands in a list';
    throw new EncodeError({ code: 'list-separator', path, message: 'holds a ","', help });
  }
  return checkedValue(text, path);
}

/** Even where all else passes, no value adds a field, and all can be written as UTF-8. */
function checkedLeniently(text: string, path: string): string {
  if (text.includes('|')) return checkedValue(text, path);
  if (/\p{Surrogate}/u.test(text)) throw badInput(path, 'holds half of a surrogate pair');
  return text;
}

/** A schema of a user's own may change what it is given. */
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
  const refusal: Refusal = { code: 'bad-input', message, help };
  return new EncodeError({ path, ...refusal });
}
