/**
 * The code of actions, predicates and bounds, for use in a scanner. An action that is a single expression is inlined:
 * labels become variables, and `text()`, `range()` and the like become expressions. Code with statements becomes a
 * function.
 */
import type { Expression, Program } from 'acorn';
import { POSITION_FUNCTIONS } from './effects/purity.js';
import { freeReferences, parseBody, type Reference } from './effects/scopes.js';
import { children, holds, isFunction, type Node, nodesIn } from './effects/syntax.js';
import { type Block, type Label, Unsupported } from './ir.js';
import { type Edit, edited } from './javascript.js';
import { CODE_AT, clashingName, INPUT } from './names.js';

export interface Place {
  readonly variable: (label: Label) => string;
  /** Returns `true` if the variable of a label contains the converted value. */
  readonly isConverted: (label: Label) => boolean;
  readonly start: string;
  readonly end: string;
}

export interface WrittenOut {
  readonly statements: readonly string[];
  readonly value: string | null;
}

type Mark = (text: string, start: number) => string;

/** The value that code makes of a label: a number of its digits, or one text of its items. */
export type Conversion = 'Number' | 'parseFloat' | 'parseInt' | 'join';

export class BlockCode {
  readonly block: Block;
  readonly labels: readonly Label[];
  /** `true` if the code must become a function. */
  readonly isFunction: boolean;
  /** `true` if functions that the code calls by name need the position of the match. */
  readonly needsPosition: boolean;
  /** `true` if the code uses `text()`, `range()`, `offset()` or `location()` in a form that is inlined. */
  readonly mentionsStart: boolean;
  /** `true` if computing the returned value has no effects. */
  readonly isValuePure: boolean;
  readonly #program: Program;
  readonly #references: readonly Reference[];

