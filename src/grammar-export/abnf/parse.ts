/** From ABNF text to tree. The only importer of the generated ABNF parser. */

import { parse, SyntaxError as Refusal } from '../../../generated/abnf.js';
import type { ParseErrorDetails } from '../../text/errors.js';
import {
  attempt,
  characterAt,
  type Expectation,
  expectedButFound,
  expectedPhrases,
  type ParserErrors,
} from '../../text/parser-errors.js';
import { type AbnfGrammar, type AbnfRule, foldedName, rulesOf, visitRule } from './ast.js';

const BAD_ABNF = 'bad-abnf';

export interface ParseAbnfOptions {
  /** Put a `span` (UTF-16 offsets) on rules and references. @default false */
  readonly spans?: boolean | undefined;
}

interface Settings {
  readonly spans: boolean;
  readonly maxLength: number;
  readonly maxDepth: number;
}

/** Longest text, in UTF-16 code units, and deepest nesting of groups and options. */
const LIMITS = { maxLength: 1_048_576, maxDepth: 200 } as const;

/**
 * Reads an ABNF grammar: RFC 5234, section 4, with the case-sensitive strings of RFC 7405. Line ends may be CRLF or LF. Whether
 * the rules make sense together is told by `checkAbnf`.
 *
 * @throws ParseError with code `bad-abnf`; its `reason` is `syntax`, or `limit` for more than 1 Mi code units, more than 200
 * groups within each other, or numbers above 2^53 - 1
 * @example
 * parseAbnf('bit = "0" / "1"\n').items.length // 1
 */
export function parseAbnf(text: string, options: ParseAbnfOptions = {}): AbnfGrammar {
  const result = attempt(text, { ...LIMITS, spans: options.spans === true }, read, REFUSALS);
  if (result.ok) return result.value;
  throw result.error;
}

function read(text: string, { spans, maxDepth }: Settings): AbnfGrammar {
  return parse(text, { spans, maxDepth });
}

const REFUSALS: ParserErrors<Settings> = { notAStringCode: BAD_ABNF, limitCode: BAD_ABNF, convert: retold };

function retold(thrown: unknown, text: string): ParseErrorDetails | null {
  if (!(thrown instanceof Refusal)) return null;
  const { start, end } = thrown.location;
  const span = { start: start.offset, end: end.offset };
  // These limits cannot be raised, so that there is nothing to advise.
  if (thrown.reason === 'limit') return { code: BAD_ABNF, reason: 'limit', text, span, message: `${thrown.message}.` };
  return syntaxError(text, span.start, thrown.expected ?? []);
}

function syntaxError(text: string, offset: number, expectations: readonly Expectation[]): ParseErrorDetails {
  const found = characterAt(text, offset);
  const expected = readable(expectedPhrases(expectations));
  return {
    code: BAD_ABNF,
    reason: 'syntax',
    text,
    span: { start: offset, end: offset + (found?.length ?? 0) },
    message: expectedButFound(expected, found),
    expected,
    found,
    help: syntaxHelp(text, offset, expected),
  };
}

function readable(phrases: readonly string[]): string[] {
  const rest = phrases.filter((phrase) => phrase !== 'blank' && phrase !== 'comment');
  if (rest.length === 0) return [GO_ON];
  // Where a definition cannot end yet, a line end is only one more blank.
  const canEnd = rest.includes('"/"') && !rest.includes('")"') && !rest.includes('"]"');
  if (!rest.includes('"<"')) {
    return rest
      .filter((phrase) => canEnd || phrase !== 'line end' || !rest.includes('"/"'))
      .map((phrase) => (phrase === '"""' ? 'a closing quote' : phrase));
  }
  return [...rest.filter((phrase) => !ELEMENT_STARTS.has(phrase) && (canEnd || phrase !== 'line end')), 'an element'];
}

/** All that is expected at the beginning of a line, when the definition above is not at its end. */
const GO_ON = 'a blank';

const ELEMENT_STARTS: ReadonlySet<string> = new Set([
  ...['"("', '"["', '"%"', '"<"', '"*"', '"""', '"%i"', '"%s"'],
  ...['rule name', 'number'],
]);

/** What to do about it, where we know. */
function syntaxHelp(text: string, offset: number, expected: readonly string[]): string | undefined {
  if (expected.includes(GO_ON)) {
    return 'the definition above is not at its end; a line that goes on with it begins with a blank';
  }
  const found = text[offset];
  if (found === undefined) return undefined;
  if (found > '~') return 'ABNF is ASCII, comments too; write other characters as %x and their code';
  if (found === '\r') return 'a line ends with CRLF or LF';
  const isIndented = /[ \t]/.test(text[text.lastIndexOf('\n', offset - 1) + 1] ?? '');
  if (isIndented && found === '=') {
    return 'a rule begins at the left margin; an indented line belongs to the rule above';
  }
  if (isIndented && !expected.includes('an element') && /[A-Za-z]/.test(found)) {
    return 'a rule begins at the left margin';
  }
  if (found === '_') return 'a rule name is made of letters, digits and "-"';
  if (found === "'") return 'strings stand between double quotes';
  if (found === '|') return 'alternatives are parted by "/"';
  if ('+?*'.includes(found)) return 'how often an element comes is written before it: 1*a, *a, or [a] for at most once';
  if (found === '/' && expected.includes('rule name')) return 'a line that goes on with a rule begins with a blank';
  return undefined;
}

const TEXT = `
ALPHA  = %x41-5A / %x61-7A
BIT    = "0" / "1"
CHAR   = %x01-7F
CR     = %x0D
CRLF   = CR LF
CTL    = %x00-1F / %x7F
DIGIT  = %x30-39
DQUOTE = %x22
HEXDIG = DIGIT / "A" / "B" / "C" / "D" / "E" / "F"
HTAB   = %x09
LF     = %x0A
LWSP   = *(WSP / CRLF WSP)
OCTET  = %x00-FF
SP     = %x20
VCHAR  = %x21-7E
WSP    = SP / HTAB
`;

let rules: ReadonlyMap<string, AbnfRule> | undefined;

/** The core rules by their folded names. */
export function coreRules(): ReadonlyMap<string, AbnfRule> {
  rules ??= new Map(rulesOf(parseAbnf(TEXT)).map((rule) => [foldedName(rule.name), rule]));
  return rules;
}

/** The rules, and behind them the core rules that they do not define anew. */
export function rulesWithCore(rules: readonly AbnfRule[]): readonly AbnfRule[] {
  const own = new Set(rules.map(({ name }) => foldedName(name)));
  return [...rules, ...[...coreRules()].flatMap(([name, rule]) => (own.has(name) ? [] : [rule]))];
}

/** The grammar, with definitions behind it of those core rules that it uses and does not define, for tools that know none. */
export function withCoreRules(grammar: AbnfGrammar): AbnfGrammar {
  const own = rulesOf(grammar);
  const known = new Set(own.map(({ name }) => foldedName(name)));
  const added: AbnfRule[] = [];
  const addUsed = (rule: AbnfRule): void =>
    visitRule(rule, (element) => {
      if (element.kind !== 'reference') return;
      const name = foldedName(element.name);
      const core = coreRules().get(name);
      if (core === undefined || known.has(name)) return;
      known.add(name);
      added.push(core);
      addUsed(core);
    });
  for (const rule of own) addUsed(rule);
  return { ...grammar, items: [...grammar.items, ...added] };
}
