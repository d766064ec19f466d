/**
 * Token tables of AACP for moo. They tolerate any text, for highlighting and for finding packets in prose; the grammar decides whether a text is
 * a packet.
 */

/** The tokens of a packet, or of a text that was meant as one, with a state for each kind of slot. */
export const packetTokens = {
  start: {
    task: { match: /[^|]+/, lineBreaks: true },
    separator: { match: '|', next: 'second' },
  },
  second: {
    domain: { match: /[^|]+/, lineBreaks: true },
    separator: { match: '|', next: 'field' },
  },
  field: {
    key: { match: /[^|:]+/, lineBreaks: true },
    colon: { match: ':', next: 'value' },
    separator: '|',
  },
  value: {
    value: { match: /[^|]+/, lineBreaks: true },
    separator: { match: '|', next: 'field' },
  },
};

/**
 * The tokens of any text around packets. An `opening` is two tokens and a `key:`. It must not follow a word, a path, an address or another
 * separator, except the end of an escape (`\n`) or of a terminal colour code.
 */
export const packetProseTokens = {
  opening:
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with a control character
    /(?:(?<![A-Za-z0-9_|@/.-])|(?<=\\[nrt])|(?<=(?:\x1b|\\u001[bB])\[[0-9;]*m))[A-Z][A-Z0-9_-]*\|[A-Z][A-Z0-9_-]*\|[a-z][a-z0-9_]*:/,
  escape: /\\./,
  quote: '"',
  newline: { match: '\n', lineBreaks: true },
  rest: { fallback: true as const },
};
