/** Reading an instruction for comparison. */
import type { Analysis } from './analysis.js';
import { partsOf } from './parts.js';
import { structureOf } from './structure.js';

/** @returns `null` for a text that is too long, or that says nothing */
export function analyse(instruction: string): Analysis | null {
  const parts = partsOf(instruction);
  if (parts === null) return null;
  const analysis = structureOf(parts);
  return analysis.contents.length + analysis.actions.length + analysis.slots.length === 0 ? null : analysis;
}
