/** The tokens of a moo table: for each state, its patterns in the order in which moo tries them. */

import moo from 'moo';

type TokenRules = Readonly<Record<string, unknown>>;

/** The states of a lexer. A table with one state is `{ states: { main: rules }, start: 'main' }`. */
export interface TokenTable {
  readonly states: Readonly<Record<string, TokenRules>>;
  /** The state in which a line begins. */
  readonly start: string;
}

/** One pattern of a state. It matches where the previous token ended, and never matches the empty text. */
export interface LexerRule {
  /** The token; null for one character that no rule of the table matches. */
  readonly token: string | null;
  /** A JavaScript pattern for the flag `m`. It does not capture. */
  readonly source: string;
  /** The state after the token; null for the same state. */
  readonly next: string | null;
}

export interface LexerState {
  readonly name: string;
  /** `true` if the patterns require the flag `u`. */
  readonly unicode: boolean;
  readonly rules: readonly LexerRule[];
}

interface Entry {
  readonly token: string;
  /** Literals, the longest first, then patterns. */
  readonly match: readonly (string | RegExp)[];
  readonly next: string | null;
  readonly isError: boolean;
  readonly isFallback: boolean;
}

/** An entry, or the name of a state whose entries are included. */
type Item = Entry | { readonly include: string };

/**
 * Reads a moo table.
 *
 * @throws TypeError if the start state is missing, or the table uses a feature that editors do not have
 * @throws Error from moo if the table is invalid
 */
export function readTokenTable({ states, start }: TokenTable): readonly LexerState[] {
  if (start === '$all' || !Object.hasOwn(states, start)) throw new TypeError(`The table has no state "${start}"`);
  // moo reports all other faults of a table. It removes `$all` from the object that it gets.
  moo.states({ ...(states as Readonly<Record<string, moo.Rules>>) }, start);
  const { $all, ...named } = states;
  const items = new Map(Object.entries(named).map(([name, rules]) => [name, itemsOf(rules)]));
  const everywhere = $all === undefined ? [] : itemsOf($all);
  return [...items.keys()].map((name) =>
    stateOf(name, entriesOf([{ include: name }, ...everywhere], items, new Set())),
  );
}

function itemsOf(rules: TokenRules): readonly Item[] {
  return Object.entries(rules).flatMap(([name, rule]): readonly Item[] => {
    const parts: readonly unknown[] = [rule].flat();
    if (name === 'include') return parts.map((include) => ({ include: String(include) }));
    // The properties between objects in a list form one entry.
    const groups: unknown[][] = [];
    for (const part of parts) {
      const last = groups.at(-1);
      if (isPattern(part) && last !== undefined && isPattern(last[0])) last.push(part);
      else groups.push([part]);
    }
    return groups.map((group) => entryOf(name, isPattern(group[0]) ? { match: group } : (group[0] as object)));
  });
}

function isPattern(part: unknown): part is string | RegExp {
  return typeof part === 'string' || part instanceof RegExp;
}

function entryOf(token: string, rule: object): Entry {
  const { match, next, push, pop, type, error, fallback } = rule as Record<string, unknown>;
  if (push || pop)
    throw new TypeError(`The token "${token}" uses a stack of states (push or pop), which is not supported`);
  if (typeof type === 'function')
    throw new TypeError(`The type of the token "${token}" is a function, which is not supported`);
  const patterns = (match === undefined ? [] : [match]).flat().filter(isPattern);
  const literals = patterns.filter((pattern) => typeof pattern === 'string').sort((a, b) => b.length - a.length);
  return {
    token,
    match: [...literals, ...patterns.filter((pattern) => typeof pattern !== 'string')],
    next: typeof next === 'string' ? next : null,
    isError: error === true,
    isFallback: fallback === true,
  };
}

function entriesOf(
  items: readonly Item[],
  states: ReadonlyMap<string, readonly Item[]>,
  included: Set<string>,
): readonly Entry[] {
  return items.flatMap((item) => {
    if (!('include' in item)) return [item];
    if (included.has(item.include)) return [];
    included.add(item.include);
    return entriesOf(states.get(item.include)!, states, included);
  });
}

function stateOf(name: string, entries: readonly Entry[]): LexerState {
  const { fast, rest } = fastOnesFirst(entries);
  const rules = [...fast, ...rest].map(({ token, match, next }): LexerRule => {
    return { token, source: union(match), next: next === name ? null : next };
  });
  const unicode = entries.some(({ match }) => match.some((pattern) => pattern instanceof RegExp && pattern.unicode));
  // A table may end with a rule of its own for any character.
  if (rules.at(-1)?.source === ANY_CHARACTER) return { name, unicode, rules };
  return { name, unicode, rules: [...rules, lastRule(entries, rules)] };
}

/**
 * moo looks up single-character literals at the beginning of a table before any pattern; of two entries with the same
 * literal, the later one wins. A fallback disables this.
 */
function fastOnesFirst(entries: readonly Entry[]): {
  readonly fast: readonly Entry[];
  readonly rest: readonly Entry[];
} {
  const matching = entries.filter(({ match }) => match.length > 0);
  if (entries.some(({ isFallback }) => isFallback)) return { fast: [], rest: matching };
  const owners = new Map<string, Entry>();
  const rest: Entry[] = [];
  for (const entry of matching) {
    const slow = entry.match.findIndex((pattern) => typeof pattern !== 'string' || pattern.length !== 1);
    const count = rest.length > 0 ? 0 : slow < 0 ? entry.match.length : slow;
    for (const literal of entry.match.slice(0, count)) owners.set(literal as string, entry);
    if (count < entry.match.length) rest.push({ ...entry, match: entry.match.slice(count) });
  }
  const fast = matching.flatMap((entry) => {
    const match = [...owners].filter(([, owner]) => owner === entry).map(([literal]) => literal);
    return match.length > 0 ? [{ ...entry, match }] : [];
  });
  return { fast, rest };
}