  constructor(block: Block, program: Program = parseBody(block.code)) {
    this.block = block;
    this.#program = program;
    const clash = clashingName(this.#program, new Set(block.scope.keys()));
    if (clash !== undefined) throw new Unsupported(`the name "${clash}" is reserved for generated code`);
    this.#references = freeReferences(this.#program);
    const names = new Set(this.#references.map(({ name }) => name));
    this.isFunction = !isStraight(this.#program) || holds(this.#program, (node) => needsNames(node, block.scope));
    // A variable of the code may have the name of a label, whose value it then starts with.
    const mentioned = this.isFunction ? identifiersIn(this.#program) : names;
    this.labels = [...block.scope].filter(([name]) => mentioned.has(name)).map(([, label]) => label);
    const written = this.isFunction ? [] : [...this.#positionCalls()];
    this.mentionsStart = written.length > 0;
    this.isValuePure = !this.isFunction && isPureValue(this.#program, new Set(written.map(({ node }) => node)));
    const given = this.#references.filter(({ name }) => this.#isPositionFunction(name));
    this.needsPosition = given.length > written.length || names.has('error') || names.has('expected');
  }

  get mentioned(): readonly string[] {
    return this.#references.map(({ name }) => name);
  }

  get parameters(): readonly string[] {
    return [...this.block.scope].filter(([, label]) => this.labels.includes(label)).map(([name]) => name);
  }

  /** The conversion of a label, if the code uses the label for nothing else. */
  conversionOf(label: Label): Conversion | null {
    if (this.isFunction) return null;
    const references = this.#references.filter(({ name }) => this.block.scope.get(name) === label);
    const uses = references.map(({ node }) => this.#conversionAt(node));
    const [first] = uses;
    if (!first || !uses.every((use) => use?.how === first.how)) return null;
    return first.how;
  }

  /** The call that converts a label where the code mentions it. */
  #conversionAt(identifier: Node): { readonly how: Conversion; readonly start: number; readonly end: number } | null {
    for (const node of nodesIn(this.#program)) {
      if (node.type !== 'CallExpression') continue;
      const { callee, arguments: given, start, end } = node;
      if (given[0] === identifier && callee.type === 'Identifier') {
        const { name } = callee;
        const [, radix] = given;
        const isDecimal = radix?.type === 'Literal' && radix.value === 10;
        if (this.block.scope.has(name)) return null;
        if (name === 'parseInt') return isDecimal && given.length === 2 ? { how: name, start, end } : null;
        if (name === 'Number' || name === 'parseFloat') return given.length === 1 ? { how: name, start, end } : null;
      }
      if (callee.type === 'MemberExpression' && callee.object === identifier && isNamed(callee, 'join')) {
        const [separator] = given;
        const isEmpty = separator?.type === 'Literal' && separator.value === '';
        return isEmpty && given.length === 1 && !node.optional && !callee.optional ? { how: 'join', start, end } : null;
      }
    }
    return null;
  }

  /** `true` if the value is the matched text: `return text();`. */
  get returnsMatch(): boolean {
    const [only, ...others] = this.#program.body;
    if (this.isFunction || others.length > 0 || only?.type !== 'ReturnStatement' || !only.argument) return false;
    const { argument } = only;
    return [...this.#positionCalls()].some(({ name, node }) => name === 'text' && node === argument);
  }

  /** Returns `true` if the value is always a string, judging by the syntax. */
  returnsString(isText: (label: Label) => boolean): boolean {
    const last = this.#program.body.at(-1);
    if (this.isFunction || last?.type !== 'ReturnStatement' || !last.argument) return false;
    const free = new Set(this.#references.map(({ node }) => node as Node));
    const isString = (node: Node): boolean => {
      switch (node.type) {
        case 'Literal':
          return typeof node.value === 'string';
        case 'TemplateLiteral':
          return true;
        case 'BinaryExpression':
          return node.operator === '+' && (isString(node.left) || isString(node.right));
        case 'ConditionalExpression':
          return isString(node.consequent) && isString(node.alternate);
        case 'Identifier': {
          const label = this.block.scope.get(node.name);
          return label !== undefined && free.has(node) && isText(label);
        }
        case 'CallExpression': {
          const { callee } = node;
          if (callee.type === 'Identifier') return callee.name === 'text' && this.#isPositionFunction('text');
          if (callee.type !== 'MemberExpression') return false;
          const { object } = callee;
          if (object.type === 'Identifier' && object.name === 'String' && !this.block.scope.has('String')) {
            return isNamed(callee, 'fromCharCode') || isNamed(callee, 'fromCodePoint');
          }
          return isString(object) && STRING_METHODS.some((name) => isNamed(callee, name));
        }
        default:
          return false;
      }
    };
    return isString(last.argument);
  }

  get body(): string {
    return edited(this.block.code, this.#charCodeEdits());
  }

  writeOut(place: Place, mark: Mark = (text) => text): WrittenOut {
    const edits = [...this.#labelEdits(place), ...this.#positionEdits(place), ...this.#charCodeEdits()];
    const text = (node: { readonly start: number; readonly end: number }): string =>
      mark(edited(this.block.code, edits, node.start, node.end), node.start);
    const statements: string[] = [];
    for (const statement of this.#program.body) {
      if (statement.type === 'ReturnStatement') {
        return { statements, value: statement.argument ? operand(text(statement.argument), statement.argument) : null };
      }
      if (statement.type === 'ExpressionStatement') statements.push(`${text(statement.expression)};`);
    }
    return { statements, value: null };
  }

  #isPositionFunction(name: string): boolean {
    return POSITION_FUNCTIONS.has(name) && !this.block.scope.has(name);
  }

  #labelEdits({ variable, isConverted }: Place): Edit[] {
    return this.#references.flatMap(({ name, start, end, shorthand, node }) => {
      const label = this.block.scope.get(name);
      if (label === undefined) return [];
      if (isConverted(label)) {
        const call = this.#conversionAt(node)!;
        return [{ start: call.start, end: call.end, text: variable(label) }];
      }
      return [{ start, end, text: shorthand ? `${name}: ${variable(label)}` : variable(label) }];
    });
  }

  #positionEdits({ start, end }: Place): Edit[] {
    return [...this.#positionCalls()].map(({ name, node, member }) => {
      const text = {
        offset: start,
        text: `${INPUT}.substring(${start}, ${end})`,
        range: `{ source: source$, start: ${start}, end: ${end} }`,
        location: `locationOf$(${start}, ${end})`,
      }[name];
      if (member === 'start') return { start: node.start, end: node.end, text: start };
      if (member === 'end') return { start: node.start, end: node.end, text: end };
      return { start: node.start, end: node.end, text: name === 'range' ? `(${text})` : text };
    });
  }

  *#positionCalls(): Generator<PositionCall> {
    const free = new Set<Node>(this.#references.map(({ node }) => node));
    const open: Node[] = [this.#program];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const call = node.type === 'MemberExpression' && !node.computed ? node.object : node;
      if (
        call.type === 'CallExpression' &&
        call.arguments.length === 0 &&
        call.callee.type === 'Identifier' &&
        free.has(call.callee) &&
        isWrittenOut(call.callee.name) &&
        this.#isPositionFunction(call.callee.name)
      ) {
        const { name } = call.callee;
        const member =
          node.type === 'MemberExpression' && node.property.type === 'Identifier' ? node.property.name : '';
        if (name === 'range' && (member === 'start' || member === 'end')) {
          yield { name, node, member };
          continue;
        }
        if (node === call) {
          yield { name, node, member: null };
          continue;
        }
      }
      open.push(...children(node));
    }
  }

  /** `input.charCodeAt(at)` reads the scanned symbols, which is faster. */
  #charCodeEdits(): Edit[] {
    if (this.block.scope.has(INPUT) || this.block.scope.has(CODE_AT)) return [];
    return charCodeEdits(this.#program, this.#references);
  }
}

interface PositionCall {
  readonly name: 'text' | 'range' | 'offset' | 'location';
  readonly node: Node;
  readonly member: 'start' | 'end' | null;
}

const STRING_METHODS = ['slice', 'substring', 'toLowerCase', 'toUpperCase', 'trim'];

function isNamed(member: Node & { readonly type: 'MemberExpression' }, name: string): boolean {
  return !member.computed && member.property.type === 'Identifier' && member.property.name === name;
}

function isWrittenOut(name: string): name is PositionCall['name'] {
  return name === 'text' || name === 'range' || name === 'offset' || name === 'location';
}

export function charCodeEdits(program: Node, references: readonly Reference[]): Edit[] {
  const inputs = new Set<Node>(references.filter(({ name }) => name === INPUT).map(({ node }) => node));
  const edits: Edit[] = [];
  for (const node of nodesIn(program)) {
    if (
      node.type === 'CallExpression' &&
      node.arguments.length === 1 &&
      node.arguments[0]?.type !== 'SpreadElement' &&
      node.callee.type === 'MemberExpression' &&
      !node.callee.computed &&
      !node.callee.optional &&
      inputs.has(node.callee.object) &&
      node.callee.property.type === 'Identifier' &&
      node.callee.property.name === 'charCodeAt'
    ) {
      edits.push({ start: node.callee.start, end: node.callee.end, text: CODE_AT });
    }
  }
  return edits;
}

/** Returns `true` for code that assigns to a label, and for calls whose errors would show the name of a label: inlined code has others. */
function needsNames(node: Node, labels: ReadonlyMap<string, Label>): boolean {
  if (node.type === 'CallExpression' && isListMethod(node.callee, labels)) return false;
  if (node.type === 'CallExpression' || node.type === 'NewExpression') return isReachedFrom(node.callee, labels);
  if (node.type === 'SpreadElement') return isReachedFrom(node.argument, labels);
  if (node.type !== 'UpdateExpression' && node.type !== 'AssignmentExpression') return false;
  const target = node.type === 'UpdateExpression' ? node.argument : node.left;
  return target.type !== 'MemberExpression' && (target.type !== 'Identifier' || labels.has(target.name));
}

/** Returns `true` for a method that every list has: the value of a repetition is one. */
function isListMethod(callee: Node, labels: ReadonlyMap<string, Label>): boolean {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return false;
  const { name } = callee.object;
  return labels.get(name)?.item.type === 'repeat' && LIST_METHODS.some((method) => isNamed(callee, method));
}

const LIST_METHODS = ['join', 'map', 'concat', 'slice', 'filter', 'flat', 'reduce', 'reverse'];

function isReachedFrom(node: Node, labels: ReadonlyMap<string, Label>): boolean {
  if (node.type === 'MemberExpression') return isReachedFrom(node.object, labels);
  if (node.type === 'CallExpression') return isReachedFrom(node.callee, labels);
  return node.type === 'Identifier' && labels.has(node.name);
}

function identifiersIn(program: Program): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodesIn(program)) if (node.type === 'Identifier') names.add(node.name);
  return names;
}

function isStraight(program: Program): boolean {
  const last = program.body.length - 1;
  return (
    program.body.every(
      (statement, index) =>
        (statement.type === 'ExpressionStatement' &&
          !('directive' in statement && statement.directive !== undefined)) ||
        (statement.type === 'ReturnStatement' && index === last),
    ) && !holds(program, capturesLabels)
  );
}

/** Returns `true` if the returned expression neither calls nor changes anything, judging by its syntax. */
function isPureValue(program: Program, harmless: ReadonlySet<Node>): boolean {
  const last = program.body.at(-1);
  if (last?.type !== 'ReturnStatement' || !last.argument) return true;
  const isActive = ({ type }: Node): boolean => ACTIVE.has(type);
  return !holds(last.argument, isActive, (node) => harmless.has(node));
}

const ACTIVE: ReadonlySet<Node['type']> = new Set<Node['type']>([
  'AssignmentExpression',
  'AwaitExpression',
  'CallExpression',
  'ImportExpression',
  'NewExpression',
  'TaggedTemplateExpression',
  'UpdateExpression',
  'YieldExpression',
]);

/** A variable that a function captures is slower for all its users. */
function capturesLabels(node: Node): boolean {
  return isFunction(node) || node.type === 'ClassExpression' || node.type === 'ThisExpression';
}

function operand(text: string, node: Expression): string {
  return node.type === 'SequenceExpression' ? `(${text})` : text;
}
