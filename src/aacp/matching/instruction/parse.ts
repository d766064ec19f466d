/** From text to tree. The only importer of the generated reader of instructions. */
import { parse } from '../../../../generated/instruction.js';
import type { InstructionItem } from './ast.js';

/** Longest instruction that is analysed, in UTF-16 code units. Longer ones are never matched by pattern. */
export const MAX_ANALYSED = 4_000;

/** The items of an instruction, in order; `null` for one beyond `MAX_ANALYSED`. Every other text has a reading. */
export function parseInstruction(text: string): readonly InstructionItem[] | null {
  if (text.length > MAX_ANALYSED) return null;
  // In a JSON object every text has quotes, which say nothing then. Offsets stay.
  return parse(/^\s*\{\s*"/.test(text) ? text.replaceAll('"', ' ') : text);
}
