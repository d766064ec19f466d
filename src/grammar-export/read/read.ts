import type { ast } from 'peggy';
import { joined, rangesOf } from '../../fuzz/grammar/classes.js';
import {
  caseVariants,
  dependsOnContext,
  HIGH_HALVES,
  intersectionOf,
  LAST_CODE_POINT,
  LAST_UNIT,
  LOW_HALVES,
  type Ranges,
  variantsInContext,
} from '../characters.js';
import { type Approximation, type CodePointRange, ExportError, type Peg, type PegRules } from '../context-free.js';

interface Read {
  readonly rules: PegRules;
  readonly approximations: readonly Approximation[];
}

/**
 * Reads all rules. Sets are of code units. `depthChecks` names rules whose conditions the caller replaces.
 *
 * @throws ExportError `not-context-free` if a rule of another grammar is used
 */
export function readRules(grammar: ast.Grammar, depthChecks: ReadonlySet<string>): Read {
  const approximations: Approximation[] = [];
  const rules = new Map<string, Peg>();
  for (const { name, expression } of grammar.rules) {
    const note = (approximation: Approximation | null): void => {
      if (approximation !== null && !depthChecks.has(name)) approximations.push(approximation);
    };
    rules.set(name, read(expression, name, note));
  }
  return { rules, approximations };
}

type Note = (approximation: Approximation | null) => void;

function read(node: ast.Expression | ast.Named, rule: string, note: Note): Peg {
  switch (node.type) {
    case 'action':
      note(refusing(rule, node));
      return read(node.expression, rule, note);
    case 'named':
    case 'labeled':
    case 'text':
    case 'group':
      return read(node.expression, rule, note);
    case 'choice':
      return { kind: 'choice', items: node.alternatives.map((one) => read(one, rule, note)) };
    case 'sequence':
      return {
        kind: 'sequence',
        items: node.elements.flatMap((one) => {
          const item = read(one, rule, note);
          return item.kind === 'sequence' ? item.items : [item];
        }),
      };
    case 'simple_and':
    case 'simple_not':
      return { kind: 'lookahead', negative: node.type === 'simple_not', item: read(node.expression, rule, note) };
    case 'semantic_and':
    case 'semantic_not':
      note(leftOut(rule, node));
      return { kind: 'code' };
    case 'optional':
      return { kind: 'repeat', item: read(node.expression, rule, note), min: 0, max: 1 };
    case 'zero_or_more':
    case 'one_or_more':
      return {
        kind: 'repeat',
        item: read(node.expression, rule, note),
        min: node.type === 'one_or_more' ? 1 : 0,
        max: null,
      };
    case 'repeated':
      return repeated(node, rule, note);
    case 'literal':
      return literal(node, rule, note);
    case 'class':
      return pegOfClass(node);
    case 'any':
      return { kind: 'set', ranges: [[0, LAST_UNIT]] };
    case 'rule_ref':
      return { kind: 'rule', name: node.name };
    case 'library_ref':
      throw new ExportError(
        'not-context-free',
        `The rule ${rule} uses a rule of another grammar; imports are not supported, so copy the rule`,
        rule,
      );
  }
}

/** Halves of surrogate pairs on their own. */
const LONE_HALF = /\p{Cs}/u;

function literal({ value, ignoreCase }: ast.Literal, rule: string, note: Note): Peg {
  if (ignoreCase && value.toLowerCase().includes('i\u0307')) return dotted(value, rule, note);
  if (ignoreCase && dependsOnContext(value)) return { kind: 'sequence', items: variantsInContext(value).map(anyOf) };
  // Characters that are one code unit each can stay together.
  const isSimple = ignoreCase ? !/[\ud800-\udfff]/.test(value) : !LONE_HALF.test(value);
  if (isSimple) return { kind: 'literal', text: value, ignoreCase: ignoreCase && value !== '' };
  return { kind: 'sequence', items: Array.from(value, (character) => oneCharacter(character, ignoreCase)) };
}

function oneCharacter(character: string, ignoreCase: boolean): Peg {
  const codePoint = character.codePointAt(0)!;
  if (LONE_HALF.test(character)) return { kind: 'set', ranges: [[codePoint, codePoint]] };
  if (codePoint <= LAST_UNIT || !ignoreCase) return { kind: 'literal', text: character, ignoreCase };
  return anyOf(caseVariants(codePoint));
}

function anyOf(codePoints: readonly number[]): Peg {
  if (codePoints.every((one) => one <= LAST_UNIT)) {
    return { kind: 'set', ranges: joined(codePoints.map((one) => [one, one])) };
  }
  return {
    kind: 'choice',
    items: codePoints.map((one) => ({ kind: 'literal', text: String.fromCodePoint(one), ignoreCase: false })),
  };
}

/** The maximum number of letters i with a dot in one literal: each may double the size of its pattern. */
const MAX_DOTTED = 3;

/**
 * Reads a case-insensitive literal whose lower case contains an i with a dot above. Peggy compares as many code units
 * as this lower case has, fewer at the end of a text, where U+0130 may match two of them.
 */
