/** Parses ABNF. The only importer of the generated ABNF parser. */

import { SyntaxError as Refusal, tryParse } from '../../../generated/abnf.js';
import type { ParseErrorDetails, Result } from '../../text/errors.js';
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

/** The options of {@link parseAbnf}. */
export interface ParseAbnfOptions {
  /** If true, rules and references get a `span` (UTF-16 offsets). @default false */
  readonly spans?: boolean | undefined;
}

interface Settings {
  readonly spans: boolean;
  readonly maxLength: number;
  readonly maxDepth: number;
}

/** The longest text in UTF-16 code units, and the deepest nesting of groups and options. */
const LIMITS = { maxLength: 1_048_576, maxDepth: 200 } as const;

/**
 * Parses an ABNF grammar: RFC 5234, section 4, with the case-sensitive strings of RFC 7405. Line ends may be CRLF or
 * LF. `checkAbnf` checks the rules.
 *
 * @throws ParseError with the code `bad-abnf`. Its `reason` is `syntax`, or `limit` for more than 1,048,576 code units,
 * more than 200 nested groups, or numbers above 2^53 - 1.
 * @example
 * parseAbnf('bit = "0" / "1"\n').items.length // 1
 */
export function parseAbnf(text: string, options: ParseAbnfOptions = {}): AbnfGrammar {
  const result = attempt(text, { ...LIMITS, spans: options.spans === true }, read, REFUSALS);
  if (result.ok) return result.value;
  throw result.error;
}

function read(text: string, { spans, maxDepth }: Settings): Result<AbnfGrammar, unknown> {
  return tryParse(text, { spans, maxDepth });
}

const REFUSALS: ParserErrors<Settings> = { notAStringCode: BAD_ABNF, limitCode: BAD_ABNF, convert: syntaxDetails };

function syntaxDetails(thrown: unknown, text: string): ParseErrorDetails | null {
  if (!(thrown instanceof Refusal)) return null;
  const { start, end } = thrown.location;
  const span = { start: start.offset, end: end.offset };
  // These limits are fixed, so there is nothing to suggest.
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
  if (rest.length === 0) return [CONTINUATION];
  // If a definition cannot end here, a line end counts as white space.
  const canEnd = rest.includes('"/"') && !rest.includes('")"') && !rest.includes('"]"');
  if (!rest.includes('"<"')) {
    return rest
      .filter((phrase) => canEnd || phrase !== 'line end' || !rest.includes('"/"'))
      .map((phrase) => (phrase === '"""' ? 'a closing quote' : phrase));
  }
  return [...rest.filter((phrase) => !ELEMENT_STARTS.has(phrase) && (canEnd || phrase !== 'line end')), 'an element'];
}

/** The only expectation at the beginning of a line whose definition above is incomplete. */
const CONTINUATION = 'a blank';

const ELEMENT_STARTS: ReadonlySet<string> = new Set([
  ...['"("', '"["', '"%"', '"<"', '"*"', '"""', '"%i"', '"%s"'],
  ...['rule name', 'number'],
]);

/** Suggests a fix for common mistakes. */
function syntaxHelp(text: string, offset: number, expected: readonly string[]): string | undefined {
  if (expected.includes(CONTINUATION)) {
    return 'the definition above is incomplete; begin a continuation line with a space';
  }
  const found = text[offset];
  if (found === undefined) return undefined;
  if (found > '~') return 'ABNF is ASCII, including comments; write other characters as %x and their code';
  if (found === '\r') return 'end lines with CRLF or LF';
  const isIndented = /[ \t]/.test(text[text.lastIndexOf('\n', offset - 1) + 1] ?? '');
  if (isIndented && found === '=') {
    return 'begin a rule at the left margin; an indented line continues the rule above';
  }
  if (isIndented && !expected.includes('an element') && /[A-Za-z]/.test(found)) {
    return 'begin a rule at the left margin';
  }
  if (found === '_') return 'use only letters, digits and "-" in a rule name';
  if (found === "'") return 'put strings in double quotes';
  if (found === '|') return 'separate alternatives with "/"';
  if ('+?*'.includes(found)) return 'write repetitions before the element: 1*a, *a, or [a] for at most once';
  if (found === '/' && expected.includes('rule name')) return 'begin a continuation line with a space';
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

/** Returns the core rules of RFC 5234, appendix B.1, by their folded names. */
export function coreRules(): ReadonlyMap<string, AbnfRule> {
  rules ??= new Map(rulesOf(parseAbnf(TEXT)).map((rule) => [foldedName(rule.name), rule]));
  return rules;
}

/** The rules, followed by the core rules that they do not redefine. */
export function rulesWithCore(rules: readonly AbnfRule[]): readonly AbnfRule[] {
  const own = new Set(rules.map(({ name }) => foldedName(name)));
  return [...rules, ...[...coreRules()].flatMap(([name, rule]) => (own.has(name) ? [] : [rule]))];
}

/** Appends the definitions of the core rules that a grammar uses but does not define, for tools that do not know them. */
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
