/** Normalises instructions for tier 1 (draft-mackay-aacp-01, section 6.3, which does not define the normal form). */
import { sha256Hex } from '../../../text/sha256.js';
import type { RegistryRequest } from '../entry.js';
import { isDeterminer, isFamiliar, wordSet } from './words.js';

/** The maximum length of an instruction that the fallback encoder accepts, in UTF-16 code units. */
export const MAX_INSTRUCTION = 20_000;

/** White space as the reference SDK defines it: unlike `\s`, it includes U+001C to U+001F and U+0085, and not the byte order mark. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they count as white space
const SPACES = /[\t-\r\x1C- \x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+/;

/**
 * Returns the normal form of an instruction: lower case, single spaces, none at the ends. Two instructions with the same normal form are
 * the same instruction, as in the reference SDK.
 */
export function normaliseInstruction(instruction: string): string {
  return wordsOf(instruction).join(' ');
}

export function wordsOf(instruction: string): readonly string[] {
  return instruction.toLowerCase().split(SPACES).filter(Boolean);
}

/** Returns the id of an instruction in the reference SDK: 12 hexadecimal digits. */
export function instructionId(normalised: string): string {
  return digestOf(normalised).slice(0, 12);
}

/** Returns the key of a registry entry: the hash of all members of the request, as 64 hexadecimal digits. */
export function registryKey({ normalised, domain, returnAgent, priority, version }: RegistryRequest): string {
  return digestOf(JSON.stringify([normalised, domain, returnAgent, priority, version]));
}

/** Returns the SHA-256 of the UTF-8 bytes, as 64 hexadecimal digits. A lone surrogate counts as U+FFFD. */
export function digestOf(text: string): string {
  return sha256Hex(text);
}

