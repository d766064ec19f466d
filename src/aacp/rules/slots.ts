/** Slots: the parts of a rule that are filled with values of an instruction. */

import { quotedShort } from '../../text/visible.js';
import { RulesError, type RuleWorkflow } from './rule.js';

/** The kinds of slots. `period` is a month; `text` is any text. */
export const SLOT_KINDS = [
  'period',
  'quarter',
  'date',
  'id',
  'amount',
  'name',
  'email',
  'list',
  'number',
  'text',
] as const;

/** The kind of a slot. */
export type SlotKind = (typeof SLOT_KINDS)[number];

/** A slot of a phrase: `{period}`, `{supplier:name}`. */
export interface PhraseSlot {
  readonly name: string;
  readonly kind: SlotKind;
}

/** A slot of a packet or of an input: `{period}`, `{amount.value}`. An amount is written to two fields, so its slots have a part. */
export interface TemplateSlot {
  readonly name: string;
  readonly part: 'value' | 'currency' | null;
}

const PHRASE_SLOT = /^([a-z][a-z0-9_]*)(?::([a-z]+))?$/;
const TEMPLATE_SLOT = /^([a-z][a-z0-9_]*)(?:\.(value|currency))?$/;

/**
 * Splits a phrase into words and slots. `{supplier:name}` is a slot with a name and a kind; in `{period}`, the kind is also the name.
 *
 * @throws RulesError with code `bad-slot`
 */
export function readPhrase(phrase: string): readonly (string | PhraseSlot)[] {
  return readBraces(phrase, (inside) => {
    const [, name, kind = name] = PHRASE_SLOT.exec(inside) ?? [];
    const known = SLOT_KINDS.find((one) => one === kind);
    return name === undefined || known === undefined ? null : { name, kind: known };
  });
}

/** Splits a packet, or an input of a step, into text and slots. @throws RulesError with code `bad-slot` */
export function readTemplate(template: string): readonly (string | TemplateSlot)[] {
  return readBraces(template, (inside) => {
    const [, name, part = null] = TEMPLATE_SLOT.exec(inside) ?? [];
    return name === undefined ? null : { name, part: part as TemplateSlot['part'] };
  });
}

export function slotsOf<T extends object>(parts: readonly (string | T)[]): readonly T[] {
  return parts.filter((part) => typeof part !== 'string') as readonly T[];
}

export function fillTemplate(parts: readonly (string | TemplateSlot)[], fill: (slot: TemplateSlot) => string): string {
  return parts.map((part) => (typeof part === 'string' ? part : fill(part))).join('');
}

function readBraces<T extends object>(text: string, slotOf: (inside: string) => T | null): readonly (string | T)[] {
  const parts: (string | T)[] = [];
  let at = 0;
  while (at < text.length) {
    const ahead = text.slice(at).search(/[{}]/);
    const open = ahead < 0 ? text.length : at + ahead;
    if (open > at) parts.push(text.slice(at, open));
    if (open === text.length) break;
    const close = text[open] === '{' ? text.indexOf('}', open) : -1;
    const slot = close < 0 ? null : slotOf(text.slice(open + 1, close));
    if (slot === null) throw badSlot(text, open, close);
    parts.push(slot);
    at = close + 1;
  }
  return parts;
}

function badSlot(text: string, open: number, close: number): RulesError {
  const end = close < 0 ? open + 1 : close + 1;
  return new RulesError({
    code: 'bad-slot',
    message: `${quotedShort(text.slice(open, end))} is not a slot.`,
    text,
    span: { start: open, end },
    help: `write {name:kind}, or {kind} alone, in phrases, and {name}, {name.value} or {name.currency} in packets; the kinds are ${SLOT_KINDS.join(', ')}`,
  });
}

/** The kinds of slots by name. */
export type Slots = ReadonlyMap<string, SlotKind>;

/** The inputs of a step by name. The object has no prototype. */
export type StepInputs = Readonly<Record<string, string | readonly string[]>>;

/** Returns the slots in the inputs of a step. @throws RulesError with code `bad-slot` */
export function inputSlots({ args }: RuleWorkflow): readonly TemplateSlot[] {
  const texts: readonly string[] = Object.values(args).flat();
  return texts.flatMap((text) => slotsOf(readTemplate(text)));
}

/** Fills the inputs of a step. The value of a slot of kind `list` is split at its commas. @throws RulesError with code `bad-slot` */
export function fillInputs({ args }: RuleWorkflow, slots: Slots, fill: (slot: TemplateSlot) => string): StepInputs {
  const filled: Record<string, string | readonly string[]> = Object.create(null);
  for (const [input, value] of Object.entries(args)) {
    if (typeof value === 'string') filled[input] = fillInput(value, slots, fill);
    else filled[input] = value.map((item) => fillTemplate(readTemplate(item), fill));
  }
  return filled;
}

function fillInput(text: string, slots: Slots, fill: (slot: TemplateSlot) => string): string | readonly string[] {
  const parts = readTemplate(text);
  const [only] = parts;
  const filled = fillTemplate(parts, fill);
  const isList = parts.length === 1 && typeof only === 'object' && slots.get(only.name) === 'list';
  return isList ? filled.split(',') : filled;
}
