/** Checks the slots, the packet and the step of a rule. */

import type { Severity } from '../../text/diagnostic.js';
import { PegwireError } from '../../text/errors.js';
import { quoted, quotedShort } from '../../text/visible.js';
import type { ValidationCode } from '../codes.js';
import { validatePacket } from '../validate.js';
import { type Rule, RulesError, type RuleWorkflow } from './rule.js';
import {
  fillInputs,
  fillTemplate,
  inputSlots,
  readPhrase,
  readTemplate,
  type SlotKind,
  type Slots,
  type StepInputs,
  slotsOf,
  type TemplateSlot,
} from './slots.js';

/**
 * The code of a report about a rule: a code of the validator, about the rule's packet with its slots filled, or:
 * - `not-a-rule`: a member is missing, or has the wrong type.
 * - `duplicate-id`: an earlier rule has the same id.
 * - `task-mismatch`, `dom-mismatch`: the packet, or that of the step, has another TASK or DOM than the rule.
 * - `long-packet`: the packet has more than 200 characters (a warning).
 * - `bad-slot`: a slot is malformed, has two kinds, is repeated in a phrase, or is an amount without its two parts.
 * - `unfilled-slot`: a phrase lacks a slot of the packet or of an input, or there is no phrase at all.
 * - `unused-slot`: a slot of a phrase would not be in the packet.
 * - `bare-phrase`: a phrase has fewer than two words besides slots, and would match anything.
 * - `same-phrase`: an earlier rule of the domain has the same phrase (a warning).
 * - `bad-step`: the step does not exist, rejects the inputs, or makes several packets.
 */
export type RuleReportCode =
  | ValidationCode
  | 'not-a-rule'
  | 'duplicate-id'
  | 'task-mismatch'
  | 'dom-mismatch'
  | 'long-packet'
  | 'bad-slot'
  | 'unfilled-slot'
  | 'unused-slot'
  | 'bare-phrase'
  | 'same-phrase'
  | 'bad-step';

/** A report about a rule. A rule with an error is not loaded; a warning has no effect. */
export interface RuleReport {
  /** The index of the rule in the list, from 0. */
  readonly index: number;
  /** The id of the rule; `null` if it has none. */
  readonly id: string | null;
  /** The code of the report. */
  readonly code: RuleReportCode;
  /** `error` if the rule is not loaded. */
  readonly severity: Severity;
  /** The report as a sentence. */
  readonly message: string;
}

/** Reports a finding about the rule that is being checked. */
export type ReportFunction = (code: RuleReportCode, message: string, severity?: Severity) => void;

export interface StepPacket {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
}

/** Encodes a workflow step: `encodeStep` of `pegwire/aacp/encoders`, or a function that knows other workflows. */
export type EncodeStep = (encoder: string, method: string, args: StepInputs) => StepPacket | readonly StepPacket[];

/** The maximum length of a packet by the contribution rules of the reference library. */
const USUAL_LENGTH = 200;

/** Checks a rule. @param encodeStep encodes the step of the rule; `null` to skip this check */
export function checkRule(rule: Rule, encodeStep: EncodeStep | null, report: ReportFunction): void {
  try {
    const isNamed = rule.phrases.length === 0;
    const unfilled = isNamed ? slotWithoutPhrase(rule) : null;
    if (unfilled !== null) {
      report('unfilled-slot', `${unfilled} has no value: the rule has no phrase.`);
      return;
    }
    const slots: Slots = isNamed ? new Map() : checkSlots(rule, report);
    const fill = (slot: TemplateSlot): string => sampleFor(slots, slot);
    const filled = isNamed ? rule.packet : fillTemplate(readTemplate(rule.packet), fill);
    checkPacket(rule, filled, report);
    if (rule.workflow !== null && encodeStep !== null) checkStep(rule, rule.workflow, slots, encodeStep, report);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    report('bad-slot', sentenceOf(error));
  }
}

function checkPacket(rule: Rule, filled: string, report: ReportFunction): void {
  const { packet, errors, warnings } = validatePacket(filled);
  for (const { code, message, severity } of [...errors, ...warnings]) report(code, message, severity);
  if (packet !== null) checkHead(rule, packet.task, packet.domain, 'the packet', report);
  if (rule.packet.length > USUAL_LENGTH) {
    report(
      'long-packet',
      `The packet has ${rule.packet.length} characters; at most ${USUAL_LENGTH} are recommended.`,
      'warning',
    );
  }
}

function checkStep(
  rule: Rule,
  workflow: RuleWorkflow,
  slots: Slots,
  encodeStep: EncodeStep,
  report: ReportFunction,
): void {
  const step = `${workflow.encoder}.${workflow.method}`;
  const inputs = fillInputs(workflow, slots, (slot) => sampleFor(slots, slot));
  try {
    const made = encodeStep(workflow.encoder, workflow.method, inputs);
    if ('packet' in made) checkHead(rule, made.task, made.domain, step, report);
    else report('bad-step', `${step} makes several packets; a rule needs exactly one.`);
  } catch (error) {
    // An encoder of the application may throw anything.
    const message = error instanceof Error ? error.message : 'The step failed.';
    report('bad-step', error instanceof PegwireError ? sentenceOf(error) : message);
  }
}

