import type { ast, LocationRange } from 'peggy';
import { type Alphabet, ANY, alphabetOf, patternOf, TooManyKinds } from './alphabet.js';
import { javascriptOf } from './effects/types.js';
import {
  type Block,
  type Bound,
  type Expectation,
  type Label,
  type Node,
  type Program,
  type Rule,
  Unsupported,
} from './ir.js';

export interface Lowered extends Program {
  readonly alphabet: Alphabet;
}

/** The labels in scope by name. A group or alternative works on a copy, so that its labels stay local. */
type Scope = Map<string, Label>;

export function lower(grammar: ast.Grammar, startRules: readonly string[]): Lowered {
  const terminals = collectTerminals(grammar);
  const alphabet = alphabetFor(terminals);
  const blocks: Block[] = [];
  const rules = new Map<string, Rule>();
  for (const rule of grammar.rules) {
    const node = new RuleLowering(rule.name, alphabet, blocks).expression(rule.expression, new Map());
    rules.set(rule.name, { name: rule.name, node });
  }
  return { rules, startRules, blocks, alphabet };
}

interface Terminals {
  readonly classes: ast.CharacterClass[];
  readonly strings: ast.Literal[];
}

function alphabetFor({ classes, strings }: Terminals): Alphabet {
  try {
    return alphabetOf(classes, strings);
  } catch (thrown) {
    if (thrown instanceof TooManyKinds) throw new Unsupported(thrown.message);
    throw thrown;
  }
}

function collectTerminals(grammar: ast.Grammar): Terminals {
  const terminals: Terminals = { classes: [], strings: [] };
  const visit = (node: PeggyNode): void => {
    if (node.type === 'class') terminals.classes.push(node);
    else if (node.type === 'literal') terminals.strings.push(node);
    else if (node.type === 'choice') node.alternatives.forEach(visit);
    else if (node.type === 'sequence') node.elements.forEach(visit);
    else if ('expression' in node) visit(node.expression);
    if (node.type === 'repeated' && node.delimiter !== null) visit(node.delimiter);
  };
  for (const rule of grammar.rules) visit(rule.expression);
  return terminals;
}

type PeggyNode = ast.Expression | ast.Named;

/**
 * Characters whose lower case depends on their neighbors: sigma, surrogates, and a dotted I, which becomes two
 * characters, and these two.
 */
const CONTEXTUAL = /[\u0130\u03a3\u03c2\u03c3\ud800-\udfff]|i\u0307/i;

class RuleLowering {
  readonly #rule: string;
  readonly #alphabet: Alphabet;
  readonly #blocks: Block[];

  constructor(rule: string, alphabet: Alphabet, blocks: Block[]) {
    this.#rule = rule;
    this.#alphabet = alphabet;
    this.#blocks = blocks;
  }

