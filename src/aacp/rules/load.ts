import { checkRule, type EncodeStep } from './check-rule.js';
import { libraryOf, type RuleLibrary } from './library.js';
import { entriesOf } from './parse-rules.js';
import { checkPin } from './pin.js';
import type { RuleReport, RuleReportCode, Tell } from './reports.js';
import type { Rule } from './rule.js';
import { isRuleSource, ruleOf } from './rule-schema.js';

export interface LoadRulesOptions {
  /** The SHA-256 that the text's UTF-8 bytes have to have, 64 hexadecimal digits: another text is refused. */
  readonly sha256?: string | undefined;
  /**
   * What the steps are tried with that rules name; `null` where they are taken as they are.
   * @default the workflow encoders that come with pegwire; `null` in `pegwire/aacp/fallback/portable`
   */
  readonly encodeStep?: EncodeStep | null | undefined;
}

/** The most reports about the shape of one rule. */
const MAX_ISSUES = 10;

/**
 * Reads rules: `loadRules`, with the default of `encodeStep`.
 *
 * @throws RulesError with code `bad-rules` or `hash-mismatch`; TypeError if an option is invalid
 */
export function readRules(source: unknown, options: LoadRulesOptions, ownSteps: EncodeStep | null): RuleLibrary {
  const { sha256, encodeStep = ownSteps } = options;
  if (encodeStep !== null && typeof encodeStep !== 'function') throw new TypeError('encodeStep is a function, or null');
  if (sha256 !== undefined) {
    if (typeof source !== 'string') throw new TypeError('sha256 is about a text; these rules were given as data');
    checkPin(new TextEncoder().encode(source), sha256);
  }
  const rules = new Map<string, Rule>();
  const reports: RuleReport[] = [];
  const phrases = new Map<string, string>();
  for (const [index, entry] of entriesOf(source).entries()) {
    const found = reportsAbout(index, entry);
    const rule = readRule(entry, found.tell);
    if (rule !== null) {
      if (rules.has(rule.id)) found.tell('duplicate-id', 'An earlier rule has this identifier.');
      checkRule(rule, encodeStep, found.tell);
      if (!found.failed()) {
        checkPhrases(rule, phrases, found.tell);
        rules.set(rule.id, rule);
      }
    }
    reports.push(...found.reports);
  }
  return libraryOf([...rules.values()], reports);
}

/** The findings about one rule. */
function reportsAbout(index: number, entry: unknown) {
  const reports: RuleReport[] = [];
  const id = idOf(entry);
  const told = new Set<string>();
  const tell: Tell = (code: RuleReportCode, message, severity = 'error') => {
    // Several phrases may have the same fault.
    if (told.has(code + message)) return;
    told.add(code + message);
    reports.push({ index, id, code, severity, message });
  };
  return { tell, reports, failed: () => reports.some(({ severity }) => severity === 'error') };
}

function readRule(entry: unknown, tell: Tell): Rule | null {
  let issues = 0;
  const fault = (place: string, expected: string): void => {
    if (++issues <= MAX_ISSUES) tell('not-a-rule', `${place}${place === '' ? '' : ': '}${expected}.`);
  };
  return isRuleSource(entry, fault) ? ruleOf(entry) : null;
}

/** Two rules of a domain with the same phrase: which of them serves would hang on their names. */
function checkPhrases({ id, domain, phrases }: Rule, known: Map<string, string>, tell: Tell): void {
  for (const phrase of phrases) {
    const key = `${domain} ${phrase.toLowerCase().trim().replace(/\s+/g, ' ')}`;
    const other = known.get(key);
    if (other !== undefined && other !== id)
      tell('same-phrase', `The rule ${other} has the phrase "${phrase}", too.`, 'warning');
    known.set(key, other ?? id);
  }
}

function idOf(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null || !Object.hasOwn(entry, 'id')) return null;
  const { id } = entry as { readonly id: unknown };
  return typeof id === 'string' ? id.slice(0, 200) : null;
}
