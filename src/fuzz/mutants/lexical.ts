/** Lexical edits, at places where readers often fail: delimiters, escapes, numbers, words, look-alikes, control characters. */
import type { Random } from '../../text/random.js';
import { partsOfClass } from '../grammar/classes.js';
import { visitExpression } from '../grammar/expressions.js';
import type { Grammar } from '../grammar/grammar.js';

export type LexicalEdit = (text: string, context: LexicalContext) => string | null;

interface LexicalContext {
  readonly random: Random;
  readonly pieces: readonly string[];
}

/** Numbers at and beyond the limits of common readers. The last ones have more digits than any reader keeps. */
const NUMBERS = [
  ...['0', '-0', '00', '007', '-', '--1', '+1', '1.', '.5', '1.0', '1.50', '-0.0', '1e5', '1E400', '0x10', '1_000'],
  ...['2147483647', '2147483648', '4294967296', '9007199254740991', '9007199254740992', '9007199254740993'],
  ...['-9007199254740993', '9223372036854775808', '0.1234565', '0.12345651', '2.0000005', '0.000001', '0.0000001'],
  ...['1.7976931348623159e308', '123456789012345678901234567890', '0.30000000000000004', 'NaN', 'Infinity'],
  ...['0.9999999', '-99.9999995', '1e21', '-0.0000001', `${'1'.repeat(40)}x`],
  ...['9'.repeat(400), '9'.repeat(1_001), `0.${'3'.repeat(400)}`, `${'9'.repeat(400)}.5`],
];

/** Members that every object inherits, and words that stand for a value in many languages. */
const WORDS = [
  ...['__proto__', 'constructor', 'toString', 'valueOf', 'length', 'null', 'nil', 'None', 'undefined', 'true', 'false'],
  ...['True', 'yes', 'NaN', 'Infinity'],
];

/** Characters that are invisible, or that end a line for some readers only. */
const CONTROLS = [
  ...['\0', '\t', '\n', '\r', '\r\n', '\v', '\f', '\x1b', '\x7f', '\x85', ' ', '  ', '\u00a0', '\u00ad', '\u200b'],
  ...['\u2028', '\u2029', '\u202e', '\u3000', '\ufeff', '\ufffe', '\uffff', '\ud800', '\udc00'],
];

/** Characters that files and lines often have around a text. */
const AT_START = ['\ufeff', ' ', '\t', '\n'];
const AT_END = ['\n', '\r\n', ' ', '\0'];

/** Letters of other scripts, by the ASCII letter that they look like. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{ a: '\u0430', c: '\u0441', e: '\u0435', i: '\u0456', o: '\u043e', p: '\u0440', x: '\u0445', y: '\u0443' },
  ...{ A: '\u0391', B: '\u0392', E: '\u0395', H: '\u0397', O: '\u039f', T: '\u03a4', K: '\u212a', k: '\u212a' },
  ...{ '-': '\u2010', "'": '\u2019', '"': '\u201d', ':': '\ua789', '|': '\u2502', ',': '\u201a', ' ': '\u2002' },
  ...{ s: '\u017f', 0: '\u0660', 1: '\u0661', '.': '\u2024', ';': '\u037e', '/': '\u2044', '~': '\u02dc' },
};

/** Inserts a piece of the grammar, removes a character, or replaces it; half of the time next to a delimiter of the text. */
export const delimiter: LexicalEdit = (text, { random, pieces }) => {
  const own = [...text.matchAll(/[^A-Za-z0-9_]/g)];
  const beside = own.length > 0 && random.next() < 0.5;
  const at = beside ? random.pick(own).index + random.integer(0, 1) : random.integer(0, text.length);
  const length = random.integer(0, 2);
  const isLess = length > 0 && random.next() < 0.4;
  const piece = own.length > 0 && random.next() < 0.5 ? random.pick(own)[0] : random.pick(pieces);
  return text.slice(0, at) + (isLess ? '' : piece) + text.slice(at + length);
};

export const escaping: LexicalEdit = (text, { random }) => {
  const places = [...text.matchAll(/\\/g)].map(({ index }) => index);
  if (places.length > 0 && random.next() < 0.5) {
    const at = random.pick(places);
    return text.slice(0, at) + random.pick(['', '\\\\', '/']) + text.slice(at + 1);
  }
  const at = random.integer(0, text.length);
  return `${text.slice(0, at)}${random.pick(['\\', '\\', '\\\\', '\\n', '\\u0041', '%7C', '&#124;'])}${text.slice(at)}`;
};

