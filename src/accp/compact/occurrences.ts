/** Keys and strings of a sample of frames: where they occur, and how often. */
import type { Frame, MapValue, Value } from '../ast.js';
import { OTHER_KIND } from '../plain.js';
import { mayHaveNumber } from '../registry/definition.js';
import { payloadShape, tableOf } from './compact.js';

/** Counts of tokens. */
export interface Costs {
  readonly tokens: (text: string) => number;
  /** Returns the number of tokens that an entry of the registry must save. */
  readonly entryCost: (texts: readonly string[]) => number;
}

/** The keys of a payload, a map, or the rows of a table. */
export interface Occurrence {
  /** `null` for maps and tables. */
  readonly operation: string | null;
  readonly schema: string | null;
  /** Equal for payloads of one message type, and for maps below the same keys of such payloads. */
  readonly place: string;
  /** The keys of maps and tables are sorted. */
  readonly keys: readonly string[];
  /** The number of rows of a table; `null` otherwise. */
  readonly rows: number | null;
}

/** Returns the keys of a payload, and of all maps and tables with more than one. */
export function occurrencesIn({ intent, operation, payload }: Frame): readonly Occurrence[] {
  const { schema, keys } = payloadShape(operation, payload);
  const place = `${intent}:${operation}:${schema ?? ''}`;
  const found: Occurrence[] = [{ operation, schema, place, keys, rows: null }];
  for (const { key, value } of payload) collect(value, `${place}.${key}`, found);
  return found;
}

function collect(value: Value, place: string, found: Occurrence[]): void {
  if (value.kind === 'map') {
    add([value], place, null, found);
    for (const { key, value: inner } of value.entries) collect(inner, `${place}.${key}`, found);
  }
  if (value.kind !== 'array') return;
  const rows = tableOf(value.items)?.rows;
  if (rows === undefined) {
    for (const item of value.items) collect(item, place, found);
    return;
  }
  add(rows, place, rows.length, found);
  for (const { entries } of rows) for (const { key, value: inner } of entries) collect(inner, `${place}.${key}`, found);
}

function add(rows: readonly MapValue[], place: string, count: number | null, found: Occurrence[]): void {
  const keys = [...new Set(rows.flatMap(({ entries }) => entries.map(({ key }) => key)))].sort();
  if (keys.length > 1) found.push({ operation: null, schema: null, place, keys, rows: count });
}

/** The strings of a sample, with the number of times and of messages in which they occur. */
export class TextUses {
  readonly #uses = new Map<string, { count: number; messages: number; last: number }>();
  readonly #secrets = new Set<string>();

  add(text: string, message: number): void {
    let use = this.#uses.get(text);
    if (use === undefined) {
      use = { count: 0, messages: 0, last: -1 };
      this.#uses.set(text, use);
    }
    use.count++;
    if (use.last !== message) use.messages++;
    use.last = message;
  }

  /** Adds the strings of a payload. Those below a key such as `password` are secrets everywhere. */
  addAll({ payload }: Frame, message: number): void {
    const visit = (value: Value, isSecret: boolean): void => {
      if (value.kind === 'string' && isSecret) this.#secrets.add(value.value);
      else if (value.kind === 'string') this.add(value.value, message);
      else if (value.kind === 'array') for (const item of value.items) visit(item, isSecret);
      else if (value.kind === 'map')
        for (const entry of value.entries) visit(entry.value, isSecret || isSecretKey(entry.key));
    };
    // The code of a schema is not a string of the table.
    for (const { key, value } of payload) if (key !== 'schema') visit(value, isSecretKey(key));
  }

  /**
   * Returns the names that save more tokens than they cost, those that save most first.
   *
   * @param least the number of messages in which a name must occur
   * @param savedBy returns the number of tokens that a number saves
   */
  names(least: number, { entryCost }: Costs, savedBy: (text: string, number: number) => number): readonly string[] {
    const names = [...this.#uses].filter(
      ([text, { messages }]) => messages >= least && isListable(text) && !this.#secrets.has(text),
    );
    const ranked = names
      .map(([text, { count }]) => ({ text, count, total: count * savedBy(text, 0) }))
      .sort((a, b) => b.total - a.total || b.count - a.count || (a.text < b.text ? -1 : 1));
    const chosen: string[] = [];
    for (const { text, count } of ranked) {
      if (count * savedBy(text, chosen.length) > entryCost([text])) chosen.push(text);
    }
    return chosen;
  }
}

const SECRET_KEY =
  /pass(?:word|wd|phrase|code)|secret|token|credential|cookie|(?:api|access|private|signing|encryption)_?key|authorization|bearer|signature|^(?:pin|otp|nonce|hash|digest)$/i;

/** Returns `true` if values under a key may be secret. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}

const KEY_PREFIX = /^(?:sk|pk|rk|gh[opsru]|xox[a-z]|akia|eyj|glpat|npm|ssh)[-_.]/i;
const MAX_PIECES = 8;

/** Returns `true` if a string of the table is a name. */
function isListable(text: string): boolean {
  return mayHaveNumber(text) && !OTHER_KIND.test(text) && /[A-Za-z]{2}/.test(text) && isName(text);
}

/** Returns `true` if a text consists of words and short numbers, as values of enumerations do, and is neither an identifier nor a secret. */
export function isName(text: string): boolean {
  const pieces = text.split(/[-_./:+]/);
  return pieces.length <= MAX_PIECES && !KEY_PREFIX.test(text) && pieces.every(isWord);
}

/** Returns `true` if a text is a name with any characters between its words. */
export function isLabel(text: string): boolean {
  const pieces = text.split(/[^A-Za-z0-9]+/).filter((piece) => piece !== '');
  return pieces.length <= MAX_PIECES && !KEY_PREFIX.test(text) && !text.includes('@') && pieces.every(isWord);
}

/** A word with a short number, such as `sprint` or `14`, `v2` or `3d`. */
const WORD = /^(?:[A-Za-z]{1,20}[0-9]{0,2}|[0-9]{1,2}[A-Za-z]{0,2})$/;
const HEXADECIMAL = /^[0-9a-f]{8,}$/i;
/** Letters that are hardly a word. */
const SCRAMBLED = /[b-df-hj-np-tv-xz]{6}|(?:[a-z][A-Z]\w*){4}|[A-Z]{2}[a-z]+[A-Z]/;

function isWord(piece: string): boolean {
  return WORD.test(piece) && !HEXADECIMAL.test(piece) && !SCRAMBLED.test(piece);
}
