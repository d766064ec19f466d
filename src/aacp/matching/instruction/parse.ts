/** The only importer of the generated parser of instructions. */
import { parse } from '../../../../generated/instruction.js';
import type { InstructionItem } from './ast.js';

/** The longest instruction that is parsed, in UTF-16 code units. Longer ones are never matched by pattern. */
export const MAX_ANALYSED = 4_000;

/** Parses an instruction. Returns `null` for one beyond `MAX_ANALYSED`; every other text has a reading. */
export function parseInstruction(text: string): readonly InstructionItem[] | null {
  if (text.length > MAX_ANALYSED) return null;
  // In a JSON object every text is quoted, which means nothing. The offsets stay.
  return parse(/^\s*\{\s*"/.test(text) ? text.replaceAll('"', ' ') : text);
}
