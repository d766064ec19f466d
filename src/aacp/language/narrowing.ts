/** Options that narrow the AACP language, and the Peggy rules that implement them. */

import {
  checkMembers,
  type FieldList,
  fieldList,
  oneOf,
  RuleOverrides,
  wordList,
} from '../../fuzz/grammar/narrowing.js';
import { resolveChoice } from '../../text/limits.js';
import type { Field as ParsedField } from '../ast.js';
import { type Dialect, tryParsePacket } from '../parse.js';
import { PRIORITIES, VERSION } from '../vocabulary.js';

/** What one field may hold. */
export interface FieldOptions {
  /** The values allowed. @default any text that is not empty */
  readonly enum?: readonly string[] | undefined;
  /** Whether it may be left out. @default false */
  readonly optional?: boolean | undefined;
}

/** The packets that are meant: all of a dialect, or those that one agent may send. */
export interface AacpLanguageOptions {
  /** Only `strict` can be narrowed: it is what a writer may emit. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** Values of field 0. @default any */
  readonly tasks?: readonly string[] | undefined;
  /** Values of field 1. @default any */
  readonly domains?: readonly string[] | undefined;
  /** Who may be named by the field `return`. @default anybody */
  readonly returnAgents?: readonly string[] | undefined;
  /**
   * The named fields, each at most once: first `return`, `p` and `aacp`, then the others in the given order. By default,
   * `return` is any agent, `p` is 1, 2 or 3 or left out, and `aacp` is 1.1. @default any fields, in any order
   */
  readonly fields?: FieldList<FieldOptions> | undefined;
}

/** A named field after defaults. */
export interface Field {
  readonly key: string;
  readonly optional: boolean;
  /** Null for any text that is not empty. */
  readonly values: readonly string[] | null;
}

/** Options after defaults; `null` stands for anything. */
export interface Narrowing {
  readonly dialect: Dialect;
  readonly tasks: readonly string[] | null;
  readonly domains: readonly string[] | null;
  readonly fields: readonly Field[] | null;
  /** Other fields may follow the listed ones. */
  readonly others: boolean;
}

const WORD = 'a capital letter, then capital letters, digits, "_" and "-"';
const VALUE = 'a value: text without "|", controls and blanks around';

const OPTIONS = ['dialect', 'tasks', 'domains', 'returnAgents', 'fields'] as const;

/** The fields that begin every packet (draft-mackay-aacp-01, section 4.2). */
export const HEAD: readonly Field[] = [
  { key: 'return', optional: false, values: null },
  { key: 'p', optional: true, values: Object.keys(PRIORITIES) },
  { key: 'aacp', optional: false, values: [VERSION] },
];

export function resolveNarrowing(options: AacpLanguageOptions): Narrowing {
  checkMembers('options', options, OPTIONS);
  const dialect = resolveChoice('dialect', options.dialect, ['strict', 'tolerant']);
  const narrowed = OPTIONS.find((name) => name !== 'dialect' && options[name] !== undefined);
  if (dialect === 'tolerant' && narrowed !== undefined) {
    throw new TypeError(`${narrowed}: the dialect tolerant, which takes any text, cannot be narrowed`);
  }
  const { tasks, domains, returnAgents } = options;
  const agents = wordList('returnAgents', returnAgents, isValue, VALUE);
  const listed = options.fields === undefined ? null : fieldsOf(options.fields);
  if (agents !== null && listed?.some(({ key, values }) => key === 'return' && values !== null)) {
    throw new TypeError('returnAgents and fields.return.enum both say who gets the result; give one of them');
  }
  return {
    dialect,
    tasks: wordList('tasks', tasks, isWord, `a TASK: ${WORD}`),
    domains: wordList('domains', domains, isWord, `a DOM: ${WORD}`),
    fields: agents === null && listed === null ? null : inOrder(listed ?? [], agents),
    others: listed === null,
  };
}

function inOrder(listed: readonly Field[], agents: readonly string[] | null): readonly Field[] {
  const head = HEAD.map((byDefault) => {
    const own = listed.find(({ key }) => key === byDefault.key);
    // Options that a field leaves open have their defaults.
    const field = own === undefined ? byDefault : { ...own, values: own.values ?? byDefault.values };
    return field.key === 'return' && agents !== null ? { ...field, values: agents } : field;
  });
  return [...head, ...listed.filter(({ key }) => !HEAD.some((one) => one.key === key))];
}

function fieldsOf(fields: FieldList<FieldOptions>): readonly Field[] {
  const rules = {
    isKey: (key: string) => soleField(`${key}:`)?.key === key,
    key: 'a key: a lower-case letter, then those, digits and "_"',
    members: ['enum'],
  };
  return fieldList('fields', fields, rules, (given, place) => {
    return { values: wordList(`${place}.enum`, given.enum, isValue, VALUE) };
  });
}

// Words are checked by the grammar: each is parsed in its place.

/** TASK and DOM are words of the same form. */
function isWord(word: string): boolean {
  const result = tryParsePacket(`${word}|A`);
  return result.ok && result.value.task === word;
}

function isValue(word: string): boolean {
  return word !== '' && soleField(`k:${word}`)?.value === word;
}

function soleField(text: string): ParsedField | undefined {
  const result = tryParsePacket(`A|A|${text}`);
  return result.ok && result.value.fields.length === 1 ? result.value.fields[0] : undefined;
}

/** Values without a blank at the end, as rules instead of code, so that other engines can run them. */
const VALUES = `value = filled_value?
filled_value = value_word (" "+ value_word)*
value_word = [^ |\\x00-\\x1F\\x7F]+
`;

/** Returns Peggy rules that replace those of `grammar/aacp.peggy`; `values` are `value`, `filled_value` and `value_word`. */
export function packetOverlay({ dialect, tasks, domains, fields, others }: Narrowing, values = VALUES): string {
  if (dialect === 'tolerant' || (tasks === null && domains === null && fields === null)) return values;
  const overlay = new RuleOverrides();
  const { rules } = overlay;
  const task = overlay.word('allowed_task', tasks, 'task');
  const head = `packet = ${task} "|" ${overlay.word('allowed_domain', domains, 'dom')}`;
  if (fields === null) return `${head} ("|" field)*\n${ended(rules)}${values}`;

  const valueExpression = ({ values }: Field): string =>
    `${values === null ? 'filled_value' : oneOf(values)}${others ? ' counted' : ''}`;
  const { canBeEmpty } = overlay.fields('fields', 'field', fields, '|', valueExpression);
  if (others) {
    const listed = oneOf(fields.map(({ key }) => `${key}:`));
    rules.push(`other_field = !${listed} key ":" filled_value counted`);
  }
  const list = canBeEmpty ? '("|" allowed_fields)?' : '"|" allowed_fields';
  return `${head} ${list}${others ? ' ("|" other_field)*' : ''}\n${ended(rules)}${values}`;
}

function ended(rules: readonly string[]): string {
  return rules.map((rule) => `${rule}\n`).join('');
}