/** Texts shorter than this, in code units, are sometimes replaced by a number as a whole. */
const SHORT = 12;

/** A whole number; any digits; and a word that a number may replace. */
const WHOLE_NUMBER = /(?<![A-Za-z0-9_.-])-?[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.])/g;
const DIGITS = /-?[0-9]+(?:\.[0-9]+)?/g;
const WORD = /[A-Za-z0-9_]+/g;

/** Changes a number, or replaces another word by one. */
export const number: LexicalEdit = (text, { random }) => {
  const numbers = [...text.matchAll(random.next() < 0.6 ? WHOLE_NUMBER : DIGITS)];
  const runs = numbers.length > 0 && random.next() < 0.8 ? numbers : [...text.matchAll(WORD)];
  // A short text is mostly a part of its own; a text without words can only be replaced as a whole.
  if (runs.length === 0 || (text.length < SHORT && random.next() < 0.3)) return random.pick(NUMBERS);
  const { index, 0: run } = random.pick(runs);
  const other = runs === numbers && random.next() < 0.5 ? nearNumber(run, random) : random.pick(NUMBERS);
  return text.slice(0, index) + other + text.slice(index + run.length);
};

function nearNumber(run: string, random: Random): string {
  return random.pick([`0${run}`, `${run}0`, `${run}.0`, `-${run}`, `+${run}`, `${run}5`, `${run}.`]);
}

/** Replaces a word by one that some readers give a special meaning. */
export const word: LexicalEdit = (text, { random }) => {
  const words = [...text.matchAll(WORD)];
  if (words.length === 0) return random.pick(WORDS);
  const { index, 0: own } = random.pick(words);
  return text.slice(0, index) + random.pick(WORDS) + text.slice(index + own.length);
};

export const lookAlike: LexicalEdit = (text, { random }) => {
  if (text === '') return null;
  const at = random.integer(0, text.length - 1);
  const own = text[at]!;
  const code = own.charCodeAt(0);
  // The full-width forms are in the order of ASCII (Unicode, block U+FF00).
  const wide = code > 0x20 && code < 0x7f ? String.fromCharCode(code + 0xfee0) : null;
  const near = Object.hasOwn(LOOK_ALIKES, own) ? LOOK_ALIKES[own]! : null;
  const other = random.next() < 0.5 ? (near ?? wide) : (wide ?? near);
  if (other === null) return null;
  return text.slice(0, at) + other + (random.next() < 0.2 ? own : '') + text.slice(at + 1);
};

export const control: LexicalEdit = (text, { random }) => {
  const at = random.pick([0, text.length, random.integer(0, text.length)]);
  const usual = at === 0 ? AT_START : at === text.length ? AT_END : CONTROLS;
  const other = random.pick(random.next() < 0.5 ? usual : CONTROLS);
  return text.slice(0, at) + other + text.slice(at + (random.next() < 0.3 ? 1 : 0));
};

export const letterCase: LexicalEdit = (text, { random }) => {
  const letters = [...text.matchAll(/[A-Za-z]+/g)];
  if (letters.length === 0) return null;
  const { index, 0: word } = random.pick(letters);
  const upper = word.toUpperCase();
  const other =
    word === upper ? word.toLowerCase() : random.next() < 0.5 ? upper : word[0]!.toUpperCase() + word.slice(1);
  return text.slice(0, index) + other + text.slice(index + word.length);
};

/** Repeats a character, or swaps two. */
export const slip: LexicalEdit = (text, { random }) => {
  if (text.length < 2) return null;
  const at = random.integer(0, text.length - 2);
  const [one, two] = [text[at]!, text[at + 1]!];
  return text.slice(0, at) + (random.next() < 0.5 ? two + one : one + one + two) + text.slice(at + 2);
};

export function piecesOf(grammar: Grammar): readonly string[] {
  const pieces = new Set<string>();
  for (const { expression } of grammar.ast.rules) {
    visitExpression(expression, (node) => {
      if (node.type === 'literal' && node.value !== '') {
        for (const text of [node.value, node.value.slice(0, -1)]) pieces.add(text);
      }
      if (node.type !== 'class') return;
      for (const [first, last] of partsOfClass(node)) {
        for (const code of [first - 1, first, last, last + 1]) {
          if (code >= 0 && code <= 0x10ffff) pieces.add(String.fromCodePoint(code));
        }
      }
    });
  }
  pieces.delete('');
  return pieces.size === 0 ? [' '] : [...pieces];
}
