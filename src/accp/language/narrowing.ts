/** The options of a narrowed ACCP language, and the Peggy rules for them. */

import {
  checkMembers,
  type FieldList,
  fieldList,
  oneOf,
  RuleOverrides,
  wordList,
} from '../../fuzz/grammar/narrowing.js';
import { PrintError } from '../../text/errors.js';
import { DEFAULT_LIMITS, resolveChoice } from '../../text/limits.js';
import { anyText, quotedShort } from '../../text/visible.js';
import type { Frame, Value } from '../ast.js';
import { type Dialect, tryParseFrame } from '../parse.js';
import { printFrame } from '../print.js';

const VALUE_TYPES = ['any', 'string', 'integer', 'decimal', 'boolean', 'null', 'array', 'map', 'ref'] as const;

/** A kind of value (draft-benzing-accp-00, section 3.1.1); `any` is all of them. */
export type ValueType = (typeof VALUE_TYPES)[number];

/** The constraints of one parameter. */
export interface FieldOptions {
  /** The kind of value, or several of them. @default 'any' */
  readonly type?: ValueType | readonly ValueType[] | undefined;
  /** The allowed values, instead of types. */
  readonly enum?: readonly (string | number | boolean | null)[] | undefined;
  /** If true, the parameter may be absent. @default false */
  readonly optional?: boolean | undefined;
}

/** The frames that a language allows. */
export interface AccpLanguageOptions {
  /** The dialect. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** The allowed senders. @default any */
  readonly agents?: readonly string[] | undefined;
  /** The allowed intents. @default any */
  readonly intents?: readonly string[] | undefined;
  /** The allowed operations. @default any */
  readonly operations?: readonly string[] | undefined;
  /** The parameters of the payload, in this order and each at most once. @default any */
  readonly fields?: FieldList<FieldOptions> | undefined;
  /** The metadata block: its presence, or its fields, as in `fields`. @default 'optional' */
  readonly metadata?: 'none' | 'optional' | 'required' | FieldList<FieldOptions> | undefined;
  /** The deepest nesting of arrays and maps in one value, 0 to 5. @default 5 */
  readonly maxDepth?: number | undefined;
}

export interface Field {
  readonly key: string;
  readonly optional: boolean;
  readonly types: readonly ValueType[];
  /** The allowed texts, as written in a frame; null if the types decide. */
  readonly spellings: readonly string[] | null;
}

/** The options after defaults. Null allows anything. */
export interface Narrowing {
  readonly dialect: Dialect;
  readonly agents: readonly string[] | null;
  readonly intents: readonly string[] | null;
  readonly operations: readonly string[] | null;
  readonly payload: readonly Field[] | null;
  readonly metadata: { readonly use: 'none' | 'optional' | 'required'; readonly fields: readonly Field[] | null };
  readonly maxDepth: number;
}

const OPTIONS = ['dialect', 'agents', 'intents', 'operations', 'fields', 'metadata', 'maxDepth'] as const;

/** Fills in the defaults. Throws TypeError with the option and the value if a frame cannot contain a value. */
export function resolveNarrowing(options: AccpLanguageOptions): Narrowing {
  checkMembers('options', options, OPTIONS);
  const dialect = resolveChoice('dialect', options.dialect, ['strict', 'lenient']);
  const maxDepth = options.maxDepth ?? DEFAULT_LIMITS.maxDepth;
  if (!Number.isInteger(maxDepth) || maxDepth < 0 || maxDepth > DEFAULT_LIMITS.maxDepth) {
    throw new TypeError(`maxDepth must be an integer from 0 to ${DEFAULT_LIMITS.maxDepth}; got ${String(maxDepth)}`);
  }
  const { agents, intents, operations, fields } = options;
  const context = { dialect, maxDepth };
  const isAgent = (word: string): boolean => frameOf(`@${word}>a:a{}`)?.agent === word;
  const isIntent = (word: string): boolean => frameOf(`@a>${word}:a{}`)?.intent === word;
  const isOperation = (word: string): boolean => frameOf(`@a>a:${word}{}`)?.operation === word;
  return {
    ...context,
    agents: wordList('agents', agents, isAgent, 'an agent id: letters, digits, "-" and "_"'),
    intents: wordList('intents', intents, isIntent, 'an intent: letters'),
    operations: wordList('operations', operations, isOperation, 'an operation: letters, digits and "_"'),
    payload: fields === undefined ? null : fieldsOf('fields', fields, context),
    metadata: metadataOf(options.metadata ?? 'optional', context),
  };
}

