/** The value of one field. */
import { normalised } from './normalise.js';
import type { FieldPlan, ItemPlan } from './plan.js';

/** What the inputs of one step are, by number. */
export interface Filled {
  /** The texts; `null` for what is not there. */
  readonly texts: readonly (string | null)[];
  /** The values they come from; `undefined` where nothing was given. */
  readonly values: readonly unknown[];
}

/** `null` when the field is left out. */
export function writeField(field: FieldPlan, filled: Filled): string | null {
  if (!holds(field.when, filled)) return null;
  let text: string | null = null;
  for (const item of field.items) {
    const written = writeItem(item, filled);
    if (written !== null) text = text === null ? written : `${text},${written}`;
  }
  return field.pure && text === '' ? null : text;
}

/** `null` when an input of it is not there, or its condition does not hold. */
export function writeItem({ pieces, when }: ItemPlan, filled: Filled): string | null {
  if (!holds(when, filled)) return null;
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const value = filled.texts[piece.slot] ?? null;
    if (value === null) return null;
    text += piece.normalise.reduce(normalised, value);
  }
  return text;
}

/** Whether a condition holds: there is none, or its input is given, and neither `false` nor zero. */
export function holds(slot: number, { texts, values }: Filled): boolean {
  if (slot < 0) return true;
  const value = values[slot];
  if (value === undefined) return texts[slot] !== null && texts[slot] !== 'false';
  return texts[slot] !== null && value !== false && value !== 0;
}
