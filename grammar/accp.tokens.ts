/** Token tables of ACCP for moo, which tolerate any text. Highlighting and `findFrames` use them; the grammar decides which texts are frames. */

/** The tokens of a frame, or of a text that looks like one. `open` and `close` are all brackets. */
export const frameTokens = {
  agent: /@[A-Za-z0-9_-]+(?=>)/,
  intent: /(?<=>)[A-Za-z]+/,
  operation: /(?<=:)[A-Za-z0-9_]+(?=\{)/,
  mention: /@[A-Za-z0-9_-]+(?::[A-Za-z0-9_]+)?/,
  ref: /\$[A-Za-z0-9_.]+/,
  key: /[A-Za-z0-9_]+(?=:)/,
  // A number or keyword must be a whole lexeme.
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
 * The tokens of any text around frames. An `opening` is an agent, the arrow and a word that a colon or brace follows. To exclude e-mail
 * addresses, no word may precede it directly, unless that is the end of an escape (`\n`) or of a colour code of a terminal. JSON may
 * escape the at sign and the arrow.
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
