/** Lines in pieces: those that moo finds, which every editor should find. */
import fc from 'fast-check';
import moo from 'moo';
import { aacpEditor } from '../../src/aacp/language/language.js';
import { accpEditor } from '../../src/accp/language/language.js';
import type { TokenTable } from '../../src/grammar-export/token-table.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';

/** A stretch of a line, in UTF-16 code units, and its kind. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** The pieces that moo finds in each of the lines. `kindOf` converts its token names to those of an editor. */
export function mooPieces(
  { states, start }: TokenTable,
  lines: readonly string[],
  kindOf: (token: string) => string,
): readonly (readonly Piece[])[] {
  const lexer = moo.states({ ...states } as Record<string, moo.Rules>, start);
  return lines.map((line) =>
    [...lexer.reset(line)].map(({ type, text, offset }) => ({
      start: offset,
      end: offset + text.length,
      kind: kindOf(type!),
    })),
  );
}

/** The lines of a text, as editors split them. */
export function linesOf(text: string): readonly string[] {
  return text.split(/\r\n?|\n/);
}

/** The test data of the two protocols. */
export const LANGUAGES = [
  {
    ...accpEditor,
    valid: fc.oneof(frameTexts('strict'), frameTexts('lenient')),
    mutants: fc.oneof(frameMutants('strict'), frameMutants('lenient')),
  },
  {
    ...aacpEditor,
    valid: fc.oneof(packetTexts('strict'), packetTexts('tolerant')),
    mutants: fc.oneof(packetMutants('strict'), packetMutants('tolerant')),
  },
];
