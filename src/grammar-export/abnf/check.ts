import type { Diagnostic } from '../../text/diagnostic.js';
import { nearest } from '../../text/suggest.js';
import { type AbnfElement, type AbnfGrammar, type AbnfRule, foldedName, partsOf, rulesOf, visitRule } from './ast.js';
import { coreRules, rulesWithCore } from './parse.js';

/** The codes of {@link checkAbnf}. */
export type AbnfCode =
  | 'undefined-rule'
  | 'duplicate-rule'
  | 'nothing-to-extend'
  | 'unused-rule'
  | 'left-recursion'
  | 'empty-range'
  | 'empty-repetition';

interface CheckAbnfOptions {
  /** The rule that a whole text must match. @default the first rule */
  readonly startRule?: string | undefined;
}

/** The maximum number of rule names that a suggestion is chosen from, and of suggestions. */
const MAX_CANDIDATES = 1_000;
const MAX_SUGGESTIONS = 20;

/** A fault of a grammar; `section` is a section of RFC 5234. */
export type AbnfDiagnostic = Diagnostic<AbnfCode>;

/**
 * Checks an ABNF grammar. Reports as errors rules that are used but not defined, and are not core rules either; rules
 * that are defined twice, or extended with `=/` before they are defined; and ranges and repetitions that match nothing.
 * Reports as warnings rules that the start rule does not use, and left recursion, which ABNF allows but many parsers do
 * not support. Names are case-insensitive. Takes linear time.
 *
 * Source: RFC 5234. A diagnostic has a `span` if the grammar was parsed with spans.
 *
 * @throws TypeError if the start rule is not defined
 * @example
 * checkAbnf(parseAbnf('a = b\n')).map(({ message }) => message) // ['The rule "b" is not defined.']
 */
export function checkAbnf(grammar: AbnfGrammar, { startRule }: CheckAbnfOptions = {}): readonly AbnfDiagnostic[] {
  const rules = rulesOf(grammar);
  const names = new Set(rules.map(({ name }) => foldedName(name)));
  if (startRule !== undefined && !names.has(foldedName(startRule))) {
    throw new TypeError(`startRule must be a rule of the grammar; got ${startRule}`);
  }
  return [
    ...definitions(rules),
    ...undefinedRules(rules, names),
    ...unusedRules(rules, startRule),
    ...leftRecursion(rules),
    ...rules.flatMap(impossibleElements),
  ];
}

function definitions(rules: readonly AbnfRule[]): AbnfDiagnostic[] {
  const first = new Map<string, AbnfRule>();
  return rules.flatMap((rule): AbnfDiagnostic[] => {
    const { name, sign } = rule;
    const earlier = first.get(foldedName(name));
    if (earlier === undefined) first.set(foldedName(name), rule);
    if (sign === '=/' && earlier === undefined) {
      const help = 'define it with "=" first';
      return [
        finding('nothing-to-extend', `The rule "${name}" is extended before it is defined.`, '3.3', rule, { help }),
      ];
    }
    if (sign === '=' && earlier !== undefined) {
      const related = earlier.span === undefined ? {} : { related: [earlier.span] };
      const help = 'add alternatives with "=/"';
      return [finding('duplicate-rule', `The rule "${name}" is defined twice.`, '2.1', rule, { help, ...related })];
    }
    return [];
  });
}

function undefinedRules(rules: readonly AbnfRule[], names: ReadonlySet<string>): AbnfDiagnostic[] {
  const found = new Map<string, AbnfDiagnostic>();
  const candidates = rules.length <= MAX_CANDIDATES ? rules.map(({ name }) => name) : [];
  for (const rule of rules) {
    visitRule(rule, (element) => {
      if (element.kind !== 'reference') return;
      const { name } = element;
      const folded = foldedName(name);
      if (names.has(folded) || coreRules().has(folded) || found.has(folded)) return;
      const meant = found.size < MAX_SUGGESTIONS ? nearest(name, candidates) : undefined;
      const help = meant === undefined ? {} : { help: `did you mean "${meant}"?` };
      found.set(folded, finding('undefined-rule', `The rule "${name}" is not defined.`, '2.1', element, help));
    });
  }
  return [...found.values()];
}

function unusedRules(rules: readonly AbnfRule[], startRule: string | undefined): AbnfDiagnostic[] {
  const byName = new Map<string, AbnfRule[]>();
  for (const rule of rules) {
    const name = foldedName(rule.name);
    const parts = byName.get(name);
    if (parts === undefined) byName.set(name, [rule]);
    else parts.push(rule);
  }
  const start = startRule ?? rules[0]?.name;
  if (start === undefined) return [];
  const used = new Set([foldedName(start)]);
  // A set may grow during iteration.
  for (const name of used) {
    for (const rule of byName.get(name) ?? []) {
      visitRule(rule, (element) => {
        if (element.kind === 'reference') used.add(foldedName(element.name));
      });
    }
  }
  return [...byName]
    .filter(([name]) => !used.has(name))
    .map(([, [rule]]) => finding('unused-rule', `The rule "${rule!.name}" is not used.`, '2.1', rule!));
}

function leftRecursion(rules: readonly AbnfRule[]): AbnfDiagnostic[] {
  const recursive = new Set(leftRecursiveRules(rulesWithCore(rules)));
  // A rule in several parts is reported once.
  return rules
    .filter(({ name }) => recursive.delete(foldedName(name)))
    .map((rule) => finding('left-recursion', `The rule "${rule.name}" can begin with itself.`, '2.1', rule));
}

