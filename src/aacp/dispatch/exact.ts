import type { Packet } from '../ast.js';
import { lowerAscii } from '../vocabulary.js';

/**
 * The reason why a text is not exactly one packet.
 *
 * - `several-lines`: the text has more than one line.
 * - `hidden-character`: the text has a control character, a character that cannot be seen or that changes the direction of the text, or half
 *   of a character.
 * - `surrounding-text`: other text precedes or follows the packet.
 */
export type ExactReason = 'several-lines' | 'hidden-character' | 'surrounding-text';

const LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/;
/** Without the joiners of scripts, and the variants of emoji, which texts of people contain. */
const HIDDEN = /(?!\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
const OUTER_BLANK = /^\s|\s$/;
/** A TASK or DOM of any script: unknown ones are not rejected (section 5.1), but prose is not a word. */
const WORD = /^[\p{L}\p{M}\p{N}_.-]*$/u;
/** Fields whose values are single words, so that text after the packet is found. */
const WORD_KEYS: ReadonlySet<string> = new Set(['aacp', 'p']);

/**
 * Returns why a text that arrived alone is not exactly one packet; `null` if it is. The draft accepts any TASK and any version, so prose around
 * a packet is valid by its rules. Pass `null` for a packet that is not valid. Source: draft-mackay-aacp-01, section 15 (packet injection).
 */
export function exactFault(text: string, packet: Packet | null): ExactReason | null {
  if (LINE_END.test(text)) return 'several-lines';
  if (HIDDEN.test(text)) return 'hidden-character';
  if (packet === null) return null;
  const { task, domain, fields } = packet;
  const words = [task, domain, ...fields.filter(({ key }) => WORD_KEYS.has(lowerAscii(key))).map(({ value }) => value)];
  return OUTER_BLANK.test(text) || !words.every((word) => WORD.test(word.trim())) ? 'surrounding-text' : null;
}
