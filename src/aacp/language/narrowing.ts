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

/** The values that one field may have. */
export interface FieldOptions {
  /** The allowed values. @default any non-empty text */
  readonly enum?: readonly string[] | undefined;
  /** If true, the field may be omitted. @default false */
  readonly optional?: boolean | undefined;
}

/** The packets of a language: all of a dialect, or those that an agent may send. */
export interface AacpLanguageOptions {
  /** The dialect. Only `strict` can be narrowed. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** The allowed TASK values. @default any */
  readonly tasks?: readonly string[] | undefined;
  /** The allowed DOM values. @default any */
  readonly domains?: readonly string[] | undefined;
  /** The agents that the field `return` may name. @default any */
  readonly returnAgents?: readonly string[] | undefined;
  /**
   * The named fields, each at most once: first `return`, `p` and `aacp`, then the others in the given order. Unless they are listed, `return`
   * is any agent, `p` is 1, 2 or 3 or omitted, and `aacp` is 1.1. @default any fields, in any order
   */
  readonly fields?: FieldList<FieldOptions> | undefined;
}

/** A named field after defaults. */
export interface Field {
  readonly key: string;
  readonly optional: boolean;
  /** The allowed values; `null` for any non-empty text. */
  readonly values: readonly string[] | null;
}

/** Options after defaults. `null` allows any value. */
export interface Narrowing {
  readonly dialect: Dialect;
  readonly tasks: readonly string[] | null;
  readonly domains: readonly string[] | null;
  readonly fields: readonly Field[] | null;
  /** `true` if other fields may follow the listed ones. */
  readonly others: boolean;
}

const WORD = 'a capital letter, then capital letters, digits, "_" and "-"';
const VALUE = 'a value: text without "|", control characters, and blanks at its ends';

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
    throw new TypeError(`${narrowed}: the tolerant dialect accepts any text and cannot be narrowed`);
  }
  const { tasks, domains, returnAgents } = options;
  const agents = wordList('returnAgents', returnAgents, isValue, VALUE);
  const listed = options.fields === undefined ? null : fieldsOf(options.fields);
  if (agents !== null && listed?.some(({ key, values }) => key === 'return' && values !== null)) {
    throw new TypeError('returnAgents and fields.return.enum have the same meaning; pass only one of them');
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
    // Options that are not given for a field have their defaults.
    const field = own === undefined ? byDefault : { ...own, values: own.values ?? byDefault.values };
    return field.key === 'return' && agents !== null ? { ...field, values: agents } : field;
  });
  return [...head, ...listed.filter(({ key }) => !HEAD.some((one) => one.key === key))];
}

function fieldsOf(fields: FieldList<FieldOptions>): readonly Field[] {
  const rules = {
    isKey: (key: string) => soleField(`${key}:`)?.key === key,
    key: 'a key: a lower-case letter, followed by lower-case letters, digits and "_"',
    members: ['enum'],
  };
  return fieldList('fields', fields, rules, (given, place) => {
    return { values: wordList(`${place}.enum`, given.enum, isValue, VALUE) };
  });
}

// Words are checked by the grammar: each is parsed in its position.

/** Returns whether a text is a word, which is the form of both TASK and DOM. */
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

/** Returns Peggy rules that override those of `grammar/aacp.peggy`. `values` defines `value`, `filled_value` and `value_word`. */
export function packetOverrides({ dialect, tasks, domains, fields, others }: Narrowing, values = VALUES): string {
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
