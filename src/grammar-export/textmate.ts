import { toOniguruma } from './oniguruma.js';
import { type EditorLanguage, type LexerRule, type LexerState, readTokenTable, scopeOf } from './token-table.js';

type TextMateCaptures = Readonly<Record<string, { readonly name: string }>>;

type TextMateRule =
  | { readonly include: string }
  | { readonly match: string; readonly captures: TextMateCaptures }
  | {
      readonly begin: string;
      readonly beginCaptures: TextMateCaptures;
      readonly while: string;
      readonly patterns: readonly TextMateRule[];
    };

interface TextMateGrammar {
  readonly name: string;
  readonly scopeName: string;
  readonly fileTypes: readonly string[];
  readonly patterns: readonly TextMateRule[];
  readonly repository: Readonly<Record<string, { readonly patterns: readonly TextMateRule[] }>>;
}

/**
 * Generates the TextMate grammar of a language. On any single line it finds the tokens that moo finds, with the scopes
 * of the language; each line begins in the table's start state. Characters that no token matches are `invalid.illegal`.
 * A token cannot begin or end between the halves of a surrogate pair, because Oniguruma reads UTF-8.
 *
 * @throws TypeError if the table has a token without a scope or a feature that {@link readTokenTable} rejects
 * @throws RangeError if a pattern of the table has no equivalent in Oniguruma
 */
export function textMateGrammar({ name, id, fileTypes, table, scopes }: EditorLanguage): TextMateGrammar {
  function ruleOf(group: readonly LexerRule[], state: LexerState): TextMateRule {
    const match = group.map(({ source }) => `(${toOniguruma(source, state.unicode)})`).join('|');
    const captures = Object.fromEntries(
      group.map(({ token }, index) => [index + 1, { name: `${scopeOf(token, scopes).textMate}.${id}` }]),
    );
    const { next } = group[0]!;
    if (next === null) return { match, captures };
    return { begin: match, beginCaptures: captures, while: UP_TO_LINE_END, patterns: [{ include: `#${next}` }] };
  }

  const states = readTokenTable(table).map((state) => {
    const patterns = groupsOf(state).map((group) => ruleOf(group, state));
    return [state.name, { patterns }] as const;
  });
  return {
    name,
    scopeName: `source.${id}`,
    fileTypes,
    patterns: [{ include: `#${table.start}` }],
    repository: Object.fromEntries(states),
  };
}

/**
 * A new state nests in the old one, because TextMate cannot change rules otherwise. This pattern never matches on a
 * later line, so all states end with the line.
 */
const UP_TO_LINE_END = '(?!)';

/**
 * Joins the rules that lead to the same state into one pattern. On its own, `[a-z]+(?=:)` would be tried at every
 * letter of a word and take quadratic time.
 */
function groupsOf({ rules }: LexerState): readonly (readonly LexerRule[])[] {
  const groups: LexerRule[][] = [];
  for (const rule of rules) {
    const last = groups.at(-1);
    if (last?.[0]?.next === rule.next) last.push(rule);
    else groups.push([rule]);
  }
  return groups;
}
