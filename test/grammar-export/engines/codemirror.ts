/** Runs modes for CodeMirror: loads them as modules, and runs them in `@codemirror/language`. */
import { ensureSyntaxTree, type StreamLanguage, type StreamParser } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import type { Piece } from '../pieces.js';

type Tree = ReturnType<StreamLanguage<unknown>['parser']['parse']>;

/** The stream parser that a module exports under a name. */
export async function loadMode(source: string, id: string): Promise<StreamParser<unknown>> {
  const loaded: unknown = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  return (loaded as Readonly<Record<string, StreamParser<unknown>>>)[id]!;
}

/** The tokens of lines without line ends in them. The kind of a piece is its tag. */
export function readLines(language: StreamLanguage<unknown>, lines: readonly string[]): readonly (readonly Piece[])[] {
  return piecesOf(language.parser.parse(lines.join('\n')), lines);
}

/** The same, as in an editor: with a document of these lines. */
export function readDocument(
  language: StreamLanguage<unknown>,
  lines: readonly string[],
): readonly (readonly Piece[])[] {
  const state = EditorState.create({ doc: lines.join('\n'), extensions: [language] });
  const tree = ensureSyntaxTree(state, state.doc.length, 1e6);
  if (tree === null) throw new Error('The document was not read to its end');
  return piecesOf(tree, lines);
}

function piecesOf(tree: Tree, lines: readonly string[]): readonly (readonly Piece[])[] {
  const pieces: Piece[] = [];
  tree.iterate({
    enter: ({ type, from, to }) => {
      if (!type.isTop && type.name !== '') pieces.push({ start: from, end: to, kind: type.name });
    },
  });
  let offset = 0;
  let next = 0;
  return lines.map((line) => {
    const start = offset;
    offset += line.length + 1;
    const first = next;
    while (next < pieces.length && pieces[next]!.start < offset) next++;
    return pieces
      .slice(first, next)
      .map((piece) => ({ start: piece.start - start, end: piece.end - start, kind: piece.kind }));
  });
}
