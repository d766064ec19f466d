/**
 * Regular expressions, for languages without recursion: a JavaScript pattern in the part of the notation that Python, Java, .NET,
 * PCRE, RE2 and Rust read as well, which is groups without capture, positive and negative sets, greedy repetitions and `\u` or
 * `\x` escapes; characters beyond U+FFFF stand for themselves.
 */
import type { ContextFreeGrammar, Pattern } from './context-free.js';
import { ExportError } from './export-error.js';
import { written } from './notation.js';
import { commented, notesOf } from './notes.js';
import { longestFirst } from './order.js';
import { rebuilt } from './patterns.js';
import { withoutCase, withoutSurrogates } from './plain.js';
import { recursiveRule } from './recursion.js';
import { regexNotation } from './regex-notation.js';
import { tidy } from './tidy.js';

export interface RegularExpression {
  /** Anchored at both ends. */
  readonly source: string;
  readonly flags: string;
}

/** Characters of a pattern. Rules that are used twice stand in it twice, and so on within them. */
const MAX_LENGTH = 100_000;

const REMARK =
  'Where $ also matches before a line end at the end of a text (Python, PCRE, Java), match the whole text without the anchors.';

/** No escape for these is the same in all engines. */
const NOTATION = regexNotation((digits) => String.fromCodePoint(Number.parseInt(digits, 16)));

/**
 * The grammar as a language without recursion can say it.
 *
 * @throws ExportError `not-regular` naming a rule that holds itself, `empty-language` when the grammar matches no text
 */
export function fitToRegex(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const fitted = longestFirst(tidy(withoutCase(withoutSurrogates(grammar))));
  const recursive = recursiveRule(fitted.rules);
  if (recursive !== null) {
    const message = `The rule ${recursive} holds itself, which no regular expression can say; a limit to its depth would help`;
    throw new ExportError('not-regular', message, recursive);
  }
  return fitted;
}

/**
 * @throws ExportError `not-regular` naming a rule that holds itself, `too-large` beyond 100,000 characters, `empty-language` when
 *   the grammar matches no text
 */
export function regexOf(grammar: ContextFreeGrammar): RegularExpression {
  const { rules, startRule } = fitToRegex(grammar);
  checkLength(rules, startRule);
  const inlined = (part: Pattern): Pattern => (part.kind === 'rule' ? rebuilt(rules.get(part.name)!, inlined) : part);
  const source = `^${written(rebuilt(rules.get(startRule)!, inlined), NOTATION, 'sequence')}$`;
  if (source.length > MAX_LENGTH) throw tooLarge(startRule);
  return { source, flags: 'u' };
}

/** The pattern as JavaScript writes it, below a comment. Throws as `regexOf` does. */
export function writeRegex(grammar: ContextFreeGrammar): string {
  const { source, flags } = regexOf(grammar);
  const notes = notesOf(fitToRegex(grammar), 'the notation of regular expressions', [REMARK]);
  return `${commented(notes, '//')}/${source}/${flags}\n`;
}

/** Tells before it is written that a pattern is too long: rules in rules grow by powers. */
function checkLength(rules: ReadonlyMap<string, Pattern>, startRule: string): void {
  const lengths = new Map<string, number>();
  const lengthOf = (pattern: Pattern): number => {
    switch (pattern.kind) {
      case 'literal':
        return pattern.text.length;
      case 'set':
        return 1;
      case 'repeat':
        return lengthOf(pattern.item) + 1;
      case 'rule': {
        const length = lengths.get(pattern.name) ?? lengthOf(rules.get(pattern.name)!);
        lengths.set(pattern.name, length);
        return length;
      }
      default:
        return pattern.items.reduce((sum, item) => sum + lengthOf(item), 0);
    }
  };
  if (lengthOf(rules.get(startRule)!) > MAX_LENGTH) throw tooLarge(startRule);
}

function tooLarge(startRule: string): ExportError {
  const limit = MAX_LENGTH.toLocaleString('en');
  const message = `As a regular expression, ${startRule} would take more than ${limit} characters; a smaller depth would help`;
  return new ExportError('too-large', message, startRule);
}
