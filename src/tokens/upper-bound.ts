/** The pairs of lower-case letters that are not tokens in `o200k_base` or `cl100k_base`: second letters by first letter. */
const NON_TOKENS = 'bq fjz gjkq hj jgqvwxyz kqxz lq mz nq oq qfgjkovyz rjz tjq uq vqz wqvz xghjkqsuvwz yfjqvz zgjqrvz';

const A = 0x61;
const Z = 0x7a;
const LETTERS = 26;
const separate = new Uint8Array(LETTERS * LETTERS);
for (const [first = '', ...seconds] of NON_TOKENS.split(' ')) {
  for (const second of seconds) separate[(first.charCodeAt(0) - A) * LETTERS + second.charCodeAt(0) - A] = 1;
}

/**
 * Returns an upper bound of the number of tokens in `o200k_base`, `o200k_harmony` and `cl100k_base`, in linear time. For messages, it is about
 * twice the number.
 *
 * A byte vocabulary has at most one token per byte. These vocabularies also contain all numbers of up to three digits and nearly all pairs of
 * lower-case letters, so two such letters are never adjacent separate tokens.
 */
export function upperBoundTokens(text: string): number {
  const { length } = text;
  let tokens = 0;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    const start = at++;
    if (code >= A && code <= Z) {
      while (at < length && isLowerCase(text.charCodeAt(at))) at++;
      tokens += letterTokens(text, start, at);
    } else if (isDigit(code)) {
      while (at < length && isDigit(text.charCodeAt(at))) at++;
      // A non-ASCII digit shifts the groups of three after it.
      const isShifted = start > 0 && text.charCodeAt(start - 1) > 0x7f;
      tokens += Math.ceil((at - start) / 3) + (isShifted ? 1 : 0);
    } else {
      // An apostrophe, as in "it's", may split the word a second time.
      tokens += code === 0x27 ? 2 : byteLength(code);
    }
  }
  return tokens;
}

/** Returns the maximum number of tokens of lower-case letters, where two letters are one token unless the pair is none. */
function letterTokens(text: string, start: number, end: number): number {
  // The maximum so far, if the last letter is a separate token, and if it is not.
  let alone = 1;
  let joined = Number.NEGATIVE_INFINITY;
  let previous = text.charCodeAt(start) - A;
  // The larger of the two, one and two letters before.
  let before = 1;
  let earlier = 0;
  for (let at = start + 1; at < end; at++) {
    const letter = text.charCodeAt(at) - A;
    const mayBeAlone = separate[previous * LETTERS + letter] === 1 ? Math.max(alone, joined) : joined;
    // A token of two letters, or of more.
    const nextJoined = Math.max(earlier + 1, joined);
    alone = mayBeAlone + 1;
    joined = nextJoined;
    earlier = before;
    before = Math.max(alone, joined);
    previous = letter;
  }
  return before;
}

function isLowerCase(code: number): boolean {
  return code >= A && code <= Z;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Returns the maximum number of UTF-8 bytes of a code unit; each half of a surrogate pair counts three. */
function byteLength(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 ? 2 : 3;
}
