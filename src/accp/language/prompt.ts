/** Instructions that make a model write frames only. */

import type { Encoding } from '../../tokens/counter.js';
import { choiceOf, type ModelPrompt, promptOf } from '../../tokens/prompt.js';
import { INTENTS } from '../vocabulary.js';
import { type AccpLanguageOptions, type Field, type Narrowing, resolveNarrowing, type ValueType } from './narrowing.js';

export type { ModelPrompt } from '../../tokens/prompt.js';

/** Options of {@link framePrompt}. */
export interface FramePromptOptions extends AccpLanguageOptions {
  /** The encoding by which tokens are counted. @default 'o200k_base' */
  readonly encoding?: Encoding | undefined;
}

/**
 * Returns the shortest instruction that makes a model write the frames that the options allow. Rules that no allowed frame can break
 * are left out, and the examples fit the options.
 *
 * Source: draft-benzing-accp-00, section 3.1.
 *
 * @throws TypeError if an option is invalid or a frame cannot contain a value
 * @example
 * const { text, tokens } = await framePrompt({ agents: ['planner'], intents: ['req'], fields: { q: { type: 'string' } } });
 */
export async function framePrompt({ encoding, ...options }: FramePromptOptions = {}): Promise<ModelPrompt> {
  const narrowing = resolveNarrowing(options);
  const rules = [
    'Reply with one ACCP frame only: one line, no spaces, no quotes, no code fence.',
    shape(narrowing),
    ...nameRules(narrowing),
    ...listRules(narrowing),
    ...valueRules(narrowing),
  ];
  return promptOf(rules, frameExamples(narrowing), encoding);
}

function shape({ agents, intents, operations, payload, metadata }: Narrowing): string {
  const head = `@${sole(agents, 'AGENT')}>${sole(intents, 'INTENT')}:${sole(operations, 'OPERATION')}`;
  const body = payload === null ? 'key:value|key:value' : pairs(payload, '|');
  const inside = metadata.fields === null ? 'key:value,key:value' : pairs(metadata.fields, ',');
  return `${head}{${body}}${metadata.use === 'none' ? '' : `[${inside}]`}`;
}

function sole(words: readonly string[] | null, placeholder: string): string {
  return words?.length === 1 ? words[0]! : placeholder;
}

function pairs(fields: readonly Field[], separator: string): string {
  return fields.map(({ key, spellings }) => `${key}:${sole(spellings, 'value')}`).join(separator);
}

function nameRules({ agents, intents, operations, payload, metadata }: Narrowing): readonly string[] {
  const rules: string[] = [];
  if (agents === null) rules.push('AGENT: letters, digits, - or _.');
  else if (agents.length > 1) rules.push(`AGENT: ${choiceOf(agents)}.`);
  if (intents === null) rules.push(`INTENT: letters, such as ${choiceOf(Object.keys(INTENTS))}.`);
  else if (intents.length > 1) rules.push(`INTENT: ${choiceOf(intents)}.`);
  const hasKeys = payload === null || (metadata.use !== 'none' && metadata.fields === null);
  const words = [...(operations === null ? ['OPERATION'] : []), ...(hasKeys ? ['key'] : [])].join(', ');
  if (operations !== null && operations.length > 1) rules.push(`OPERATION: ${choiceOf(operations)}.`);
  if (words !== '') rules.push(`${words}: letters, digits or _.`);
  return rules;
}

function listRules({ payload, metadata }: Narrowing): readonly string[] {
  const rules: string[] = [];
  if (payload === null) rules.push('{} may be empty.');
  else if (payload.length > 0) rules.push(`In {}, ${keyRule(payload)}`);
  if (metadata.fields !== null) rules.push(`In [], ${keyRule(metadata.fields)}`);
  if (metadata.use === 'none') rules.push('Nothing after the }.');
  else if (metadata.use === 'optional') rules.push('The [] at the end may be left out, but not be empty.');
  else if (metadata.fields === null) rules.push('The [] at the end is never empty.');
  return rules;
}

function keyRule(fields: readonly Field[]): string {
  const descriptions = fields.map((field) => {
    const { key, spellings, optional } = field;
    const what = spellings?.length === 1 ? [] : [valueNames(field)];
    if (optional) what.push('may be left out');
    return what.length === 0 ? key : `${key} (${what.join('; ')})`;
  });
  return `only and in this order: ${descriptions.join(', ')}.`;
}

const NAMES: Readonly<Record<ValueType, string>> = {
  any: 'any value',
  string: 'text',
  integer: 'integer like 42',
  decimal: 'decimal like 2.0',
  boolean: 'true or false',
  null: '~ for null',
  array: '[value,value]',
  map: '{key:value,key:value}',
  ref: 'reference like $a.b',
};