type Context = Pick<Narrowing, 'dialect' | 'maxDepth'>;

function metadataOf(metadata: NonNullable<AccpLanguageOptions['metadata']>, context: Context): Narrowing['metadata'] {
  if (typeof metadata === 'string') {
    // `resolveChoice` defaults to its first choice.
    return { use: resolveChoice('metadata', metadata, ['optional', 'none', 'required']), fields: null };
  }
  const fields = fieldsOf('metadata', metadata, context);
  if (fields.length === 0) return { use: 'none', fields: null };
  return { use: fields.every(({ optional }) => optional) ? 'optional' : 'required', fields };
}

function fieldsOf(option: string, fields: FieldList<FieldOptions>, context: Context): readonly Field[] {
  const rules = { isKey, key: 'a key: letters, digits and "_"', members: ['type', 'enum'] };
  return fieldList(option, fields, rules, (given, place) => {
    if (given.enum === undefined) return { types: typesOf(place, given.type, context), spellings: null };
    if (given.type !== undefined) throw new TypeError(`${place} has both a type and an enum; use one of them`);
    return spellingsOf(`${place}.enum`, given.enum, context.dialect);
  });
}

function typesOf(place: string, given: FieldOptions['type'], { maxDepth }: Context): readonly ValueType[] {
  const types = given === undefined || typeof given === 'string' ? [given] : given;
  if (!Array.isArray(types) || types.length === 0) throw new TypeError(`${place}.type must contain at least one type`);
  const named = (types as readonly (ValueType | undefined)[]).map((type) =>
    resolveChoice(`${place}.type`, type, VALUE_TYPES),
  );
  const nesting = named.find((type) => type === 'array' || type === 'map');
  if (nesting !== undefined && maxDepth === 0) {
    throw new TypeError(`${place}.type: ${nesting} needs a maxDepth of at least 1`);
  }
  return named.includes('any') ? ['any'] : VALUE_TYPES.filter((type) => named.includes(type));
}

function spellingsOf(
  place: string,
  values: NonNullable<FieldOptions['enum']>,
  dialect: Dialect,
): Pick<Field, 'types' | 'spellings'> {
  if (!Array.isArray(values) || values.length === 0) throw new TypeError(`${place} must contain at least one value`);
  const nodes = (values as NonNullable<FieldOptions['enum']>).map((value) => nodeOf(place, value));
  const spellings = nodes.flatMap((node) => {
    const spelling = spelled(place, node);
    // The lenient dialect also accepts a mention without escapes.
    const mention = node.kind === 'string' && isMention(node.value, dialect) ? [node.value] : [];
    return [spelling, ...mention];
  });
  return {
    types: VALUE_TYPES.filter((type) => nodes.some(({ kind }) => kind === type)),
    spellings: [...new Set(spellings)],
  };
}

function nodeOf(place: string, value: unknown): Value {
  if (typeof value === 'string') return { kind: 'string', value };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (value === null) return { kind: 'null' };
  if (typeof value === 'number')
    return Number.isInteger(value) ? { kind: 'integer', value } : { kind: 'decimal', value };
  throw new TypeError(`${place}: ${quotedShort(anyText(value))} is not a string, number, boolean or null`);
}

function spelled(place: string, node: Value): string {
  const frame: Frame = { ...EMPTY, payload: [{ key: 'v', value: node }] };
  try {
    const text = printFrame(frame).slice('@a>a:a{v:'.length, -'}'.length);
    // The canonical form rounds decimals to six places, which changes this value.
    if (node.kind !== 'decimal' || Number(text) === node.value) return text;
    throw new TypeError(`${place}: ${node.value} has more than six decimal places`);
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    const shown = node.kind === 'string' ? quotedShort(node.value) : anyText('value' in node ? node.value : node.kind);
    throw new TypeError(`${place}: ${shown} cannot be written: ${thrown.message.replace(/^payload\.v: /, '')}`);
  }
}

const EMPTY: Frame = { kind: 'frame', agent: 'a', intent: 'a', operation: 'a', payload: [], metadata: null };

function isMention(text: string, dialect: Dialect): boolean {
  if (!text.startsWith('@')) return false;
  const payload = frameOf(`@a>a:a{v:${text}}`, dialect)?.payload;
  const value = payload?.length === 1 ? payload[0]!.value : undefined;
  return value?.kind === 'string' && value.value === text;
}

