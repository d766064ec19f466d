/**
 * Token tables of ACCP for moo: tolerant of anything, where the grammar is strict. Highlighting and the finder come from
 * them; the grammar has the last word on what a frame is.
 */

/** A frame, or what somebody meant as one, in pieces. `open` and `close` are all brackets. */
export const frameTokens = {
  agent: /@[A-Za-z0-9_-]+(?=>)/,
  intent: /(?<=>)[A-Za-z]+/,
  operation: /(?<=:)[A-Za-z0-9_]+(?=\{)/,
  mention: /@[A-Za-z0-9_-]+(?::[A-Za-z0-9_]+)?/,
  ref: /\$[A-Za-z0-9_.]+/,
  key: /[A-Za-z0-9_]+(?=:)/,
  // A number or keyword only where nothing of the lexeme follows.
  number: /-?[0-9]+(?:\.[0-9]+)?(?![!-#%-+\--9;-=?A-Z\\^-z])/,
  boolean: /(?:true|false)(?![!-#%-+\--9;-=?A-Z\\^-z])/,
  null: '~',
  escape: /\\[@>:{}[\]|$,~\\]/,
  open: ['{', '['],
  close: ['}', ']'],
  separator: ['|', ',', ':', '>', '@', '$'],
  text: /[!-#%-+\--9;-=?A-Z^-z]+/,
  invalid: { match: /[\ud800-\udbff][\udc00-\udfff]|[\s\S]/, lineBreaks: true },
};

/**
 * Any text around frames. An `opening` is an agent, the arrow and a word with a colon or brace behind it. It is no e-mail
 * address: what stands right before it is no word, unless it is the end of an escape (`\n`) or of a terminal's colour code.
 * JSON may write the at sign and the arrow as escapes.
 */
export const frameProseTokens = {
  opening:
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with one
    /(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=(?:\x1b|\\u001[bB])\[[0-9;]*m))(?:@|\\u0040)[^\s@>:{}[\]|$,~\\"'`<(/]*(?:>|\\u003[eE])[A-Za-z0-9_-]+[:{]/,
  escape: /\\./,
  quote: '"',
  newline: { match: '\n', lineBreaks: true },
  rest: { fallback: true as const },
};