/** White space of the normal form, or in the sense of `\s`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they count as white space
const CASE_SPACES = /[\s\x1C-\x1F\x85]+/;

const QUOTE = /["\u201c-\u201f\u00ab\u00bb`]|(?<![\p{L}\p{N}])['\u2018\u2019]/u;
const LAST_QUOTE = /["\u201c-\u201f\u00ab\u00bb`'\u2018\u2019]/gu;

/** A word with the marks around it. Words joined by hyphens are one. */
const WORD = /^([([]*)(\p{L}+(?:-\p{L}+)*)((?:['\u2019]s)?[)\].,;:!?]*)$/iu;

const PERIOD = /^(?:[QH][1-4]|FY\d{2,4})[.,;:!?)]*$/i;

/** Marks of a text that is not prose, in which capital letters alone do not show emphasis. */
const NO_PROSE = /\p{L}[-.]?\d|\d[-.]?\p{L}|["\u201c-\u201f\u00ab\u00bb`\u2018/\\=@_]/u;

/** Short words that are never acronyms. */
const SHORT_WORDS = wordSet('the an of for and to by all any our new get add not');

/** Words before names whose capital letters matter. */
const NAMING = wordSet(`
  branch branches column columns field fields table tables file files folder folders directory path key keys variable value job host
  server database schema bucket repository repo tag label user username login account password passwd secret token code named called
  entitled titled env environment group role script class function method parameter property attribute cluster node queue topic
`);

const SPELLED = wordSet(
  'rename renamed replace replaced spell spelled capitalise capitalize capitals lowercase uppercase letter',
);

/**
 * Returns whether two instructions with the same key (draft-mackay-aacp-01, section 6.3) can share a packet: they differ only in white space
 * and in the capital letters of ordinary words.
 */
export function isSameCase(kept: string, given: string): boolean {
  if (kept === given || caseOf(kept) === caseOf(given)) return true;
  // In "FOR JUNE 2026", names are in capital letters like all other words.
  return (isAllCapitals(kept) && isCapitalised(given)) || (isAllCapitals(given) && isCapitalised(kept));
}

/** Returns whether only the first letters of words are capital. */
function isCapitalised(instruction: string): boolean {
  return !NO_PROSE.test(instruction) && !/\p{Lu}\p{Lu}|\p{Ll}\p{Lu}/u.test(instruction);
}

/** Returns a text that differs between instructions with the same key but different packets; `''` if capitals and spaces do not matter. */
export function caseOf(instruction: string): string {
  if (isAllCapitals(instruction)) return '';
  const words = instruction.split(CASE_SPACES).filter(Boolean);
  const hasSmall = /\p{Ll}/u.test(instruction);
  const quoted = quotedWords(words);
  const plain = words.map((word) => WORD.exec(word)?.[2]?.toLowerCase() ?? '');
  const isSpelled = plain.some((word) => SPELLED.has(word));
  const mixed = writtenTwice(words);
  const spaces = quotedSpaces(instruction);
  const capitals = words
    .flatMap((word, index) => {
      const before = words[index - 1];
      const begins = before === undefined || /\p{L}{4,}[.!?]+$/u.test(before);
      const counts =
        (index >= quoted.first && index <= quoted.last) ||
        (!begins && (isSpelled || mixed.has(word.toLowerCase()) || NAMING.has(plain[index - 1] ?? '')));
      // In a text of capitals, "A" is an article.
      if (word === 'A' && !counts && !hasSmall) return [];
      const folded = counts ? word : withoutCapitals(word, begins);
      return folded === folded.toLowerCase() ? [] : [`${index} ${folded}`];
    })
    .join('\n');
  return spaces === '' ? capitals : `${capitals}\n${spaces}`;
}

/** Returns the white space between the first quotation mark and the last, which the key does not preserve; `''` for single spaces. */
function quotedSpaces(instruction: string): string {
  const first = instruction.search(QUOTE);
  if (first < 0) return '';
  const last = [...instruction.matchAll(LAST_QUOTE)].at(-1)?.index ?? first;
  const spaces = instruction.slice(first, last).match(new RegExp(CASE_SPACES, 'g')) ?? [];
  return spaces.every((space) => space === ' ') ? '' : JSON.stringify(spaces);
}

/** Returns whether a text is prose in capital letters throughout, which then have no meaning. */
function isAllCapitals(instruction: string): boolean {
  if (NO_PROSE.test(instruction) || /\p{Ll}/u.test(instruction)) return false;
  return instruction.split(CASE_SPACES).filter((word) => /\p{L}{2}/u.test(word)).length > 1;
}

function quotedWords(words: readonly string[]): { readonly first: number; readonly last: number } {
  const first = words.findIndex((word) => QUOTE.test(word));
  if (first < 0) return { first: words.length, last: -1 };
  return { first, last: words.findLastIndex((word) => word.search(LAST_QUOTE) >= 0) };
}

/** Returns the words that a text contains both in capital letters and in lower case. */
function writtenTwice(words: readonly string[]): ReadonlySet<string> {
  const seen = new Map<string, string>();
  const twice = new Set<string>();
  words.slice(1).forEach((word) => {
    const bare = WORD.exec(word)?.[2] ?? word;
    const small = bare.toLowerCase();
    if ((seen.get(small) ?? bare) !== bare) twice.add(small);
    seen.set(small, bare);
  });
  // Including the marks around them, as they are looked up.
  return new Set(words.map((word) => word.toLowerCase()).filter((word) => twice.has(WORD.exec(word)?.[2] ?? word)));
}

/** Removes capital letters that have no meaning. @param begins whether the word is the first of a sentence */
function withoutCapitals(word: string, begins: boolean): string {
  if (/^[^@]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+[.,;!?)]*$/u.test(word)) return withLowerCaseHost(word);
  if (word.includes('@')) return word;
  if (PERIOD.test(word)) return word.toLowerCase();
  const [, open = '', letters, end = ''] = WORD.exec(word) ?? [];
  if (letters === undefined) return word;
  const parts = letters.split('-');
  const folded = parts.map((part, index) => {
    const small = part.toLowerCase();
    const capitalised = part.slice(1) === small.slice(1);
    const isFirst = begins && index === 0 && (capitalised || isLongCapital(part));
    return isFirst || isOrdinary(part, small, capitalised) ? small : part;
  });
  return `${open}${folded.join('-')}${end.toLowerCase()}`;
}

function isOrdinary(word: string, small: string, capitalised: boolean): boolean {
  if (word === small || SHORT_WORDS.has(small)) return true;
  if (word.length < 2) return false;
  return (capitalised || isLongCapital(word)) && (isFamiliar(small) || isDeterminer(small));
}

function isLongCapital(word: string): boolean {
  return word.length > 3 && word === word.toUpperCase();
}

/** Converts the host of an address to lower case, which does not change it. The mailbox is case-sensitive. */
export function withLowerCaseHost(email: string): string {
  const at = email.lastIndexOf('@');
  return email.slice(0, at) + email.slice(at).toLowerCase();
}