function valueNames({ types, spellings }: Field): string {
  return choiceOf(spellings ?? types.map((type) => NAMES[type]));
}

function valueRules({ payload, metadata, maxDepth, dialect }: Narrowing): readonly string[] {
  const lists = [payload, metadata.use === 'none' ? [] : metadata.fields];
  const types = new Set(lists.flatMap((fields) => (fields === null ? ['any' as const] : fields.flatMap(openTypes))));
  const nests = maxDepth > 0 && (types.has('any') || types.has('array') || types.has('map'));
  const isOpen = nests || types.has('any');
  const rules: string[] = [];
  if (isOpen) {
    const kinds = ['text', 'integer', 'decimal', 'true', 'false', NAMES.null, NAMES.ref];
    if (lenient(dialect)) kinds.push('@AGENT', '@AGENT:OPERATION');
    if (nests) kinds.push(NAMES.array, NAMES.map);
    rules.push(`value: ${choiceOf(kinds)}.`);
  }
  if (nests) {
    rules.push(maxDepth === 1 ? 'No [] or {} inside a value of [] or {}.' : `Values nest at most ${maxDepth} deep.`);
    if (lenient(dialect)) rules.push('In [] an item may be key:text.');
  } else if (!isOpen && types.has('string') && lenient(dialect)) {
    rules.push('Text may be @AGENT or @AGENT:OPERATION.');
  }
  if (nests || lists.includes(null)) rules.push('No key twice in one list.');
  if (isOpen || types.has('string')) {
    rules.push(
      'Text is visible ASCII, never empty, with _ for spaces. In text write \\ before each of @ > : { } [ ] | $ , ~ \\ and before nothing else.',
      'Text cannot be just a number, true or false.',
    );
  }
  return rules;
}

function lenient(dialect: Narrowing['dialect']): boolean {
  return dialect === 'lenient';
}

function openTypes({ types, spellings }: Field): readonly ValueType[] {
  return spellings === null ? types : [];
}

/** Sample values as written in a frame; the escaped ones come first, as they teach most. */
const SAMPLES: Readonly<Record<ValueType, readonly string[]>> = {
  any: ['m1', '42', 'https\\://a.io/x'],
  string: ['https\\://a.io/x', 'impl_auth', 'v1.2'],
  integer: ['3', '42'],
  decimal: ['2.5', '-0.1'],
  boolean: ['true', 'false'],
  null: ['~'],
  array: ['[a,2.5]', '[]'],
  map: ['{k:a,n:2}', '{}'],
  ref: ['$warm.ckpt_1', '$x'],
};

const AGENTS = ['planner', 'research'];
const SAMPLE_INTENTS = ['req', 'done'];
const OPERATIONS = ['schedule', 'analyze'];
const METADATA = 'mid:m1,seq:1,ts:1714000000';

/** Returns a frame with all allowed parts and, if different, a short one with the last of the allowed words. */
export function frameExamples(narrowing: Narrowing): readonly string[] {
  return [...new Set([example(narrowing, 0), example(narrowing, 1)])];
}

function example(
  { agents, intents, operations, payload, metadata, maxDepth, dialect }: Narrowing,
  variant: 0 | 1,
): string {
  const word = (words: readonly string[] | null, free: readonly string[]): string => ends(words ?? free, variant);
  const head = `@${word(agents, AGENTS)}>${word(intents, SAMPLE_INTENTS)}:${word(operations, OPERATIONS)}`;
  const body = payload === null ? freePayload(variant, maxDepth, dialect) : params(payload, variant).join('|');
  const pairs = metadata.fields === null ? METADATA : params(metadata.fields, variant).join(',');
  const isThere = metadata.use === 'required' || (metadata.use === 'optional' && variant === 0);
  return `${head}{${body}}${isThere ? `[${pairs}]` : ''}`;
}

function freePayload(variant: 0 | 1, maxDepth: number, dialect: Narrowing['dialect']): string {
  if (variant === 1) return `who:${dialect === 'lenient' ? '@dev:plan' : '\\@dev'}|ok:true|src:$warm.ckpt_1|note:~`;
  const list = ['', '|tags:[a,2.5]'][maxDepth] ?? '|tags:[a,{n:2.5}]';
  return `task:impl_auth|at:12\\:30${list}`;
}

function params(fields: readonly Field[], variant: 0 | 1): readonly string[] {
  const shown = variant === 0 ? fields : fields.filter(({ optional }) => !optional);
  return shown.map(({ key, types, spellings }, index) => {
    if (spellings !== null) return `${key}:${ends(spellings, variant)}`;
    const samples = SAMPLES[ends(types, variant)];
    return `${key}:${samples[(index + variant) % samples.length]!}`;
  });
}

function ends<T>(list: readonly T[], variant: 0 | 1): T {
  return variant === 0 ? list[0]! : list.at(-1)!;
}
