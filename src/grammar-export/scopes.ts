/** What the tokens of both protocols are to an editor: a kind of thing that its themes have a colour for. */

/** A token in the two vocabularies. */
export interface TokenScope {
  /** A scope by TextMate's naming conventions, without the language at its end. */
  readonly textMate: string;
  /** A tag of `@lezer/highlight`, with modifiers behind periods. */
  readonly codeMirror: string;
}

/** By the names in `grammar/accp.tokens.ts` and `grammar/aacp.tokens.ts`; a name that both have means the same. */
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

/** Of a character that no rule of a table matches. */
export const ILLEGAL: TokenScope = { textMate: 'invalid.illegal', codeMirror: 'invalid' };

/**
 * The scope of a token; `null` stands for a character that is none.
 *
 * @throws TypeError when the scopes have none for it
 */
export function scopeOf(token: string | null, scopes: Readonly<Record<string, TokenScope>>): TokenScope {
  if (token === null) return ILLEGAL;
  const scope = Object.hasOwn(scopes, token) ? scopes[token] : undefined;
  if (scope === undefined) throw new TypeError(`There is no scope for the token "${token}"`);
  return scope;
}
