/** The rules that every ABNF grammar may use without defining them: RFC 5234, appendix B.1. */
import type { AbnfGrammar, AbnfRule } from './ast.js';
import { parseAbnf } from './parse.js';
import { foldedName, rulesOf, visitRule } from './walk.js';

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
