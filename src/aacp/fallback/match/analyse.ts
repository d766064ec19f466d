/** Reading an instruction for comparison. */
import type { Analysis } from './analysis.js';
import { guardsOf } from './guards.js';
import { partsOf } from './parts.js';
import { structureOf } from './structure.js';

/** @returns `null` for a text that is too long, or that says nothing */
export function analyse(instruction: string): Analysis | null {
  const parts = partsOf(instruction);
  if (parts === null) return null;
  const structure = structureOf(parts);
  const { actions, contents, slots } = structure;
  if (contents.length + actions.length + slots.length === 0) return null;
  const guards = guardsOf(
    instruction,
    slots.map(({ slot }) => slot),
  );
  return { ...structure, guards };
}
