/** The inputs of a rule's step, and the slots in them. */
import type { RuleWorkflow } from './rule.js';
import { fillTemplate, readTemplate, type SlotKind, slotsOf, type TemplateSlot } from './slots.js';

/** Kinds of slots, by name. */
export type Slots = ReadonlyMap<string, SlotKind>;

/** The inputs of a step, as the encoders take them. No prototype. */
export type StepInputs = Readonly<Record<string, string | readonly string[]>>;

/**
 * The slots of a step's inputs.
 *
 * @throws RulesError with code `bad-slot`
 */
export function inputSlots({ args }: RuleWorkflow): readonly TemplateSlot[] {
  const texts: readonly string[] = Object.values(args).flat();
  return texts.flatMap((text) => slotsOf(readTemplate(text)));
}

/**
 * The inputs of a step, filled. An input that is one slot with a list is that list, with its items between commas.
 *
 * @param slots the kinds of the phrase's slots
 * @param fill the value of a slot
 * @throws RulesError with code `bad-slot`
 */
export function fillInputs({ args }: RuleWorkflow, slots: Slots, fill: (slot: TemplateSlot) => string): StepInputs {
  const filled: Record<string, string | readonly string[]> = Object.create(null);
  for (const [input, value] of Object.entries(args)) {
    filled[input] =
      typeof value === 'string'
        ? fillInput(value, slots, fill)
        : value.map((item) => fillTemplate(readTemplate(item), fill));
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
