/** The shape of a rule in a file: the reference rule format, and what pegwire adds to it. */
import * as z from 'zod';
import type { Rule, RuleWorkflow } from './rule.js';

/** A rule as files have it. What it has beyond this is let be. */
export interface RuleSource {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly task: string;
  readonly dom: string;
  readonly packet: string;
  readonly tags: readonly string[];
  readonly version: string;
  readonly source: string;
  readonly phrases?: readonly string[] | undefined;
  readonly workflow?: RuleWorkflow | null | undefined;
}

/** The longest phrase, in UTF-16 code units. */
const MAX_PHRASE = 500;
/** The longest packet that is looked at; what is longer than it should be is reported far below. */
const MAX_PACKET = 10_000;
/** Longer texts are no names, tags or descriptions; a search would have to read them. */
const MAX_TEXT = 2000;

const text = z.string().max(MAX_TEXT);
const word = z.string().min(1).max(100);

/** By name, looked at apart: zod drops an input of the name `__proto__`. */
const inputs = z.custom<RuleWorkflow['args']>(isInputs, 'expected an object of texts and lists of texts');

export const ruleSchema: z.ZodType<RuleSource> = z.object({
  id: z
    .string()
    .max(200)
    .regex(/^[a-z0-9-]+$/, 'expected lower-case letters, digits and "-"'),
  name: text.min(1),
  description: text,
  task: word,
  dom: word,
  packet: z.string().min(1).max(MAX_PACKET),
  tags: z.array(word).max(100),
  version: text,
  source: text,
  phrases: z.array(z.string().min(1).max(MAX_PHRASE)).max(100).optional(),
  workflow: z.object({ encoder: word, method: word, args: inputs }).nullable().optional(),
});

/** The rule as the rest of the library has it: nothing missing, and nobody can change it. */
export function ruleOf({ dom, tags, phrases = [], workflow = null, ...same }: RuleSource): Rule {
  return Object.freeze({
    ...pick(same),
    domain: dom,
    tags: Object.freeze([...tags]),
    phrases: Object.freeze([...phrases]),
    workflow: workflow === null ? null : frozenWorkflow(workflow),
  });
}

/** The rule as files have it. */
export function sourceOf({ domain, phrases, workflow, ...same }: Rule): RuleSource {
  return {
    ...pick(same),
    dom: domain,
    tags: same.tags,
    ...(phrases.length === 0 ? {} : { phrases }),
    ...(workflow === null ? {} : { workflow }),
  };
}

function pick(rule: Pick<Rule, 'id' | 'name' | 'description' | 'task' | 'packet' | 'version' | 'source'>) {
  const { id, name, description, task, packet, version, source } = rule;
  return { id, name, description, task, packet, version, source };
}

function frozenWorkflow({ encoder, method, args }: RuleWorkflow): RuleWorkflow {
  const own: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, value] of Object.entries(args)) {
    own[name] = typeof value === 'string' ? value : Object.freeze([...value]);
  }
  return Object.freeze({ encoder, method, args: Object.freeze(own) });
}

function isInputs(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((input) => isText(input) || (Array.isArray(input) && input.every(isText)));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}
