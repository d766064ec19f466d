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
 * A code of the validator, about the rule's packet with its slots filled, or:
 * - `not-a-rule`: a member is missing, or of the wrong kind.
 * - `duplicate-id`: an earlier rule has it.
 * - `task-mismatch`, `dom-mismatch`: the packet, or that of the step, has another task or domain than the rule.
 * - `long-packet`: more than 200 characters (a warning).
 * - `bad-slot`: not a slot, of two kinds, twice in a phrase, or an amount without its two parts.
 * - `unfilled-slot`: a phrase lacks a slot of the packet or of an input, or there is no phrase at all.
 * - `unused-slot`: a slot of a phrase would not be in the packet.
 * - `bare-phrase`: fewer than two words beside slots; it would match anything.
 * - `same-phrase`: an earlier rule of the domain has it (a warning).
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

/** One finding. A rule with an error is left out; warnings stop nothing. */
export interface RuleReport {
  /** Where the rule stands in the list, from 0. */
  readonly index: number;
  /** `null` where it has none. */
  readonly id: string | null;
  readonly code: RuleReportCode;
  readonly severity: Severity;
  readonly message: string;
}

/** Reports a finding about the rule that is being checked. */
export type Tell = (code: RuleReportCode, message: string, severity?: Severity) => void;

export interface StepPacket {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
}

/** Makes the packet of a workflow's step: `encodeStep` of `pegwire/aacp/encoders`, or one that knows other workflows. */
export type EncodeStep = (encoder: string, method: string, args: StepInputs) => StepPacket | readonly StepPacket[];

/** The most characters of a packet, by the reference library's rules for contributions. */
const USUAL_LENGTH = 200;

/** @param encodeStep `null` to accept steps untried */
export function checkRule(rule: Rule, encodeStep: EncodeStep | null, tell: Tell): void {
  try {
    const isNamed = rule.phrases.length === 0;
    const unfilled = isNamed ? slotWithoutPhrase(rule) : null;
    if (unfilled !== null) {
      tell('unfilled-slot', `There is no phrase that says what ${unfilled} is.`);
      return;
    }
    const slots: Slots = isNamed ? new Map() : checkSlots(rule, tell);
    const fill = (slot: TemplateSlot): string => sampleFor(slots, slot);
    const filled = isNamed ? rule.packet : fillTemplate(readTemplate(rule.packet), fill);
    checkPacket(rule, filled, tell);
    if (rule.workflow !== null && encodeStep !== null) checkStep(rule, rule.workflow, slots, encodeStep, tell);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    tell('bad-slot', sentenceOf(error));
  }
}

function checkPacket(rule: Rule, filled: string, tell: Tell): void {
  const { packet, errors, warnings } = validatePacket(filled);
  for (const { code, message, severity } of [...errors, ...warnings]) tell(code, message, severity);
  if (packet !== null) checkHead(rule, packet.task, packet.domain, 'the packet', tell);
  if (rule.packet.length > USUAL_LENGTH) {
    tell('long-packet', `The packet has ${rule.packet.length} characters; ${USUAL_LENGTH} are usual.`, 'warning');
  }
}

function checkStep(rule: Rule, workflow: RuleWorkflow, slots: Slots, encodeStep: EncodeStep, tell: Tell): void {
  const step = `${workflow.encoder}.${workflow.method}`;
  const inputs = fillInputs(workflow, slots, (slot) => sampleFor(slots, slot));
  try {
    const made = encodeStep(workflow.encoder, workflow.method, inputs);
    if ('packet' in made) checkHead(rule, made.task, made.domain, step, tell);
    else tell('bad-step', `${step} makes several packets; a rule is for one.`);
  } catch (error) {
    // A host's own encoders may throw anything.
    const message = error instanceof Error ? error.message : 'The step fails.';
    tell('bad-step', error instanceof PegwireError ? sentenceOf(error) : message);
  }
}

