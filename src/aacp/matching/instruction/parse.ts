/** Parses instructions. This is the only file that imports the generated parser of instructions. */
import { parse } from '../../../../generated/instruction.js';
import type { InstructionItem } from './ast.js';

/** The maximum length of an instruction that is parsed, in UTF-16 code units. Longer ones are never matched by pattern. */
export const MAX_ANALYSED = 4_000;

/** Parses an instruction. Returns `null` if it is longer than `MAX_ANALYSED`; any other text can be parsed. */
export function parseInstruction(text: string): readonly InstructionItem[] | null {
  if (text.length > MAX_ANALYSED) return null;
  // In a JSON object every text is quoted, so quotes have no meaning. The offsets do not change.
  return parse(/^\s*\{\s*"/.test(text) ? text.replaceAll('"', ' ') : text);
}
