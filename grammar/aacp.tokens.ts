/**
 * Token tables of AACP for moo: tolerant of anything, where the grammar is strict. Highlighting and the finder come from
 * them; the grammar has the last word on what a packet is.
 */

/** A packet, or what somebody meant as one, in pieces: a state for each kind of slot. */
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
 * Any text around packets. An `opening` is two tokens and a `key:`. What stands right before it is no word, path, address or
 * another separator, unless it is the end of an escape (`\n`) or of a terminal's colour code.
 */
export const packetProseTokens = {
  opening:
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with one
    /(?:(?<![A-Za-z0-9_|@/.-])|(?<=\\[nrt])|(?<=(?:\x1b|\\u001[bB])\[[0-9;]*m))[A-Z][A-Z0-9_-]*\|[A-Z][A-Z0-9_-]*\|[a-z][a-z0-9_]*:/,
  escape: /\\./,
  quote: '"',
  newline: { match: '\n', lineBreaks: true },
  rest: { fallback: true as const },
};
