import peggy from 'peggy';
import { type EditorLanguage, type LexerState, readTokenTable, scopeOf } from './token-table.js';

/**
 * Generates the source of an ES module that exports a stream parser named after the language (`export const accp`), for
 * `StreamLanguage.define()` of `@codemirror/language`. The module has no imports. On any single line it finds the
 * tokens that moo finds; each line begins in the table's start state. CodeMirror does not tokenize beyond the first
 * 10,000 characters of a line.
 *
 * @throws TypeError if the table has a token without a scope or a feature that {@link readTokenTable} rejects, or if
 * the language's id is not an identifier
 */
export function codeMirrorMode({ name, id, table, scopes }: EditorLanguage): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(id) || peggy.RESERVED_WORDS.includes(id))
    throw new TypeError(`The id "${id}" must be a JavaScript identifier`);
  const states = readTokenTable(table).map((state) => {
    const rules = state.rules.map(({ token, source, next }) => {
      const tag = text(scopeOf(token, scopes).codeMirror);
      return `    [${literal(source, state)}, ${tag}, ${next === null ? 'null' : text(next)}],\n`;
    });
    return `  [${text(state.name)}, [\n${rules.join('')}  ]],\n`;
  });
  return `\
// ${line(name)} for CodeMirror 6, generated from the token table by pegwire: do not edit.
//
//     import { StreamLanguage } from '@codemirror/language';
//     import { ${id} } from './${id}.js';
//
//     const extensions = [StreamLanguage.define(${id})];

// For each state what is tried, first to last: a pattern, the tag of its token, and the state after it.
const STATES = new Map([
${states.join('')}]);

export const ${id} = {
  name: ${text(id)},
  // Tokens that touch are different tokens, even where they have the same tag.
  mergeTokens: false,
  startState: () => ({ current: ${text(table.start)} }),
  copyState: ({ current }) => ({ current }),
  token(stream, state) {
    if (stream.sol()) state.current = ${text(table.start)};
    for (const [pattern, tag, next] of STATES.get(state.current)) {
      pattern.lastIndex = stream.pos;
      if (!pattern.test(stream.string)) continue;
      stream.pos = pattern.lastIndex;
      if (next !== null) state.current = next;
      return tag;
    }
    // Not reached: the last pattern of a state matches any character.
    stream.next();
    return null;
  },
};
`;
}

/** A pattern as source code, in ASCII. */
function literal(source: string, { unicode }: LexerState): string {
  const flags = unicode ? 'muy' : 'my';
  // The RegExp constructor escapes characters that cannot stand between slashes.
  const plain = new RegExp(source, flags).source.replace(unicode ? /\\?[^ -~]|\\./gsu : /\\?[^ -~]|\\./gs, (piece) => {
    const character = piece.replace(/^\\(?=[^ -~])/s, '');
    if (/^[ -~]/.test(character)) return piece;
    return unicode ? `\\u{${character.codePointAt(0)!.toString(16)}}` : unitEscape(character);
  });
  return `/${plain}/${flags}`;
}

function unitEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function text(value: string): string {
  const escaped = value.replace(/[\\']/g, '\\$&').replace(/[^ -~]/g, unitEscape);
  return `'${escaped}'`;
}

function line(value: string): string {
  return value.replace(/[^ -~]+/g, ' ');
}
