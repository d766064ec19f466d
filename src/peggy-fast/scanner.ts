/**
 * Writes the functions of a scanner: one per rule and variant. A function takes the start position. A variant that
 * builds returns the value or FAILED$, with the end in `end$`; one that only matches returns the end or -1. A failure
 * jumps to the next alternative, which restores the position. The second scan runs no code: it repeats the decisions of
 * the first one, which are in `log$`.
 */
import { isSubset } from './alphabet.js';
import type { BlockCode, Place } from './blocks.js';
import { writeChoice } from './choice.js';
import {
  type Context,
  type FunctionWriter,
  type PieceTarget,
  type Reporting,
  type Shared,
  type Target,
  Writer,
} from './context.js';
import { writeConverted } from './conversions.js';
import { type Block, type Expectation, type Label, type Node, nodesOf, type Predicate, type RuleCall } from './ir.js';
import { liveLabels } from './liveness.js';
import { AT, BYTES, END_AT, FAILED, INPUT, Names } from './names.js';
import { writeRepeat } from './repeat.js';
import { shownOf, writeCodePoint, writeLiteral, writeSymbol } from './terminals.js';

/** The maximum weight that is duplicated in a function: choices inside of repeated alternatives would multiply the code. */
const MAX_REPEATED = 100;

type Write<N extends Node> = (scanner: Scanner, node: N, context: Context) => void;

export class Scanner implements FunctionWriter {
  readonly shared: Shared;
  readonly names = new Names();
  readonly out: Writer;
  readonly #variables = new Map<Label, string>();
  readonly #live = new Set<Label>();
  /** `true` for the second scan. */
  #repeats = false;
  #inlined: ReadonlySet<string>;
  #repeated = 0;
  /** The constant that contains the position, and the number of lines at its declaration. */
  #position = { name: '', lines: -1 };

  constructor(shared: Shared, depth: number) {
    this.shared = shared;
    this.#inlined = shared.inlined.building;
    this.out = new Writer(depth);
  }

  rule(rule: string, name: string, builds: boolean, reporting: Reporting): string {
    const { node } = this.shared.program.rules.get(rule)!;
    const { building, matching, expecting } = this.shared.inlined;
    this.#repeats = reporting !== 'free';
    this.#inlined = this.#repeats ? expecting : builds ? building : matching;
    this.out.open(`function ${name}(${AT})`);
    const target: Target | null = builds ? { kind: 'return', name: '' } : null;
    this.enter(node, builds);
    const fail = builds ? `return ${FAILED};` : 'return -1;';
    this.write(node, { target, reporting, fail, known: null, once: this.shared.uncalled.has(rule) });
    if (!builds) this.out.line(`return ${AT};`);
    this.out.close();
    return this.out.toString();
  }

  write(node: Node, context: Context): void {
    if (context.target?.kind === 'piece' && this.shared.texts.isWhole(node)) {
      this.#stretch(node, context.target, context);
      return;
    }
    const single = context.target === null && context.reporting !== 'expect' ? this.shared.facts.singleOf(node) : null;
    if (single !== null && !this.#holdsLiveLabel(node)) {
      writeSymbol(this, single, shownOf(node), context);
      return;
    }
    (Scanner.#writers[node.type] as Write<Node>)(this, node, context);
  }

  static readonly #writers: { readonly [Type in Node['type']]: Write<Node & { readonly type: Type }> } = {
    symbols: (scanner, node, context) => writeSymbol(scanner, node.set, node.shown, context, node.expected),
    codePoint: writeCodePoint,
    literal: writeLiteral,
    empty: (scanner, _node, { target }) => scanner.put(target, '""'),
    sequence: (scanner, node, context) => scanner.#sequence(node, context),
    choice: writeChoice,
    repeat: writeRepeat,
    optional: (scanner, { item }, context) => scanner.#optional(item, context),
    text: (scanner, node, context) => scanner.#text(node, context),
    lookahead: (scanner, node, context) => scanner.#lookahead(node.item, node.negative, context),
    predicate: (scanner, node, context) => scanner.#predicate(node, context),
    action: (scanner, node, context) => scanner.#action(node.item, node.block, context),
    label: (scanner, node, context) => scanner.#label(node, context),
    call: (scanner, node, context) => scanner.#call(node, context),
    named: (scanner, node, context) => scanner.#named(node, context),
  };

  put(target: Target | null, value: string): void {
    if (target === null) return;
    if (target.kind === 'piece') {
      const { name, from, start } = target;
      this.out.line(`${name} += ${INPUT}.substring(${from}, ${start}) + ${value};`);
      this.out.line(`${from} = ${AT};`);
    } else if (target.kind === 'return') {
      this.out.line(`${END_AT} = ${AT};`);
      this.out.line(`return ${value};`);
    } else if (target.name !== value) {
      this.out.line(`${target.kind === 'const' ? 'const ' : ''}${target.name} = ${value};`);
    }
  }

