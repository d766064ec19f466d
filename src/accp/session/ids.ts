/** Identifiers of messages (draft-benzing-accp-00, section 3.5: 12 hexadecimal digits). */

const LETTERS = 'abcdef';
const DIGITS = 11;
/** Random bytes are drawn so many at a time. */
const POOL = 4096;
/** The largest multiple of ten that a byte holds: bytes from here on would favour the low digits. */
const FAIR = 250;

/** What is used of Web Crypto, which Node and browsers have. */
interface RandomSource {
  readonly getRandomValues: (bytes: Uint8Array) => Uint8Array;
}

/**
 * Makes identifiers: one letter from a to f, so that none reads as a number, and eleven decimal digits, which are hexadecimal
 * digits, too, and cost vocabularies fewer tokens than letters among them.
 */
export function createIds(
  source: RandomSource = (globalThis as unknown as { crypto: RandomSource }).crypto,
): () => string {
  const pool = new Uint8Array(POOL);
  let at = POOL;
  const byte = (): number => {
    if (at === POOL) {
      source.getRandomValues(pool);
      at = 0;
    }
    return pool[at++]!;
  };
  return () => {
    let id = LETTERS[byte() % LETTERS.length]!;
    while (id.length <= DIGITS) {
      const next = byte();
      if (next < FAIR) id += next % 10;
    }
    return id;
  };
}