function dotted(value: string, rule: string, note: Note): Peg {
  const lower = [...value.toLowerCase()];
  const full = variantsInContext(value).map(anyOf);
  const places = lower.flatMap((character, at) => (character === 'i' && lower[at + 1] === '\u0307' ? [at] : []));
  const read = (texts: readonly Peg[], whole: Peg): Peg | null => {
    const taken = texts.slice(0, value.length);
    const isSimple = lower.every((character) => character.length === 1) && taken.length === value.length;
    return isSimple
      ? { kind: 'sequence', items: [{ kind: 'lookahead', negative: false, item: whole }, ...taken] }
      : null;
  };
  const end: Peg = { kind: 'lookahead', negative: true, item: { kind: 'set', ranges: [[0, LAST_UNIT]] } };
  const shorter = Array.from({ length: 2 ** Math.min(places.length, MAX_DOTTED) - 1 }, (_, index) => {
    const capitals = new Set(places.filter((_place, bit) => ((index + 1) >> bit) % 2 === 1));
    const texts = full.flatMap((item, at): Peg[] => {
      if (capitals.has(at)) return [anyOf([0x130])];
      return capitals.has(at - 1) ? [] : [item];
    });
    return read(texts, { kind: 'sequence', items: [...texts, end] });
  });
  const items = [read(full, { kind: 'sequence', items: full }), ...shorter];
  if (places.length > MAX_DOTTED || items.includes(null)) {
    const message = 'at the end of a text, the parser reads the letter U+0130 as two characters';
    note({ code: 'case', rule, message });
  }
  return { kind: 'choice', items: items.filter((item) => item !== null) };
}

/** `|min..max, delimiter|`, expanded if there is a delimiter. */
function repeated(node: ast.Repeated, rule: string, note: Note): Peg {
  const { min, max } = bounds(node, rule, note);
  const item = read(node.expression, rule, note);
  // No count is at least the minimum and at most the maximum.
  if (max !== null && max < min) return { kind: 'choice', items: [] };
  if (node.delimiter === null || max === 0) return { kind: 'repeat', item, min, max };
  const further: Peg = { kind: 'sequence', items: [read(node.delimiter, rule, note), item] };
  const rest: Peg = {
    kind: 'repeat',
    item: further,
    min: Math.max(min - 1, 0),
    max: max === null ? null : max - 1,
  };
  const list: Peg = { kind: 'sequence', items: [item, rest] };
  return min > 0 ? list : { kind: 'repeat', item: list, min: 0, max: 1 };
}

function bounds(node: ast.Repeated, rule: string, note: Note): { min: number; max: number | null } {
  const known = (boundary: ast.RepeatedBoundary): number | null | undefined =>
    boundary.type === 'constant' ? boundary.value : undefined;
  const max = known(node.max);
  // `|4|` has no minimum of its own: the maximum is both.
  const min = node.min === null ? max : known(node.min);
  if (max === undefined || min === undefined) {
    note({
      code: 'repetition',
      rule,
      message: `the bounds of the repetition on line ${node.location.start.line} are known only to the parser`,
    });
  }
  return { min: min ?? 0, max: max ?? null };
}

function pegOfClass(node: ast.CharacterClass): Peg {
  const ranges = rangesOf(node);
  if (!node.unicode) return setOf(ranges);
  // A first half alone never occurs in a text, so a class never matches just that.
  const units = intersectionOf(ranges, [
    [0, HIGH_HALVES[0] - 1],
    [HIGH_HALVES[1] + 1, LAST_UNIT],
  ]);
  const astral = intersectionOf(ranges, [[LAST_UNIT + 1, LAST_CODE_POINT]]);
  return { kind: 'choice', items: [setOf(units), ...pairsOf(astral)] };
}

function setOf(ranges: Ranges): Peg {
  return { kind: 'set', ranges };
}

/** Characters beyond U+FFFF by their halves. First halves with the same second halves are grouped. */
function pairsOf(ranges: Ranges): Peg[] {
  const highByLow = new Map<string, { low: CodePointRange; high: CodePointRange[] }>();
  const add = (high: CodePointRange, low: CodePointRange): void => {
    if (high[0] > high[1]) return;
    const key = low.join();
    const known = highByLow.get(key);
    if (known === undefined) highByLow.set(key, { low, high: [high] });
    else known.high.push(high);
  };
  for (const [first, last] of ranges) {
    const [from, to] = [halvesOf(first), halvesOf(last)];
    if (from.high === to.high) {
      add([from.high, from.high], [from.low, to.low]);
      continue;
    }
    const startsWhole = from.low === LOW_HALVES[0];
    const endsWhole = to.low === LOW_HALVES[1];
    if (!startsWhole) add([from.high, from.high], [from.low, LOW_HALVES[1]]);
    add([from.high + (startsWhole ? 0 : 1), to.high - (endsWhole ? 0 : 1)], LOW_HALVES);
    if (!endsWhole) add([to.high, to.high], [LOW_HALVES[0], to.low]);
  }
  return [...highByLow.values()].map(({ low, high }) => ({
    kind: 'sequence',
    items: [setOf(joined(high)), setOf([low])],
  }));
}

function halvesOf(codePoint: number): { readonly high: number; readonly low: number } {
  const text = String.fromCodePoint(codePoint);
  return { high: text.charCodeAt(0), low: text.charCodeAt(1) };
}

const EXCERPT = 60;

/** An action that calls one of these rejects the text, as a predicate would. */
const REFUSING = /\b(?:error|expected)\s*\(|\bthrow\b/;

function leftOut(rule: string, node: ast.SemanticPredicate): Approximation {
  const sign = node.type === 'semantic_and' ? '&' : '!';
  return {
    code: 'predicate',
    rule,
    message: `the condition ${sign}{${excerptOf(node.code)}} on line ${node.location.start.line} is not checked`,
  };
}

function refusing(rule: string, node: ast.Action): Approximation | null {
  if (!REFUSING.test(node.code)) return null;
  return {
    code: 'predicate',
    rule,
    message: `texts that the action {${excerptOf(node.code)}} on line ${node.location.start.line} rejects are accepted`,
  };
}

function excerptOf(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > EXCERPT ? ` ${line.slice(0, EXCERPT - 3)}... ` : ` ${line} `;
}
