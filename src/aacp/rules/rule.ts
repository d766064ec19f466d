/** Rules: instructions that are known in advance, with their packets. */

import { type ErrorDetails, PegwireError } from '../../text/errors.js';
import { isRecord } from '../../text/guards.js';
import { wrongType } from '../../text/issue-message.js';

/**
 * The code of a `RulesError`.
 *
 * - `bad-rules`: the source is not JSON, or neither a list of rules nor `{ "rules": [...] }`.
 * - `bad-slot`: braces in a phrase or a packet do not contain a slot.
 * - `hash-mismatch`: the file does not have the expected SHA-256.
 * - `rules-unavailable`: the file or the URL cannot be read.
 * - `rules-too-large`: the file is larger than `maxBytes`.
 */
export type RulesErrorCode = 'bad-rules' | 'bad-slot' | 'hash-mismatch' | 'rules-unavailable' | 'rules-too-large';

/** The error thrown when rules cannot be loaded. */
export class RulesError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'RulesError';
  declare readonly code: RulesErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: RulesErrorCode; readonly message: string },
    options: { readonly cause?: unknown } = {},
  ) {
    super(details, options);
  }
}

/** A rule in the reference format, with two additions of pegwire: `phrases` and `workflow`. */
export interface Rule {
  /** The id of the rule, unique in its library: lower-case letters, digits and "-". */
  readonly id: string;
  /** The name of the rule. */
  readonly name: string;
  /** The purpose of the rule. */
  readonly description: string;
  /** The TASK of the packet. */
  readonly task: string;
  /** The DOM of the packet. */
  readonly domain: string;
  /** The packet. If there are `phrases`, it may contain slots: `period:{period}`. */
  readonly packet: string;
  /** Keywords for the search. */
  readonly tags: readonly string[];
  /** The version of the rule. */
  readonly version: string;
  /** The origin of the rule. */
  readonly source: string;
  /**
   * Instructions that the rule matches, with slots in braces: `retrieve the salary records for {period}`. A rule without phrases is matched by
   * its name, alone or after the verb of its TASK: `fetch customer profile`.
   */
  readonly phrases: readonly string[];
  /** The workflow step that makes the packet instead, with slots as inputs; `null` if there is none. */
  readonly workflow: RuleWorkflow | null;
}

/** A reference to a workflow step. */
export interface RuleWorkflow {
  /** The name of the encoder: `PayrollEncoder`. */
  readonly encoder: string;
  /** The name of the step: `fetch_employees`. */
  readonly method: string;
  /** The inputs by name. Strings may contain slots. */
  readonly args: Readonly<Record<string, string | readonly string[]>>;
}

/** A rule as files contain it. Other members are ignored. */
export interface RuleSource extends Omit<Rule, 'domain' | 'phrases' | 'workflow'> {
  readonly dom: string;
  readonly phrases?: readonly string[] | undefined;
  readonly workflow?: RuleWorkflow | null | undefined;
}

/** Limits in UTF-16 code units. */
const MAX_PHRASE = 500;
const MAX_PACKET = 10_000;
const MAX_TEXT = 2000;
const MAX_WORD = 100;
const MAX_ITEMS = 100;

type Fault = (place: string, message: string) => void;

/** Returns whether a value has the shape of a rule, and reports its faults. */
export function isRuleSource(value: unknown, fault: Fault): value is RuleSource {
  if (!isRecord(value)) {
    fault('', 'must be an object');
    return false;
  }
  let isGood = true;
  const failing: Fault = (place, message) => {
    isGood = false;
    fault(place, message);
  };
  const own = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
  checkText(own('id'), 'id', 1, 200, failing);
  if (typeof own('id') === 'string' && !/^[a-z0-9-]*$/.test(String(own('id')))) {
    failing('id', 'must consist of lower-case letters, digits and "-"');
  }
  checkText(own('name'), 'name', 1, MAX_TEXT, failing);
  for (const name of ['description', 'version', 'source']) checkText(own(name), name, 0, MAX_TEXT, failing);
  for (const name of ['task', 'dom']) checkText(own(name), name, 1, MAX_WORD, failing);
  checkText(own('packet'), 'packet', 1, MAX_PACKET, failing);
  checkList(own('tags'), 'tags', MAX_WORD, failing);
  if (own('phrases') !== undefined) checkList(own('phrases'), 'phrases', MAX_PHRASE, failing);
  const workflow = own('workflow') ?? null;
  if (workflow !== null) checkWorkflow(workflow, failing);
  return isGood;
}

function checkText(value: unknown, place: string, least: number, most: number, fault: Fault): void {
  if (typeof value !== 'string') fault(place, wrongType('string', value));
  else if (value.length < least) fault(place, 'must be a non-empty string');
  else if (value.length > most) fault(place, `must have at most ${most} characters`);
}

function checkList(value: unknown, place: string, most: number, fault: Fault): void {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) {
    fault(place, `must be a list of at most ${MAX_ITEMS} strings`);
    return;
  }
  for (const [index, item] of value.entries()) checkText(item, `${place}[${index}]`, 1, most, fault);
}

function checkWorkflow(value: unknown, fault: Fault): void {
  if (!isRecord(value)) {
    fault('workflow', 'must be an object');
    return;
  }
  checkText(value['encoder'], 'workflow.encoder', 1, MAX_WORD, fault);
  checkText(value['method'], 'workflow.method', 1, MAX_WORD, fault);
  if (!isInputs(value['args'])) fault('workflow.args', 'must be an object of strings and lists of strings');
}

/** Makes a complete rule, and freezes it. */
export function ruleOf({ dom, tags, phrases = [], workflow = null, ...same }: RuleSource): Rule {
  return Object.freeze({
    ...pick(same),
    domain: dom,
    tags: Object.freeze([...tags]),
    phrases: Object.freeze([...phrases]),
    workflow: workflow === null ? null : frozenWorkflow(workflow),
  });
}

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
  if (!isRecord(value)) return false;
  return Object.values(value).every((input) => isText(input) || (Array.isArray(input) && input.every(isText)));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}
