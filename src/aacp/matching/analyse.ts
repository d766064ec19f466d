/** Reading an instruction for comparison. */

import type { Analysis } from './analysis.js';
import { frameOf } from './frame.js';
import { guardsOf, isGrave } from './guards.js';
import { parseInstruction } from './instruction/parse.js';
import { relativeUnitOf } from './instruction/relative-anchor.js';
import { asSentence } from './instruction/structured.js';
import { partsOf } from './parts.js';
import { structureOf } from './structure.js';

/** @returns `null` for a text that is too long, or that says nothing */
export function analyse(instruction: string): Analysis | null {
  const text = asSentence(instruction);
  const items = parseInstruction(text);
  if (items === null) return null;
  const parts = partsOf(items, text);
  const structure = structureOf(parts);
  const { actions, contents, slots } = structure;
  if (contents.length + actions.length + slots.length === 0) return null;
  const guards = guardsOf(text, structure);
  const frame = frameOf(text, parts, structure, isGrave(structure, text), instruction);
  return { ...structure, guards, frame, unit: relativeUnitOf(items, text) };
}