function impossibleElements(rule: AbnfRule): AbnfDiagnostic[] {
  const found: AbnfDiagnostic[] = [];
  visitRule(rule, (element) => {
    if (element.kind === 'range' && element.first > element.last) {
      const message = `A range in the rule "${rule.name}" ends before it begins.`;
      found.push(finding('empty-range', message, '3.4', rule));
    }
    if (element.kind === 'repetition' && element.max !== null && element.min > element.max) {
      const message = `A repetition in the rule "${rule.name}" has a minimum above its maximum.`;
      found.push(finding('empty-repetition', message, '3.6', rule));
    }
  });
  return found;
}

const WARNINGS: ReadonlySet<AbnfCode> = new Set<AbnfCode>(['unused-rule', 'left-recursion']);

function finding(
  code: AbnfCode,
  message: string,
  section: string,
  { span = null }: { readonly span?: AbnfDiagnostic['span'] },
  more: Pick<AbnfDiagnostic, 'help' | 'related'> = {},
): AbnfDiagnostic {
  return { code, severity: WARNINGS.has(code) ? 'warning' : 'error', message, span, section, ...more };
}

/** Finds the left-recursive rules by their folded names, in linear time. Rules that are not defined count as not empty. */
function leftRecursiveRules(rules: readonly AbnfRule[]): ReadonlySet<string> {
  const empty = emptyRules(rules);
  const starts = new Map<string, Set<string>>();
  for (const { name, alternatives } of rules) {
    const own = starts.get(foldedName(name)) ?? new Set<string>();
    starts.set(foldedName(name), own);
    for (const { element } of alternatives) addStarts(element, own, empty);
  }
  return onCycles(starts);
}

/** Adds the rules that an element can begin with. Returns `true` if the element can be empty, so the next one can come first, too. */
function addStarts(element: AbnfElement, starts: Set<string>, empty: ReadonlySet<string>): boolean {
  switch (element.kind) {
    case 'alternation':
      return element.items.map((item) => addStarts(item, starts, empty)).includes(true);
    case 'concatenation':
      return element.items.every((item) => addStarts(item, starts, empty));
    case 'repetition':
      return element.max === 0 || addStarts(element.item, starts, empty) || element.min === 0;
    case 'option':
      addStarts(element.item, starts, empty);
      return true;
    case 'reference': {
      const name = foldedName(element.name);
      starts.add(name);
      return empty.has(name);
    }
    case 'string':
      return element.text === '';
    default:
      return false;
  }
}

interface Visit {
  readonly name: string;
  readonly rest: Iterator<string>;
  readonly number: number;
  /** The lowest number reachable from here, among names that are not assigned to a component yet. */
  lowest: number;
}

/**
 * Finds the names that lead back to themselves. Tarjan's algorithm for strongly connected components, with a stack
 * instead of recursion because chains of rules may be long.
 */
function onCycles(graph: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const cyclic = new Set<string>();
  const numbers = new Map<string, number>();
  const settled = new Set<string>();
  const open: string[] = [];
  const visits: Visit[] = [];

  const enter = (name: string): void => {
    const number = numbers.size;
    numbers.set(name, number);
    open.push(name);
    visits.push({ name, rest: (graph.get(name) ?? new Set<string>()).values(), number, lowest: number });
  };
  const leave = ({ name, number, lowest }: Visit): void => {
    visits.pop();
    const caller = visits.at(-1);
    if (caller !== undefined) caller.lowest = Math.min(caller.lowest, lowest);
    if (lowest < number) return;
    const component = open.splice(open.lastIndexOf(name));
    for (const member of component) settled.add(member);
    if (component.length > 1 || graph.get(name)?.has(name) === true) for (const one of component) cyclic.add(one);
  };

  for (const root of graph.keys()) {
    if (!numbers.has(root)) enter(root);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const next = visit.rest.next();
      if (next.done === true) leave(visit);
      else if (!numbers.has(next.value)) enter(next.value);
      else if (!settled.has(next.value)) visit.lowest = Math.min(visit.lowest, numbers.get(next.value)!);
    }
  }
  return cyclic;
}

/** An element or a rule that can be empty as soon as `missing` of its dependencies can. */
interface Node {
  missing: number;
  readonly waiting: Node[];
}

/**
 * Finds the rules that can be empty, by their folded names, in linear time. Each element waits for its parts, each
 * reference for its rule.
 */
function emptyRules(rules: readonly AbnfRule[]): ReadonlySet<string> {
  const known = new Map<string, Node>();
  const found: Node[] = [];
  const nodeOf = (name: string): Node => {
    const node = known.get(name) ?? { missing: 1, waiting: [] };
    known.set(name, node);
    return node;
  };
  const add = (element: AbnfElement, waiting: Node): void => {
    const node: Node = { missing: missingOf(element), waiting: [waiting] };
    if (node.missing === 0) found.push(node);
    if (element.kind === 'reference') nodeOf(foldedName(element.name)).waiting.push(node);
    for (const part of partsOf(element)) add(part, node);
  };
  for (const { name, alternatives } of rules) {
    for (const { element } of alternatives) add(element, nodeOf(foldedName(name)));
  }
  for (let node = found.pop(); node !== undefined; node = found.pop()) {
    for (const other of node.waiting) if (--other.missing === 0) found.push(other);
  }
  return new Set([...known].filter(([, { missing }]) => missing <= 0).map(([name]) => name));
}

/** The number of parts or references that must be empty for the element to be empty. */
function missingOf(element: AbnfElement): number {
  switch (element.kind) {
    case 'concatenation':
      return element.items.length;
    case 'repetition':
      return element.min === 0 ? 0 : 1;
    case 'option':
      return 0;
    case 'string':
      return element.text === '' ? 0 : 1;
    default:
      return 1;
  }
}