function isKey(word: string): boolean {
  const payload = frameOf(`@a>a:a{${word}:1}`)?.payload;
  return payload?.length === 1 && payload[0]!.key === word;
}

function frameOf(text: string, dialect?: Dialect): Frame | undefined {
  const result = tryParseFrame(text, { dialect });
  return result.ok ? result.value : undefined;
}

/** Returns Peggy rules that narrow the grammar, or undefined if it needs none. The grammar's own `maxDepth` bounds the nesting. */
export function frameOverlay(narrowing: Narrowing): string | undefined {
  const { agents, intents, operations, payload, metadata, dialect } = narrowing;
  const isFree = agents === null && intents === null && operations === null && payload === null;
  if (isFree && metadata.use === 'optional' && metadata.fields === null) return undefined;

  const overlay = new RuleOverrides();
  // New rules: the grammar's rules are also used elsewhere, as in mentions.
  const agent = overlay.word('allowed_agent', agents, 'agent_id');
  const intent = overlay.word('allowed_intent', intents, 'intent');
  const operation = overlay.word('allowed_operation', operations, 'operation');

  const lists = [payload, metadata.use === 'none' ? [] : metadata.fields];
  const isCounted = lists.some((fields) => fields === null || fields.some(holdsList));
  const value = (field: Field): string =>
    `${valueExpression(field, dialect === 'lenient')}${isCounted ? ' counted' : ''}`;

  let body = 'payload?';
  if (payload !== null) {
    const listed = payload.length === 0 ? null : overlay.fields('payload', 'payload', payload, '|', value);
    body = listed === null ? '' : `${listed.name}${listed.canBeEmpty ? '?' : ''}`;
  }
  let tail = '';
  if (metadata.use !== 'none') {
    let inside = 'metadata';
    if (metadata.fields !== null) {
      inside = `("[" ${overlay.fields('metadata', 'metadata', metadata.fields, ',', value).name} "]")`;
    }
    tail = metadata.use === 'optional' ? `${inside}?` : inside;
  }
  const frame = `frame = "@" ${agent} ">" ${intent} ":" ${operation} "{" ${body} "}" ${tail}`;
  const { rules } = overlay;
  const used = Object.entries(HELPERS).filter(([name]) => rules.some((rule) => new RegExp(`\\b${name}\\b`).test(rule)));
  return [frame, ...rules, ...used.map(([name, rule]) => `${name} = ${rule}`)]
    .map((rule) => `${rule.trimEnd()}\n`)
    .join('');
}

/** Auxiliary rules for fields, with the predicates of the rules of the grammar, so that the limits are the same. */
const HELPERS: Readonly<Record<string, string>> = {
  integer_only:
    'start:here "-"? digits:here [0-9]+ point:here end_of_lexeme &{ return limitDigits(start, digits, point, offset()); }',
  decimal_only:
    'start:here "-"? digits:here [0-9]+ point:here "." [0-9]+ end_of_lexeme &{ return limitDigits(start, digits, point, offset()); }',
  // Without the limit on digits, so that an export can compute the rest: a number of any length is not text.
  string_only: '!(("true" / "false" / "-"? [0-9]+ ("." [0-9]+)?) end_of_lexeme) lexeme',
  // Parameters count towards the limit on items where a frame can hold lists of any length.
  counted: '&{ return count(offset()); }',
};

function holdsList({ types }: Field): boolean {
  return types.some((type) => type === 'any' || type === 'array' || type === 'map');
}

function valueExpression({ types, spellings }: Field, lenient: boolean): string {
  if (spellings !== null) return oneOf(spellings);
  if (types.includes('any')) return 'value';
  const has = (type: Field['types'][number]): boolean => types.includes(type);
  // In the grammar's order: bracketed and signed values, keywords and numbers, other text.
  const alternatives: string[] = [];
  for (const type of ['array', 'map', 'ref', 'null'] as const) if (has(type)) alternatives.push(type);
  if (has('string') && lenient) alternatives.push('mention');
  if (has('string') && has('boolean') && has('integer') && has('decimal')) {
    alternatives.push('typed_literal');
  } else {
    if (has('boolean')) alternatives.push('boolean');
    if (has('integer') && has('decimal')) alternatives.push('number');
    else if (has('integer')) alternatives.push('integer_only');
    else if (has('decimal')) alternatives.push('decimal_only');
    if (has('string')) alternatives.push('string_only');
  }
  return `(${alternatives.join(' / ')})`;
}