/** The rule for the remaining characters: a fallback extends to the next token, an error to the end; otherwise one character is illegal. */
function lastRule(entries: readonly Entry[], rules: readonly LexerRule[]): LexerRule {
  const fallback = entries.find(({ isFallback }) => isFallback);
  if (fallback !== undefined) {
    const ends = [...rules.map(({ source }) => source), '(?![\\s\\S])'].map((source) => `(?:${source})`);
    // Lazy, because a greedy loop over a long text would store a backtracking position for each character.
    return { token: fallback.token, source: `[\\s\\S]+?(?=${ends.join('|')})`, next: null };
  }
  const error = entries.find(({ isError }) => isError);
  if (error !== undefined) return { token: error.token, source: '[\\s\\S]+', next: error.next };
  return { token: null, source: ANY_CHARACTER, next: null };
}

/** A pair of surrogates, or one code unit; with the flag `u`, the second alternative alone does the same. */
const ANY_CHARACTER = '[\\ud800-\\udbff][\\udc00-\\udfff]|[\\s\\S]';

function union(patterns: readonly (string | RegExp)[]): string {
  const literals = patterns.filter((pattern) => typeof pattern === 'string');
  if (literals.length === patterns.length && literals.every(({ length }) => length === 1) && literals.length > 1) {
    return `[${literals.map((literal) => literal.replace(/[\\\]^-]/, '\\$&')).join('')}]`;
  }
  const sources = patterns.map((pattern) =>
    typeof pattern === 'string' ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : pattern.source,
  );
  return sources.length === 1 ? sources[0]! : sources.map((source) => `(?:${source})`).join('|');
}

/** The scope of a token in both vocabularies. */
export interface TokenScope {
  /** A scope by TextMate's naming conventions, without the language suffix. */
  readonly textMate: string;
  /** A tag of `@lezer/highlight`, with modifiers after periods. */
  readonly codeMirror: string;
}

/** Scopes by the token names in `grammar/accp.tokens.ts` and `grammar/aacp.tokens.ts`. A name in both tables means the same. */
export const TOKEN_SCOPES: Readonly<Record<string, TokenScope>> = {
  agent: { textMate: 'entity.name.type.agent', codeMirror: 'typeName' },
  intent: { textMate: 'keyword.control.intent', codeMirror: 'keyword' },
  operation: { textMate: 'entity.name.function.operation', codeMirror: 'variableName.function' },
  mention: { textMate: 'variable.other.mention', codeMirror: 'labelName' },
  ref: { textMate: 'variable.other.reference', codeMirror: 'variableName' },
  key: { textMate: 'entity.other.attribute-name.key', codeMirror: 'propertyName' },
  number: { textMate: 'constant.numeric', codeMirror: 'number' },
  boolean: { textMate: 'constant.language.boolean', codeMirror: 'bool' },
  null: { textMate: 'constant.language.null', codeMirror: 'null' },
  escape: { textMate: 'constant.character.escape', codeMirror: 'escape' },
  open: { textMate: 'punctuation.section.begin', codeMirror: 'bracket' },
  close: { textMate: 'punctuation.section.end', codeMirror: 'bracket' },
  separator: { textMate: 'punctuation.separator', codeMirror: 'separator' },
  text: { textMate: 'string.unquoted', codeMirror: 'string' },
  invalid: { textMate: 'invalid.illegal', codeMirror: 'invalid' },
  task: { textMate: 'keyword.control.task', codeMirror: 'keyword' },
  domain: { textMate: 'entity.name.type.domain', codeMirror: 'typeName' },
  colon: { textMate: 'punctuation.separator.key-value', codeMirror: 'separator' },
  value: { textMate: 'string.unquoted.value', codeMirror: 'string' },
};

/** The scope of a character that no rule of a table matches. */
const ILLEGAL: TokenScope = { textMate: 'invalid.illegal', codeMirror: 'invalid' };

/**
 * Returns the scope of a token; null stands for an illegal character.
 *
 * @throws TypeError if the token has no scope
 */
export function scopeOf(token: string | null, scopes: Readonly<Record<string, TokenScope>>): TokenScope {
  if (token === null) return ILLEGAL;
  const scope = Object.hasOwn(scopes, token) ? scopes[token] : undefined;
  if (scope === undefined) throw new TypeError(`The token "${token}" has no scope; add it to scopes`);
  return scope;
}

/** The highlighting of a language: its tokens, line by line, and their scopes. */
export interface EditorLanguage {
  /** The name for display. */
  readonly name: string;
  /** The identifier in lower case, such as `accp`: the suffix of the TextMate scopes, and the name of the CodeMirror mode. */
  readonly id: string;
  /** File name extensions, without the dot. */
  readonly fileTypes: readonly string[];
  /** The tokens: a moo table. */
  readonly table: TokenTable;
  /** The scope of each token, by its name. */
  readonly scopes: Readonly<Record<string, TokenScope>>;
}