function checkHead(rule: Rule, task: string, domain: string, what: string, tell: Tell): void {
  if (task !== rule.task) {
    tell('task-mismatch', `The rule is for ${quotedShort(rule.task)}, but ${what} is ${quotedShort(task)}.`);
  }
  if (domain !== rule.domain) {
    tell('dom-mismatch', `The rule is for ${quotedShort(rule.domain)}, but ${what} is for ${quotedShort(domain)}.`);
  }
}

function sentenceOf({ message, help }: PegwireError): string {
  return help === undefined ? message : `${message.replace(/\.$/, '')} (${help}).`;
}

/** Words that a phrase needs beside its slots: with fewer, it would match anything. */
const FEWEST_WORDS = 2;

/** @throws RulesError with code `bad-slot`, on braces that hold no slot */
function checkSlots(rule: Rule, tell: Tell): Slots {
  const phrases = rule.phrases.map((phrase) => ({ phrase, parts: readPhrase(phrase) }));
  const slots = new Map<string, SlotKind>();
  for (const { name, kind } of phrases.flatMap(({ parts }) => slotsOf(parts))) {
    const known = slots.get(name) ?? kind;
    if (known !== kind) tell('bad-slot', `The slot ${name} is of kind ${known} in one phrase and ${kind} in another.`);
    slots.set(name, known);
  }
  const inPacket = slotsOf(readTemplate(rule.packet));
  const inInputs = rule.workflow === null ? [] : inputSlots(rule.workflow);
  // If a step makes the packet, its inputs count; the rule's own packet is an example.
  const sent = rule.workflow === null ? inPacket : inInputs;
  const needed = new Set([...inPacket, ...inInputs].map(({ name }) => name));
  const used = new Set(sent.map(({ name }) => name));
  for (const { phrase, parts } of phrases) {
    const shown = `The phrase ${quoted(phrase)}`;
    const named = slotsOf(parts).map(({ name }) => name);
    const own = new Set(named);
    for (const name of needed) if (!own.has(name)) tell('unfilled-slot', `${shown} does not say what ${name} is.`);
    for (const name of own) if (!used.has(name)) tell('unused-slot', `${shown} says ${name}, which nothing takes up.`);
    if (own.size < named.length) tell('bad-slot', `${shown} has a slot twice.`);
    const words = parts
      .filter((part) => typeof part === 'string')
      .join(' ')
      .split(/[^\p{L}\p{N}]+/u);
    if (words.filter(Boolean).length < FEWEST_WORDS) {
      tell('bare-phrase', `${shown} has hardly any words but its slots; it would match anything.`);
    }
  }
  checkParts(slots, [...inPacket, ...inInputs], sent, tell);
  return slots;
}

/** The first slot of a rule without phrases; `null` if it has none. */
function slotWithoutPhrase({ packet, workflow }: Rule): string | null {
  // Other braces are no slots, and may stand in a packet like any character.
  const inPacket = /\{[a-z][a-z0-9_]*(?:\.(?:value|currency))?\}/.exec(packet)?.[0];
  if (inPacket !== undefined) return inPacket;
  const [first] = workflow === null ? [] : inputSlots(workflow);
  return first === undefined ? null : `{${first.name}}`;
}

/** An amount is two fields, and both have to be there; nothing else has parts. */
function checkParts(slots: Slots, all: readonly TemplateSlot[], sent: readonly TemplateSlot[], tell: Tell): void {
  for (const { name, part } of all) {
    const kind = slots.get(name);
    if (kind === undefined || (kind === 'amount') === (part !== null)) continue;
    const why = part === null ? `an amount is {${name}.value} and {${name}.currency}` : 'only amounts have parts';
    tell('bad-slot', `The slot ${name}: ${why}.`);
  }
  for (const [name, kind] of slots) {
    const parts = new Set(sent.filter((slot) => slot.name === name).map(({ part }) => part));
    if (kind === 'amount' && parts.size === 1 && !parts.has(null)) {
      tell('unused-slot', `Of the amount ${name}, only the ${[...parts].join('')} is taken up.`);
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
