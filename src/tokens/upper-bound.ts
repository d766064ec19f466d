/** Pairs of small letters that are not tokens in `o200k_base` or `cl100k_base`: second letters by first. All other pairs are. */
const NO_TOKENS = 'bq fjz gjkq hj jgqvwxyz kqxz lq mz nq oq qfgjkovyz rjz tjq uq vqz wqvz xghjkqsuvwz yfjqvz zgjqrvz';

const A = 0x61;
const Z = 0x7a;
const LETTERS = 26;
const apart = new Uint8Array(LETTERS * LETTERS);
for (const [first = '', ...seconds] of NO_TOKENS.split(' ')) {
  for (const second of seconds) apart[(first.charCodeAt(0) - A) * LETTERS + second.charCodeAt(0) - A] = 1;
}

/**
 * Returns an upper bound of the tokens in `o200k_base`, `o200k_harmony` and `cl100k_base`, about twice the number for
 * messages, in linear time.
 *
 * Byte vocabularies make at most one token per byte. These also hold all numbers of up to three digits, and nearly all
 * pairs of small letters, so that two such letters never stay separate tokens side by side.
 */
export function upperBoundTokens(text: string): number {
  const { length } = text;
  let tokens = 0;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    const start = at++;
    if (code >= A && code <= Z) {
      while (at < length && isSmall(text.charCodeAt(at))) at++;
      tokens += letterTokens(text, start, at);
    } else if (isDigit(code)) {
      while (at < length && isDigit(text.charCodeAt(at))) at++;
      // Numbers beyond ASCII take digits behind them into their own group of three.
      const isShifted = start > 0 && text.charCodeAt(start - 1) > 0x7f;
      tokens += Math.ceil((at - start) / 3) + (isShifted ? 1 : 0);
    } else {
      // At an apostrophe, as in "it's", the word may be cut a second time.
      tokens += code === 0x27 ? 2 : byteLength(code);
    }
  }
  return tokens;
}

/** Most tokens of a run of small letters, where two letters are one token unless they stay apart. */
function letterTokens(text: string, start: number, end: number): number {
  // Most tokens so far, if the last letter is a token of its own, and if not.
  let alone = 1;
  let joined = Number.NEGATIVE_INFINITY;
  let previous = text.charCodeAt(start) - A;
  // The larger of both, one and two letters ago.
  let before = 1;
  let earlier = 0;
  for (let at = start + 1; at < end; at++) {
    const letter = text.charCodeAt(at) - A;
    const mayBeAlone = apart[previous * LETTERS + letter] === 1 ? Math.max(alone, joined) : joined;
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

function isSmall(code: number): boolean {
  return code >= A && code <= Z;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** UTF-8 bytes of a code unit, at most: each half of a pair counts three. */
function byteLength(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 ? 2 : 3;
}
