import { meaning } from '../../text/ascii.js';
import type { Encoding } from '../../tokens/load-counter.js';
import { choiceOf, type ModelPrompt, promptOf } from '../../tokens/prompt.js';
import { DOMAINS, PRIORITIES, TASKS } from '../vocabulary.js';
import { type AacpLanguageOptions, type Field, HEAD, type Narrowing, resolveNarrowing } from './narrowing.js';

export type { ModelPrompt } from '../../tokens/prompt.js';

/** Options of `packetPrompt`. */
export interface PacketPromptOptions extends AacpLanguageOptions {
  /** The token encoding in which the length of the prompt is measured. @default 'o200k_base' */
  readonly encoding?: Encoding | undefined;
}

/**
 * Returns the shortest prompt that makes a model write the packets that the options allow. If they allow any fields, the prompt requests those
 * that the validator requires. Source: draft-mackay-aacp-01, sections 4 and 5.
 *
 * @throws TypeError if an option is invalid, a value cannot be written in a packet, or the dialect is tolerant
 * @example
 * const { text, tokens } = await packetPrompt({ tasks: ['FETCH'], domains: ['HR'], fields: { res: {} } });
 */
export async function packetPrompt({ encoding, ...options }: PacketPromptOptions = {}): Promise<ModelPrompt> {
  const narrowing = resolveNarrowing(options);
  if (narrowing.dialect !== 'strict')
    throw new TypeError("dialect must be 'strict': packets are written in this dialect");
  const fields = narrowing.fields ?? HEAD;
  const rules = [
    'Reply with one AACP packet only: one line, no quotes, no code fence, no blanks around | or :.',
    shape(narrowing, fields),
    ...nameRules(narrowing),
    ...fieldRules(narrowing, fields),
  ];
  return promptOf(rules, packetExamples(narrowing, fields), encoding);
}

function shape({ tasks, domains, others }: Narrowing, fields: readonly Field[]): string {
  const slots = fields.map(({ key, values }) => `${key}:${sole(values, 'value')}`);
  return [sole(tasks, 'TASK'), sole(domains, 'DOM'), ...slots, ...(others ? ['key:value'] : [])].join('|');
}

function sole(words: readonly string[] | null, placeholder: string): string {
  return words?.length === 1 ? words[0]! : placeholder;
}

function nameRules({ tasks, domains }: Narrowing): readonly string[] {
  // Other words are allowed, but validators warn about them: the prompt names the usual ones.
  const words = { TASK: tasks ?? Object.keys(TASKS), DOM: domains ?? Object.keys(DOMAINS) };
  return Object.entries(words).flatMap(([name, list]) => (list.length > 1 ? [`${name}: ${choiceOf(list)}.`] : []));
}

function fieldRules({ others }: Narrowing, fields: readonly Field[]): readonly string[] {
  const listed = fields.map(({ key, values, optional }) => {
    const notes = [...meaningOf(key, values), ...(optional ? ['may be left out'] : [])];
    return notes.length === 0 ? key : `${key} (${notes.join('; ')})`;
  });
  const rules = [
    `Fields${others ? '' : ', only and'} in this order: ${listed.join(', ')}${others ? ', then any others' : ''}.`,
  ];
  if (others) {
    rules.push(
      'Usual others: res (resource), period, filter, fields, fmt (format).',
      'key: a lower-case letter, then those, digits or _. No key twice.',
    );
  }
  if (others || fields.some(({ values }) => values === null)) {
    rules.push('A value is never empty and has no | and no line break; there are no escapes.');
  }
  return rules;
}

/** Returns explanations of a key beyond its name, and of its values (sections 4.2 and 5.3). */
function meaningOf(key: string, values: readonly string[] | null): readonly string[] {
  if (values === null) return key === 'return' ? ['agent that gets the result'] : [];
  if (values.length === 1) return [];
  const named = key === 'p' ? values.map((value) => [value, ...priorityName(value)].join(' ')) : values;
  return [choiceOf(named)];
}

/** Returns the name of a priority: `critical` for 1. */
function priorityName(value: string): readonly string[] {
  const name = meaning(PRIORITIES, value);
  return name === undefined ? [] : [name.replace(/ priority$/, '')];
}

/** Sample values. Those of section 4 of draft-mackay-aacp-01, if it has any. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  return: ['HR-Agent', 'FIN-Agent'],
  res: ['emp_salary', 'invoices'],
  period: ['2024-08', '2024-Q3'],
  filter: ['status=active', 'dept=ops'],
  fields: ['id,name', 'id'],
  fmt: ['json', 'csv'],
};
const OTHER_SAMPLES = ['two words', 'a:b'];

const SAMPLE_TASKS = ['FETCH', 'LOG'];
const SAMPLE_DOMAINS = ['HR', 'FIN'];
const FREE = ['|res:emp_salary|period:2024-08|filter:status=active', '|actor:HR-Agent|status:review required'];

/** Returns a full packet, and a short one with the last of the words; only one if they are equal. */
export function packetExamples(narrowing: Narrowing, fields: readonly Field[]): readonly string[] {
  return [...new Set([example(narrowing, fields, 0), example(narrowing, fields, 1)])];
}

function example({ tasks, domains, others }: Narrowing, fields: readonly Field[], variant: 0 | 1): string {
  const shown = variant === 0 ? fields : fields.filter(({ optional }) => !optional);
  const slots = shown.map(({ key, values }) => {
    const samples = (Object.hasOwn(SAMPLES, key) && SAMPLES[key]) || OTHER_SAMPLES;
    return `${key}:${ends(values ?? samples, variant)}`;
  });
  const head = [ends(tasks ?? SAMPLE_TASKS, variant), ends(domains ?? SAMPLE_DOMAINS, variant), ...slots].join('|');
  return others ? head + FREE[variant]! : head;
}

function ends<T>(list: readonly T[], variant: 0 | 1): T {
  return variant === 0 ? list[0]! : list.at(-1)!;
}
