/** Whether a rule does what it says. */
import { PegwireError } from '../../text/errors.js';
import { quotedShort } from '../../text/visible.js';
import { validatePacket } from '../validate.js';
import { checkSlots, slotWithoutPhrase } from './check-slots.js';
import { RulesError } from './errors.js';
import { fillInputs, type Slots, type StepInputs } from './inputs.js';
import type { Tell } from './reports.js';
import type { Rule, RuleWorkflow } from './rule.js';
import { sampleFor } from './samples.js';
import { fillTemplate, readTemplate } from './slots.js';

/** One packet of a step, as far as it matters here. */
export interface StepPacket {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
}

/** Makes the packet of a workflow's step: `encodeStep` of `pegwire/aacp/encoders`, or one that knows other workflows. */
export type EncodeStep = (encoder: string, method: string, args: StepInputs) => StepPacket | readonly StepPacket[];

/** The most characters that a packet should have, by the reference library's rules for contributions. */
const USUAL_LENGTH = 200;

/** @param encodeStep `null` where steps are not to be tried */
export function checkRule(rule: Rule, encodeStep: EncodeStep | null, tell: Tell): void {
  try {
    const slots = slotsOfRule(rule, tell);
    if (slots === null) return;
    const filled =
      rule.phrases.length === 0
        ? rule.packet
        : fillTemplate(readTemplate(rule.packet), (slot) => sampleFor(slots, slot));
    checkPacket(rule, filled, tell);
    if (rule.workflow !== null && encodeStep !== null) checkStep(rule, rule.workflow, slots, encodeStep, tell);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    tell('bad-slot', sentenceOf(error));
  }
}

function slotsOfRule(rule: Rule, tell: Tell): Slots | null {
  if (rule.phrases.length > 0) return checkSlots(rule, tell);
  const slot = slotWithoutPhrase(rule);
  if (slot === null) return new Map();
  tell('unfilled-slot', `There is no phrase that says what ${slot} is.`);
  return null;
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
  const made = packetOfStep(workflow, slots, encodeStep);
  if (typeof made === 'string') tell('bad-step', made);
  else if ('packet' in made) checkHead(rule, made.task, made.domain, step, tell);
  else tell('bad-step', `${step} makes several packets; a rule is for one.`);
}

/** What the step makes, or what it has against it. */
function packetOfStep(
  workflow: RuleWorkflow,
  slots: Slots,
  encodeStep: EncodeStep,
): StepPacket | readonly StepPacket[] | string {
  const inputs = fillInputs(workflow, slots, (slot) => sampleFor(slots, slot));
  try {
    return encodeStep(workflow.encoder, workflow.method, inputs);
  } catch (error) {
    if (error instanceof PegwireError) return sentenceOf(error);
    // Encoders of others may throw anything.
    return error instanceof Error ? error.message : 'The step fails.';
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
