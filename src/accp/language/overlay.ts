/** The rules of a narrowed ACCP language: what replaces those of `grammar/accp.peggy`. */
import { literal, oneOf, orderedList } from '../../fuzz/grammar/overlay.js';
import type { Field, Narrowing } from './narrowing.js';

/**
 * Rules in Peggy's notation that narrow the grammar; undefined where it stays as it is. The nesting is bounded by the option
 * `maxDepth` of the grammar itself.
 */
export function frameOverlay(narrowing: Narrowing): string | undefined {
  const { agents, intents, operations, payload, metadata, dialect } = narrowing;
  const isFree = agents === null && intents === null && operations === null && payload === null;
  if (isFree && metadata.use === 'optional' && metadata.fields === null) return undefined;

  const rules: string[] = [];
  const word = (name: string, words: readonly string[] | null, free: string): string => {
    if (words === null) return free;
    rules.push(`${name} = ${oneOf(words)}`);
    return name;
  };
  // The rules of the grammar serve elsewhere, too, as in mentions: they stay.
  const agent = word('allowed_agent', agents, 'agent_id');
  const intent = word('allowed_intent', intents, 'intent');
  const operation = word('allowed_operation', operations, 'operation');

  const lists = [payload, metadata.use === 'none' ? [] : metadata.fields];
  const isCounted = lists.some((fields) => fields === null || fields.some(holdsList));
  const list = (name: string, fields: readonly Field[], separator: string): { name: string; canBeEmpty: boolean } => {
    const items = fields.map(({ key, optional }) => ({ rule: `${name}_${key}`, optional }));
    const { expression, canBeEmpty, rules: further } = orderedList(name, items, separator);
    rules.push(`allowed_${name} = ${expression}`, ...further);
    for (const field of fields) {
      const value = valueExpression(field, dialect === 'lenient');
      rules.push(`${name}_${field.key} = ${literal(`${field.key}:`)} ${value}${isCounted ? ' counted' : ''}`);
    }
    return { name: `allowed_${name}`, canBeEmpty };
  };

  let body = 'payload?';
  if (payload !== null) {
    const listed = payload.length === 0 ? null : list('payload', payload, '|');
    body = listed === null ? '' : `${listed.name}${listed.canBeEmpty ? '?' : ''}`;
  }
  let tail = '';
  if (metadata.use !== 'none') {
    const inside = metadata.fields === null ? 'metadata' : `("[" ${list('metadata', metadata.fields, ',').name} "]")`;
    tail = metadata.use === 'optional' ? `${inside}?` : inside;
  }
  const frame = `frame = "@" ${agent} ">" ${intent} ":" ${operation} "{" ${body} "}" ${tail}`;
  const used = Object.entries(HELPERS).filter(([name]) => rules.some((rule) => new RegExp(`\\b${name}\\b`).test(rule)));
  return [frame, ...rules, ...used.map(([name, rule]) => `${name} = ${rule}`)]
    .map((rule) => `${rule.trimEnd()}\n`)
    .join('');
}

/** Rules that fields may need. The predicates are those of the grammar's own rules, for the same limits. */
const HELPERS: Readonly<Record<string, string>> = {
  integer_only:
    'start:here "-"? digits:here [0-9]+ point:here end_of_lexeme &{ return limitDigits(start, digits, point, offset()); }',
  decimal_only:
    'start:here "-"? digits:here [0-9]+ point:here "." [0-9]+ end_of_lexeme &{ return limitDigits(start, digits, point, offset()); }',
  // Written out, without the limit on digits, so that an export can work out what is left: what is a number is no text, however long.
  string_only: '!(("true" / "false" / "-"? [0-9]+ ("." [0-9]+)?) end_of_lexeme) lexeme',
  // Where a frame can hold lists of any length, the parameters count towards the limit on items.
  counted: '&{ return count(offset()); }',
};

function holdsList({ types }: Field): boolean {
  return types.some((type) => type === 'any' || type === 'array' || type === 'map');
}

function valueExpression({ types, spellings }: Field, lenient: boolean): string {
  if (spellings !== null) return oneOf(spellings);
  if (types.includes('any')) return 'value';
  const has = (type: Field['types'][number]): boolean => types.includes(type);
  // In the grammar's order: what is written between brackets or behind a sign, then keywords and numbers, then all other text.
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
