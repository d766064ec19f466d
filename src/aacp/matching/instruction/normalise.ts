/** Instructions as tier 1 compares them (draft-mackay-aacp-01, section 6.3; the draft leaves the normal form open). */
import { sha256Hex } from '../../../text/sha256.js';
import type { RegistryRequest } from '../../registry/registry.js';

/** White space as the reference SDK has it: unlike `\s` with U+001C to U+001F and U+0085, and without the byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space there
const SPACES = /[\t-\r\x1C- \x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+/;

/**
 * Lower case, each stretch of white space one space, none at the ends: instructions with the same normal form are the same
 * instruction. As the reference SDK has it.
 */
export function normaliseInstruction(instruction: string): string {
  return wordsOf(instruction).join(' ');
}

/** The words of the normal form. */
export function wordsOf(instruction: string): readonly string[] {
  return instruction.toLowerCase().split(SPACES).filter(Boolean);
}

/** The name that the reference SDK gives to an instruction: 12 hexadecimal digits. */
export function instructionId(normalised: string): string {
  return digestOf(normalised).slice(0, 12);
}

/** The key of a registry entry: 64 hexadecimal digits over all that makes it another request. */
export function keyOf({ normalised, domain, returnAgent, priority, version }: RegistryRequest): string {
  // As a JSON list: no text can reach into the next one.
  return digestOf(JSON.stringify([normalised, domain, returnAgent, priority, version]));
}

/** SHA-256 of the UTF-8 bytes, as 64 hexadecimal digits. Half surrogate pairs count as U+FFFD. */
export function digestOf(text: string): string {
  return sha256Hex(text);
}