function checkHead(rule: Rule, task: string, domain: string, what: string, report: ReportFunction): void {
  if (task !== rule.task) {
    report('task-mismatch', `The rule is for ${quotedShort(rule.task)}, but ${what} is ${quotedShort(task)}.`);
  }
  if (domain !== rule.domain) {
    report('dom-mismatch', `The rule is for ${quotedShort(rule.domain)}, but ${what} is for ${quotedShort(domain)}.`);
  }
}

function sentenceOf({ message, help }: PegwireError): string {
  return help === undefined ? message : `${message.replace(/\.$/, '')} (${help}).`;
}

/** The minimum number of words of a phrase besides its slots. With fewer, it would match anything. */
const MIN_WORDS = 2;

/** Checks the slots of a rule. @throws RulesError with code `bad-slot` if braces do not contain a slot */
function checkSlots(rule: Rule, report: ReportFunction): Slots {
  const phrases = rule.phrases.map((phrase) => ({ phrase, parts: readPhrase(phrase) }));
  const slots = new Map<string, SlotKind>();
  for (const { name, kind } of phrases.flatMap(({ parts }) => slotsOf(parts))) {
    const known = slots.get(name) ?? kind;
    if (known !== kind)
      report('bad-slot', `The slot ${name} has the kind ${known} in one phrase and ${kind} in another.`);
    slots.set(name, known);
  }
  const inPacket = slotsOf(readTemplate(rule.packet));
  const inInputs = rule.workflow === null ? [] : inputSlots(rule.workflow);
  // If a step makes the packet, its inputs are filled, and the packet of the rule is an example.
  const sent = rule.workflow === null ? inPacket : inInputs;
  const needed = new Set([...inPacket, ...inInputs].map(({ name }) => name));
  const used = new Set(sent.map(({ name }) => name));
  for (const { phrase, parts } of phrases) {
    const shown = `The phrase ${quoted(phrase)}`;
    const named = slotsOf(parts).map(({ name }) => name);
    const own = new Set(named);
    for (const name of needed) if (!own.has(name)) report('unfilled-slot', `${shown} lacks the slot ${name}.`);
    for (const name of own)
      if (!used.has(name)) report('unused-slot', `${shown} has the slot ${name}, which is not used.`);
    if (own.size < named.length) report('bad-slot', `${shown} has the same slot twice.`);
    const words = parts
      .filter((part) => typeof part === 'string')
      .join(' ')
      .split(/[^\p{L}\p{N}]+/u);
    if (words.filter(Boolean).length < MIN_WORDS) {
      report('bare-phrase', `${shown} has fewer than ${MIN_WORDS} words besides its slots, and would match anything.`);
    }
  }
  checkParts(slots, [...inPacket, ...inInputs], sent, report);
  return slots;
}

/** Returns the first slot of a rule without phrases, or `null`. */
function slotWithoutPhrase({ packet, workflow }: Rule): string | null {
  // Other braces are not slots, and are allowed in a packet like any character.
  const inPacket = /\{[a-z][a-z0-9_]*(?:\.(?:value|currency))?\}/.exec(packet)?.[0];
  if (inPacket !== undefined) return inPacket;
  const [first] = workflow === null ? [] : inputSlots(workflow);
  return first === undefined ? null : `{${first.name}}`;
}

/** Checks that both parts of an amount are used, and that no other slot has parts. */
function checkParts(
  slots: Slots,
  all: readonly TemplateSlot[],
  sent: readonly TemplateSlot[],
  report: ReportFunction,
): void {
  for (const { name, part } of all) {
    const kind = slots.get(name);
    if (kind === undefined || (kind === 'amount') === (part !== null)) continue;
    const why = part === null ? `write an amount as {${name}.value} and {${name}.currency}` : 'only amounts have parts';
    report('bad-slot', `The slot ${name}: ${why}.`);
  }
  for (const [name, kind] of slots) {
    const parts = new Set(sent.filter((slot) => slot.name === name).map(({ part }) => part));
    if (kind === 'amount' && parts.size === 1 && !parts.has(null)) {
      report('unused-slot', `Only the ${[...parts].join('')} of the amount ${name} is used.`);
    }
  }
}

const SAMPLES: Readonly<Record<Exclude<SlotKind, 'amount'>, string>> = {
  period: '2026-05',
  quarter: '2026-Q2',
  date: '2026-05-29',
  id: 'X-1024',
  name: 'Northwind',
  email: 'a.reader@example.org',
  list: 'first,second',
  number: '30',
  text: 'sample',
};

const AMOUNT = { value: '1250.5', currency: 'GBP' } as const;

function sampleFor(slots: Slots, { name, part }: TemplateSlot): string {
  const kind = slots.get(name) ?? 'text';
  return kind === 'amount' ? AMOUNT[part ?? 'value'] : SAMPLES[kind];
}
