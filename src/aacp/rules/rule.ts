/** One rule: an instruction that is known beforehand, and the packet for it. */

import { type ErrorDetails, PegwireError } from '../../text/errors.js';
import { isRecord } from '../../text/guards.js';

/**
 * - `bad-rules`: not JSON, or neither a list of rules nor `{ "rules": [...] }`.
 * - `bad-slot`: braces in a phrase or a packet that hold no slot.
 * - `hash-mismatch`: another file than the pinned one.
 * - `rules-unavailable`: the file or the address cannot be read.
 * - `rules-too-large`: more than `maxBytes`.
 */
export type RulesErrorCode = 'bad-rules' | 'bad-slot' | 'hash-mismatch' | 'rules-unavailable' | 'rules-too-large';

/** The rules of a source cannot be read. */
export class RulesError extends PegwireError {
  override readonly name: string = 'RulesError';
  declare readonly code: RulesErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: RulesErrorCode; readonly message: string },
    options: { readonly cause?: unknown } = {},
  ) {
    super(details, options);
  }
}

/** The reference rule format, and what pegwire adds to it (`phrases`, `workflow`). */
export interface Rule {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly task: string;
  readonly domain: string;
  /** A packet; with `phrases` it may hold slots: `period:{period}`. */
  readonly packet: string;
  readonly tags: readonly string[];
  readonly version: string;
  readonly source: string;
  /**
   * Instructions that ask for it, with slots in braces: `retrieve the salary records for {period}`. Without any, its
   * name serves as one, alone or behind the verb of its TASK: `fetch customer profile`.
   */
  readonly phrases: readonly string[];
  /** The step that makes the packet instead, with the slots that are its inputs. */
  readonly workflow: RuleWorkflow | null;
}

export interface RuleWorkflow {
  /** `PayrollEncoder` */
  readonly encoder: string;
  /** `fetch_employees` */
  readonly method: string;
  /** Inputs; a text may hold slots. */
  readonly args: Readonly<Record<string, string | readonly string[]>>;
}

/** A rule as files have it. Further members are ignored. */
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

type Fault = (place: string, expected: string) => void;

/** Whether a value has the shape of a rule; reports what it lacks. */
export function isRuleSource(value: unknown, fault: Fault): value is RuleSource {
  if (!isRecord(value)) {
    fault('', 'expected an object');
    return false;
  }
  let isGood = true;
  const failing: Fault = (place, expected) => {
    isGood = false;
    fault(place, expected);
  };
  const own = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
  checkText(own('id'), 'id', 1, 200, failing);
  if (typeof own('id') === 'string' && !/^[a-z0-9-]*$/.test(String(own('id')))) {
    failing('id', 'expected lower-case letters, digits and "-"');
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
  if (typeof value !== 'string') fault(place, `expected a text, found ${value === null ? 'null' : typeof value}`);
  else if (value.length < least) fault(place, 'expected a text that is not empty');
  else if (value.length > most) fault(place, `expected at most ${most} characters`);
}

function checkList(value: unknown, place: string, most: number, fault: Fault): void {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) {
    fault(place, `expected a list of at most ${MAX_ITEMS} texts`);
    return;
  }
  for (const [index, item] of value.entries()) checkText(item, `${place}[${index}]`, 1, most, fault);
}

function checkWorkflow(value: unknown, fault: Fault): void {
  if (!isRecord(value)) {
    fault('workflow', 'expected an object');
    return;
  }
  checkText(value['encoder'], 'workflow.encoder', 1, MAX_WORD, fault);
  checkText(value['method'], 'workflow.method', 1, MAX_WORD, fault);
  if (!isInputs(value['args'])) fault('workflow.args', 'expected an object of texts and lists of texts');
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