  expression(node: PeggyNode, scope: Scope): Node {
    switch (node.type) {
      case 'named':
        return {
          type: 'named',
          item: this.expression(node.expression, scope),
          expected: { type: 'other', description: node.name },
        };
      case 'choice':
        return { type: 'choice', alternatives: node.alternatives.map((one) => this.#inside(one, scope)) };
      case 'action': {
        const own = new Map(scope);
        const item = this.expression(node.expression, own);
        return { type: 'action', item, block: this.#block('action', node.code, node.codeLocation, own) };
      }
      case 'sequence':
        return this.#sequence(node, scope);
      case 'labeled':
        return this.#label(node, scope);
      case 'text':
        return { type: 'text', item: this.#inside(node.expression, scope), isWord: false };
      case 'simple_and':
      case 'simple_not':
        return {
          type: 'lookahead',
          item: this.#inside(node.expression, scope),
          negative: node.type === 'simple_not',
        };
      case 'optional':
        return { type: 'optional', item: this.#inside(node.expression, scope) };
      case 'zero_or_more':
      case 'one_or_more':
        return {
          type: 'repeat',
          item: this.#inside(node.expression, scope),
          delimiter: null,
          min: node.type === 'one_or_more' ? 1 : 0,
          max: null,
        };
      case 'repeated':
        return this.#repeated(node, scope);
      case 'group':
        return this.#inside(node.expression, scope);
      case 'semantic_and':
      case 'semantic_not':
        return {
          type: 'predicate',
          block: this.#block('predicate', node.code, node.codeLocation, scope),
          negative: node.type === 'semantic_not',
        };
      case 'rule_ref':
        return { type: 'call', rule: node.name };
      case 'literal':
        return this.#literal(node);
      case 'class':
        return this.#class(node);
      case 'any':
        return { type: 'symbols', set: ANY, shown: '.', expected: { type: 'any' } };
      case 'library_ref':
        throw new Unsupported('rules imported from another grammar are matched by that grammar’s parser');
      default:
        throw new Unsupported(`the construct "${(node satisfies never as { type: string }).type}" is unknown`);
    }
  }

  #inside(node: ast.Expression, scope: Scope): Node {
    return this.expression(node, new Map(scope));
  }

  #sequence(node: ast.Sequence, scope: Scope): Node {
    const picks: Node[] = [];
    const elements = node.elements.map((element) => {
      const lowered = this.expression(element, scope);
      if (element.type === 'labeled' && element.pick) picks.push(lowered);
      return lowered;
    });
    return { type: 'sequence', elements, picks };
  }

  #label(node: ast.Labeled, scope: Scope): Node {
    const item = this.#inside(node.expression, scope);
    // A pick with or without a label of its own; both are looked up by node.
    const label: Label = { type: 'label', name: node.label ?? 'picked', item };
    if (node.label !== null) scope.set(node.label, label);
    return label;
  }

  #repeated(node: ast.Repeated, scope: Scope): Node {
    const bound = (one: ast.RepeatedBoundary): Bound => {
      if (one.type === 'constant') return one.value;
      if (one.type === 'variable') {
        const label = scope.get(one.value);
        if (label === undefined)
          throw new Unsupported(`a number of repetitions refers to the label "${one.value}", which is not in scope`);
        return label;
      }
      return this.#block('bound', one.value, one.codeLocation, scope);
    };
    const unlimited = node.max.type === 'constant' && node.max.value === null;
    // An exact count has only a maximum.
    const min = bound(node.min ?? node.max);
    return {
      type: 'repeat',
      min,
      max: unlimited ? null : node.min === null ? min : bound(node.max),
      item: this.#inside(node.expression, scope),
      delimiter: node.delimiter === null ? null : this.#inside(node.delimiter, scope),
    };
  }

  #literal({ value, ignoreCase }: ast.Literal): Node {
    if (value === '') return { type: 'empty' };
    const characters = value.split('');
    if (ignoreCase && CONTEXTUAL.test(value)) {
      throw new Unsupported(`the lower case of ${JSON.stringify(value)} depends on more than one character at a time`);
    }
    return {
      type: 'literal',
      text: value,
      symbols: characters.map((one) => this.#alphabet.symbolOf(one.charCodeAt(0))),
      folded: ignoreCase ? characters.map((one) => this.#alphabet.foldedSet(one)) : null,
      expected: { type: 'literal', text: value, ignoreCase },
    };
  }

  #class(node: ast.CharacterClass): Node {
    const set = this.#alphabet.classSet(node);
    const shown = shownClass(node);
    const { inverted, ignoreCase, unicode } = node;
    const parts = node.parts.map((part) => (typeof part === 'object' && 'value' in part ? `\\${part.value}` : part));
    const expected: Expectation = { type: 'class', parts, inverted, ignoreCase, unicode };
    if (!unicode) return { type: 'symbols', set, shown, expected };
    return { type: 'codePoint', set: set | this.#alphabet.surrogates, shown, expected, pattern: patternOf(node) };
  }

  #block(kind: Block['kind'], code: string, location: LocationRange, scope: Scope): Block {
    const block: Block = { kind, rule: this.#rule, code: javascriptOf(code), location, scope: new Map(scope) };
    this.#blocks.push(block);
    return block;
  }
}

/** A class in about the spelling of the grammar, in ASCII. */
function shownClass({ parts, inverted, ignoreCase, unicode }: ast.CharacterClass): string {
  const shown = (text: string): string =>
    text.replace(/[^ -~]|[\\\]^-]/gu, (one) =>
      one > '~' || one < ' ' ? `\\u{${one.codePointAt(0)!.toString(16)}}` : `\\${one}`,
    );
  const inside = parts.map((part) => {
    if (typeof part === 'string') return shown(part);
    if (Array.isArray(part)) return part.map(shown).join('-');
    return `\\${part.value}`;
  });
  const text = inside.join('');
  const short = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  return `[${inverted ? '^' : ''}${short}]${ignoreCase ? 'i' : ''}${unicode ? 'u' : ''}`.replaceAll('*/', '*\\/');
}