  shareable(target: Target | null): Target | null {
    if (target?.kind !== 'const') return target;
    this.out.line(`let ${target.name};`);
    return { kind: 'let', name: target.name };
  }

  positionHere(stem = 'start'): string {
    if (this.#position.lines !== this.out.length) {
      const name = this.names.fresh(stem);
      this.out.line(`const ${name} = ${AT};`);
      this.#position = { name, lines: this.out.length };
    }
    return this.#position.name;
  }

  nameFor(target: Target | null, stem: string): string {
    return target?.kind === 'const' ? target.name : this.names.fresh(stem);
  }

  failure({ reporting, fail }: Context, expected?: Expectation): string {
    const report = this.#reportOf(reporting, expected);
    return report === '' ? fail : `{ ${report} ${fail} }`;
  }

  report(reporting: Reporting, expected?: Expectation): void {
    const report = this.#reportOf(reporting, expected);
    if (report !== '') this.out.line(report);
  }

  #reportOf(reporting: Reporting, expected: Expectation | undefined): string {
    // Without an expectation, the failure is not that of a terminal; those inside have reported theirs.
    if (reporting === 'expect' && expected !== undefined) return `miss$(${AT}, ${this.shared.numberOf(expected)});`;
    return '';
  }

  boundOf(bound: number | Label | Block): string {
    if (typeof bound === 'number') return String(bound);
    const name = this.names.fresh('bound');
    const value = (): string =>
      'code' in bound ? this.#run(this.shared.codeOf(bound), AT) : this.#variables.get(bound)!;
    this.out.line(`const ${name} = ${this.#repeats ? NEXT_DECISION : logged(`${value()} | 0`)};`);
    return name;
  }

  #holdsLiveLabel(node: Node): boolean {
    return nodesOf(node).some((one) => one.type === 'label' && this.#live.has(one));
  }

  enter(node: Node, builds: boolean): void {
    if (this.#repeats) return;
    const { codeOf, mustRun } = this.shared;
    for (const label of liveLabels(node, builds, codeOf, mustRun)) this.#live.add(label);
  }

  mayRepeat(weight: number): boolean {
    const repeated = this.#repeated + Math.max(weight, 0);
    if (repeated > MAX_REPEATED) return false;
    this.#repeated = repeated;
    return true;
  }

  /** Writes an item that is a stretch of the input, which extends the current piece of a joined text. */
  #stretch(node: Node, { isFirst }: PieceTarget, context: Context): void {
    const { facts, tables } = this.shared;
    const single = facts.singleOf(node);
    const { known, reporting } = context;
    // Next items that begin with one of the known symbols are the same, unless another alternative is tried before.
    if (isFirst && reporting === 'free' && single !== null && known !== null && isSubset(known, single)) {
      const ends = tables.endsOf(known, shownOf(node));
      if (ends !== null) {
        this.out.line(`${AT} = runEnd$(${ends}, ${AT});`);
        return;
      }
    }
    this.write(node, { ...context, target: null });
  }

  /** Writes an item of a joined text of which one element is a part of the text, such as an escape. */
  #pickedPiece(elements: readonly Node[], pick: Node, target: PieceTarget, context: Context): void {
    const { facts } = this.shared;
    let { known } = context;
    let [begin, end] = ['', ''];
    for (const element of elements) {
      if (begin !== '' && end === '' && !facts.staysPut(element)) end = this.positionHere('end');
      if (element === pick) begin = this.positionHere('piece');
      this.write(element, { ...context, target: null, known });
      if (!facts.staysPut(element)) known = null;
    }
    const { name, from, start } = target;
    this.out.line(`${name} += ${INPUT}.substring(${from}, ${start});`);
    if (end !== '') this.out.line(`${name} += ${INPUT}.substring(${begin}, ${end});`);
    this.out.line(`${from} = ${end === '' ? begin : AT};`);
  }

  #sequence({ elements, picks }: Node & { readonly type: 'sequence' }, context: Context): void {
    const { target } = context;
    if (target?.kind === 'piece' && this.shared.texts.isWhole(picks[0]!)) {
      this.#pickedPiece(elements, picks[0]!, target, context);
      return;
    }
    const values: string[] = [];
    let known = context.known;
    for (const element of elements) {
      const used = target !== null && (picks.length === 0 || picks.includes(element));
      const name = used ? this.names.fresh(element.type === 'label' ? element.name : 'part') : '';
      if (used) values.push(name);
      this.write(element, { ...context, target: used ? { kind: 'const', name } : null, known });
      if (!this.shared.facts.staysPut(element)) known = null;
    }
    this.put(target, picks.length === 1 ? values[0]! : `[${values.join(', ')}]`);
  }

  #optional(item: Node, context: Context): void {
    const { facts, tables } = this.shared;
    const ahead = context.reporting !== 'expect' && facts.failsAtStart(item) ? facts.aheadOf(item) : null;
    if (ahead !== null && (context.target !== null || !this.#holdsLiveLabel(item))) {
      const target = this.shareable(context.target);
      this.out.open(`if (${tables.isIn(ahead, `${BYTES}[${AT}]`, shownOf(item))})`);
      this.write(item, { ...context, target, known: ahead });
      if (target !== null) {
        this.out.reopen('else');
        this.put(target, 'null');
      }
      this.out.close();
      return;
    }
    if (item.type === 'call' && this.inlinedNode(item) === null) this.#optionalCall(item, context);
    else this.#attempt(item, context, context.reporting, (target) => this.put(target, 'null'));
  }

  /** A function that fails does not move the position. */
  #optionalCall({ rule }: RuleCall, { target, reporting }: Context): void {
    const call = `${this.shared.functionFor(rule, target !== null, reporting)}(${AT})`;
    if (target === null) {
      const after = this.names.fresh('after');
      this.out.line(`const ${after} = ${call};`);
      this.out.line(`if (${after} >= 0) ${AT} = ${after};`);
      return;
    }
    const isSink = target.kind === 'return' || target.kind === 'piece';
    const value = isSink ? this.names.fresh('value') : target.name;
    this.out.line(`${target.kind === 'let' ? '' : 'let '}${value} = ${call};`);
    this.out.line(`if (${value} === ${FAILED}) ${value} = null;`);
    this.out.line(`else ${AT} = ${END_AT};`);
    if (isSink) this.put(target, value);
  }

  #attempt(item: Node, context: Context, reporting: Reporting, otherwise: (target: Target | null) => void): void {
    const { names, out } = this;
    const returns = context.target?.kind === 'return';
    const target = this.shareable(returns ? { kind: 'const', name: names.fresh('value') } : context.target);
    const back = names.fresh('back');
    const done = names.fresh('done');
    const missing = names.fresh('missing');
    out.line(`const ${back} = ${AT};`);
    out.open(`${done}:`);
    out.open(`${missing}:`);
    this.write(item, { ...context, target, reporting, fail: `break ${missing};` });
    out.line(`break ${done};`);
    out.close();
    out.line(`${AT} = ${back};`);
    otherwise(target);
    out.close();
    if (returns) this.put(context.target, (target as { readonly name: string }).name);
  }

  #text({ item, isWord }: Node & { readonly type: 'text' }, context: Context): void {
    if (context.target === null) {
      this.write(item, context);
      return;
    }
    const start = this.positionHere();
    this.write(item, { ...context, target: null });
    const text = isWord ? 'wordAt$(' : `${INPUT}.substring(`;
    this.put(context.target, `${text}${start}, ${AT})`);
  }

  #lookahead(item: Node, negative: boolean, context: Context): void {
    const { shared, out } = this;
    const reporting = context.reporting === 'free' ? 'free' : 'silent';
    const ahead = shared.facts.hasEffects(item) ? null : shared.facts.aheadOf(item);
    if (ahead !== null) {
      const test = negative ? 'isIn' : 'isNotIn';
      out.line(`if (${shared.tables[test](ahead, `${BYTES}[${AT}]`, shownOf(item))}) ${context.fail}`);
    } else {
      const back = this.names.fresh('back');
      out.line(`const ${back} = ${AT};`);
      if (negative) {
        const absent = this.names.fresh('absent');
        out.open(`${absent}:`);
        this.write(item, { ...context, target: null, reporting, fail: `break ${absent};`, known: null });
        out.line(context.fail);
        out.close();
      } else this.write(item, { ...context, target: null, reporting, known: null });
      out.line(`${AT} = ${back};`);
    }
    this.put(context.target, 'undefined');
  }

  #predicate({ block, negative }: Predicate, context: Context): void {
    const { mustRun, decides, codeOf } = this.shared;
    if (this.#repeats && mustRun(block) && !decides(block) && !negative) {
      this.put(context.target, 'undefined');
      return;
    }
    const run = (): string => this.#run(codeOf(block), AT);
    const decision = (): string => (this.#repeats ? NEXT_DECISION : logged(`(${run()}) ? 1 : 0`));
    const test = decides(block) ? decision() : this.#repeats && mustRun(block) ? 'true' : run();
    this.out.line(`if (${negative ? test : `!(${test})`}) ${context.fail}`);
    this.put(context.target, 'undefined');
  }

  #action(item: Node, block: Block, context: Context): void {
    const code = this.shared.codeOf(block);
    const runs = !this.#repeats && (context.target !== null || this.shared.mustRun(block));
    const position = code.isFunction || code.needsPosition || this.shared.callsForPosition(block);
    const asks = item.type !== 'empty' && runs && (position || code.mentionsStart);
    const start = asks ? this.positionHere() : AT;
    this.write(item, { ...context, target: null });
    if (!runs) return;
    const value = this.#run(code, start);
    if (context.target !== null) this.put(context.target, value);
    else if (value !== 'undefined' && (!code.isValuePure || this.shared.isOdd(block)))
      this.out.line(`void (${value});`);
  }

  /** Writes the effects of a block's code, and returns the expression for its value. */
  #run(code: BlockCode, start: string): string {
    const { shared, out } = this;
    if (code.needsPosition || shared.callsForPosition(code.block)) {
      out.line(`from$ = ${start};`);
      out.line(`to$ = ${AT};`);
    }
    if (code.isFunction) {
      const values = code.labels.map((label) => this.#variables.get(label));
      return `${shared.functionForBlock(code)}(${values.join(', ')})`;
    }
    const mark = (text: string, from: number): string => shared.mark(code.block, text, from);
    const { statements, value } = code.writeOut({ ...this.#place, start, end: AT }, mark);
    for (const statement of statements) out.line(statement);
    return value ?? 'undefined';
  }

  get #place(): Pick<Place, 'variable' | 'isConverted'> {
    return {
      variable: (label) => this.#variables.get(label)!,
      isConverted: (label) => this.shared.converted.has(label),
    };
  }

  #label(label: Label, context: Context): void {
    if (!this.#live.has(label)) {
      this.write(label.item, context);
      return;
    }
    const conversion = this.shared.converted.get(label);
    // A picked value is used as it is.
    if (conversion !== undefined && context.target === null) {
      this.#variables.set(label, writeConverted(this, label, conversion, context));
      return;
    }
    if (context.target === null && this.#isOffset(label.item)) {
      this.#variables.set(label, this.positionHere(label.name));
      return;
    }
    const name = context.target?.kind === 'const' ? context.target.name : this.names.fresh(label.name);
    this.#variables.set(label, name);
    this.write(label.item, { ...context, target: { kind: 'const', name } });
    if (context.target?.kind !== 'const') this.put(context.target, name);
  }

  /** Returns `true` if a node matches the empty text and its value is the position. */
  #isOffset(node: Node): boolean {
    const written = this.inlinedNode(node) ?? node;
    if (written.type !== 'action' || written.item.type !== 'empty') return false;
    const code = this.shared.codeOf(written.block);
    return !code.isFunction && code.mentionsStart && code.writeOut({ ...this.#place, start: AT, end: AT }).value === AT;
  }

  inlinedNode(node: Node): Node | null {
    if (node.type !== 'call' || !this.#inlined.has(node.rule)) return null;
    return this.shared.program.rules.get(node.rule)!.node;
  }

  #call(call: RuleCall, context: Context): void {
    const { shared, out } = this;
    const { rule } = call;
    const node = this.inlinedNode(call);
    if (node !== null) {
      this.enter(node, context.target !== null);
      this.write(node, context);
      return;
    }
    const { target } = context;
    const name = shared.functionFor(rule, target !== null, context.reporting);
    if (target === null) {
      out.line(`${AT} = ${name}(${AT});`);
      out.line(`if (${AT} < 0) ${context.fail}`);
    } else if (target.kind === 'return' && context.fail === `return ${FAILED};`) {
      out.line(`return ${name}(${AT});`);
    } else {
      const value = target.kind === 'let' ? target.name : this.nameFor(target, rule);
      out.line(`${target.kind === 'let' ? '' : 'const '}${value} = ${name}(${AT});`);
      out.line(`if (${value} === ${FAILED}) ${context.fail}`);
      out.line(`${AT} = ${END_AT};`);
      if (target.kind === 'return' || target.kind === 'piece') this.put(target, value);
    }
  }

  #named({ item, expected }: Node & { readonly type: 'named' }, context: Context): void {
    if (context.reporting !== 'expect') {
      this.write(item, context);
      return;
    }
    if (this.shared.facts.failsAtStart(item)) {
      this.write(item, { ...context, reporting: 'silent', fail: this.failure(context, expected) });
      return;
    }
    this.#attempt(item, context, 'silent', () => this.out.line(this.failure(context, expected)));
  }
}

/** The next decision of the first scan, and the code that records one. */
const NEXT_DECISION = 'log$[decided$++]';
const logged = (decision: string): string => `(log$[decided$++] = ${decision})`;
