/** Checks of the options that narrow a language. They often come from a file or a command line, without a type checker. */

import { nearest } from '../../text/suggest.js';
import { anyText, quotedShort } from '../../text/visible.js';

/** An ordered record. Objects move integer-like keys to the front; a list of pairs keeps the order. */
export type FieldList<Field> = Readonly<Record<string, Field>> | Iterable<readonly [key: string, field: Field]>;

interface FieldRules {
  readonly isKey: (key: string) => boolean;
  readonly key: string;
  readonly members: readonly string[];
}

/** Resolves the fields of an ordered record. @throws TypeError if the record, a key or a member is invalid */
export function fieldList<Options extends { readonly optional?: boolean | undefined }, Rest>(
  option: string,
  fields: FieldList<Options>,
  { isKey, key: what, members }: FieldRules,
  resolve: (given: Options, place: string) => Rest,
): readonly ({ readonly key: string; readonly optional: boolean } & Rest)[] {
  return fieldEntries(option, fields).map(([key, given]) => {
    if (!isKey(key)) throw new TypeError(`${option}: ${quotedShort(key)} is not ${what}`);
    const place = `${option}.${key}`;
    checkMembers(place, given, [...members, 'optional']);
    return { key, optional: flag(`${place}.optional`, given.optional), ...resolve(given, place) };
  });
}

function fieldEntries<Field>(option: string, fields: FieldList<Field>): readonly (readonly [string, Field])[] {
  if (typeof fields !== 'object' || fields === null) throw new TypeError(`${option} must be a record of fields`);
  const entries =
    Symbol.iterator in fields ? [...(fields as Iterable<readonly [string, Field]>)] : Object.entries(fields);
  const seen = new Set<string>();
  for (const entry of entries) {
    if (!Array.isArray(entry) || typeof entry[0] !== 'string')
      throw new TypeError(`${option} must be a list of [key, field] pairs`);
    const [key] = entry;
    if (seen.has(key)) throw new TypeError(`${option} has the key ${quotedShort(key)} twice`);
    seen.add(key);
  }
  return entries as readonly (readonly [string, Field])[];
}

/** Checks that an object has only known members. @throws TypeError if it has others */
export function checkMembers(what: string, given: object, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${what} must be an object`);
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    throw new TypeError(
      `${what}: there is no ${quotedShort(name)}${near === undefined ? '' : `; did you mean "${near}"?`}`,
    );
  }
}

/** Checks a list of allowed words. @returns each word once, or null if the option is absent. @throws TypeError if a word is not allowed */
export function wordList(
  option: string,
  words: readonly string[] | undefined,
  isWord: (word: string) => boolean,
  what: string,
): readonly string[] | null {
  if (words === undefined) return null;
  if (!Array.isArray(words)) throw new TypeError(`${option} must be a list`);
  if (words.length === 0) throw new TypeError(`${option} must contain at least one word`);
  for (const word of words as readonly unknown[]) {
    if (typeof word !== 'string' || !isWord(word))
      throw new TypeError(`${option}: ${quotedShort(anyText(word))} is not ${what}`);
  }
  return [...new Set(words)];
}

/** An optional boolean. @throws TypeError if it is not a boolean */
function flag(option: string, value: boolean | undefined): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true;
  throw new TypeError(`${option} must be true or false`);
}

function literal(text: string): string {
  const units = text.replace(/[^ !#-[\]-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units}"`;
}

/** An expression for one of several texts. Longer texts come first, because a choice takes the first alternative that matches. */
export function oneOf(texts: Iterable<string>): string {
  const ordered = [...new Set(texts)].sort((a, b) => b.length - a.length);
  return `(${ordered.map(literal).join(' / ')})`;
}

export class RuleOverrides {
  readonly rules: string[] = [];

  /** Adds a rule for the given words and returns its name; returns the grammar's own rule if all words are allowed. */
  word(name: string, words: readonly string[] | null, free: string): string {
    if (words === null) return free;
    this.rules.push(`${name} = ${oneOf(words)}`);
    return name;
  }

  /** Adds the rule `allowed_NAME` for fields in their order, each at most once, and one rule for each field. */
  fields<Field extends { readonly key: string; readonly optional: boolean }>(
    name: string,
    prefix: string,
    fields: readonly Field[],
    separator: string,
    value: (field: Field) => string,
  ): { readonly name: string; readonly canBeEmpty: boolean } {
    const items = fields.map(({ key, optional }) => ({ rule: `${prefix}_${key}`, optional }));
    const { expression, canBeEmpty, rules } = orderedList(name, items, separator);
    this.rules.push(`allowed_${name} = ${expression}`, ...rules);
    for (const field of fields) {
      this.rules.push(`${prefix}_${field.key} = ${literal(`${field.key}:`)} ${value(field)}`);
    }
    return { name: `allowed_${name}`, canBeEmpty };
  }
}

interface ListItem {
  readonly rule: string;
  readonly optional: boolean;
}

interface OrderedList {
  readonly expression: string;
  readonly canBeEmpty: boolean;
  /** Additional rules that the expression refers to. */
  readonly rules: readonly string[];
}

/**
 * An expression for items in a fixed order, each at most once, with separators. No item may match at the start of the
 * text of another one.
 */
function orderedList(name: string, items: readonly ListItem[], separator: string): OrderedList {
  const between = literal(separator);
  const following = ({ rule, optional }: ListItem): string =>
    optional ? `(${between} ${rule})?` : `${between} ${rule}`;
  const required = items.findIndex(({ optional }) => !optional);
  if (required >= 0) {
    // An item before the first required one is followed by a separator, an item after it is preceded by one.
    const parts = items.map((item, index) => {
      if (index < required) return `(${item.rule} ${between})?`;
      return index === required ? item.rule : following(item);
    });
    return { expression: parts.join(' '), canBeEmpty: false, rules: [] };
  }
  // Any item may come first. The rest is the same whichever one does.
  const after = (index: number): string => (index < items.length ? ` after_${index}_${name}` : '');
  const expression = items.map(({ rule }, index) => `${rule}${after(index + 1)}`).join(' / ');
  const rules = items
    .slice(1)
    .map((item, index) => `after_${index + 1}_${name} = ${following(item)}${after(index + 2)}`);
  return { expression: `(${expression})`, canBeEmpty: true, rules };
}
