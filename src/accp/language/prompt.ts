/** What to tell a model, so that it writes frames and nothing else. For Node only, like `language.ts`. */
import type { Encoding } from '../../tokens/load-counter.js';
import { choiceOf, type ModelPrompt, promptOf } from '../../tokens/prompt.js';
import { INTENTS } from '../vocabulary.js';
import { type AccpLanguageOptions, type Field, type Narrowing, resolveNarrowing, type ValueType } from './narrowing.js';
import { frameExamples } from './samples.js';

export type { ModelPrompt } from '../../tokens/prompt.js';

export interface FramePromptOptions extends AccpLanguageOptions {
  /** What the length is counted in. @default 'o200k_base' */
  readonly encoding?: Encoding | undefined;
}

/**
 * The shortest instruction that makes a model write the frames that the options allow. It says what the options leave to be
 * said: rules that no allowed frame can break are left out, and examples are made to the options.
 *
 * Source: draft-benzing-accp-00, section 3.1.
 *
 * @throws TypeError on an option that is none, and on a value that cannot stand in a frame
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

/** The only word, or a placeholder. */
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
  const told = fields.map((field) => {
    const { key, spellings, optional } = field;
    const what = spellings?.length === 1 ? [] : [valueNames(field)];
    if (optional) what.push('may be left out');
    return what.length === 0 ? key : `${key} (${what.join('; ')})`;
  });
  return `only and in this order: ${told.join(', ')}.`;
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

/** About values, as far as the fields leave them open. */
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
