/** Writes the values of a rule's slots to packets and to inputs of steps. */
import type { Field, Packet } from '../ast.js';
import { tryParsePacket } from '../parse.js';
import type { Rule, RuleWorkflow } from '../rules/rule.js';
import { fillTemplate, readTemplate, type TemplateSlot } from '../rules/slots.js';
import { givenDigits } from './instruction/renderings.js';
import type { Slot } from './instruction/slots.js';
import type { Refusal } from './match.js';

export interface Captured {
  readonly name: string;
  readonly text: string;
}

/** The separators of the items of a list. "and" within a word is not one. */
const JOINT = /,|(?<![\p{L}\p{N}])and(?![\p{L}\p{N}])|&/u;

/** Encodes a workflow step, as `encodeStep` of `pegwire/aacp/encoders` does. */
export type EncodeStep = (
  encoder: string,
  method: string,
  args: Readonly<Record<string, string | readonly string[]>>,
) => { readonly packet: string } | readonly { readonly packet: string }[];

/** The error thrown if the value of a slot is missing or cannot be written. */
export class SlotFault extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, message: string) {
    super(message);
    this.refusal = refusal;
  }
}

interface RuleValues {
  readonly slots: ReadonlyMap<string, Slot>;
  readonly captured: readonly Captured[];
}

/** Encodes the step of a rule, or fills the packet of the rule. @throws SlotFault; the error of the step */
export function packetOfRule(rule: Rule, values: RuleValues, encodeStep: EncodeStep | undefined): Packet {
  if (rule.workflow !== null && encodeStep !== undefined) return packetOfStep(rule.workflow, values, encodeStep);
  const packet = parsed(rule.packet);
  const fields = packet.fields.map(({ key, value }): Field => ({ key, value: filled(value, values, key) }));
  return { kind: 'packet', task: packet.task, domain: packet.domain, fields };
}

function packetOfStep({ encoder, method, args }: RuleWorkflow, values: RuleValues, encodeStep: EncodeStep): Packet {
  const inputs: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, value] of Object.entries(args)) {
    inputs[name] = typeof value === 'string' ? inputOf(value, values) : value.map((item) => filled(item, values, null));
  }
  const made = encodeStep(encoder, method, inputs);
  if (!('packet' in made)) throw new SlotFault('invalid-packet', 'the step of the rule returns several packets');
  return parsed(made.packet);
}

/** Returns the value of an input. If the input is a single slot with a list, the value is that list. */
function inputOf(template: string, values: RuleValues): string | readonly string[] {
  const [only, second] = readTemplate(template);
  if (typeof only === 'object' && second === undefined) {
    const list = values.captured.find(({ name, text }) => name === only.name && JOINT.test(text));
    if (list !== undefined) return itemsOf(list.text);
  }
  return filled(template, values, null);
}

function itemsOf(list: string): readonly string[] {
  return list
    .split(JOINT)
    .map((item) => item.trim())
    .filter(Boolean);
}

function parsed(text: string): Packet {
  const result = tryParsePacket(text);
  if (!result.ok) throw new SlotFault('invalid-packet', 'the packet of the rule does not parse');
  return result.value;
}

/** Fills a template. @param key the field of the template; `null` for an input of a step, which joins words itself */
function filled(template: string, values: RuleValues, key: string | null): string {
  return fillTemplate(readTemplate(template), (slot) => valueFor(slot, values, key));
}

function valueFor({ name, part }: TemplateSlot, { slots, captured }: RuleValues, key: string | null): string {
  const words = captured.find((one) => one.name === name);
  if (words !== undefined) return itemsOf(words.text).join(',');
  const slot = slots.get(name);
  if (slot === undefined) throw new SlotFault('slot-missing', `the instruction has no ${name}`);
  if (slot.relative) throw new SlotFault('slot-missing', `"${slot.text}" has no year`);
  switch (slot.kind) {
    case 'amount':
      return part === 'currency' ? currencyOf(slot) : digitsOf(slot);
    case 'number':
    case 'terms':
      return digitsOf(slot);
    case 'name':
      return joined(slot.value, key);
    case 'date':
      return dateOf(slot);
    case 'id':
      return slot.text.replace(/^#/, '');
    case 'month':
    case 'quarter':
      return slot.value;
    default:
      return slot.text;
  }
}

function dateOf({ item, value, text }: Slot): string {
  if (item?.kind === 'date' && item.month !== null) return value;
  throw new SlotFault('slot-ambiguous', `"${text}" can mean two different days`);
}

function digitsOf(slot: Slot): string {
  const digits = givenDigits(slot);
  if (digits !== null) return digits;
  throw new SlotFault('slot-ambiguous', `"${slot.text}" can mean two different numbers`);
}

function currencyOf({ currency, text }: Slot): string {
  if (currency !== undefined && /^[A-Z]{3}$/.test(currency)) return currency;
  throw new SlotFault('slot-ambiguous', `the currency of "${text}" is unknown`);
}

/** Joins the words of a name as the workflow encoders do. */
function joined(name: string, key: string | null): string {
  if (key === 'sup' || key === 'party') return name.replaceAll(' ', '-');
  if (key === 'subj' || key === 'flag_msg') return name.replaceAll(' ', '_');
  return name;
}
