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
 * Any text around frames. An `opening` is an agent, the arrow and a word with a colon or brace behind it, where it is no
 * e-mail address: not right behind a word, unless that is the `n` of an escaped line end.
 */
export const frameProseTokens = {
  opening: /(?<!(?:^|[^\\])[A-Za-z0-9_])@[^\s@>:{}[\]|$,~\\"'`<(]*>[A-Za-z0-9_-]+[:{]/,
  escape: /\\./,
  quote: '"',
  newline: { match: '\n', lineBreaks: true },
  rest: { fallback: true as const },
};
