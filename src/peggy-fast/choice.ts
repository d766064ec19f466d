/** Ordered choices: the next symbol selects the alternatives that can match, which are tried in order. */

import { END, has, rangesOf, SYMBOLS, type SymbolSet, setOf } from './alphabet.js';
import type { Context, FunctionWriter } from './context.js';
import { type Start, weightOf } from './facts.js';
import type { Choice, Node, Predicate } from './ir.js';
import { AT, BYTES } from './names.js';

interface Branch {
  symbols: SymbolSet;
  readonly alternatives: readonly Node[];
  /** `true` if an alternative is skipped that would have reported its failure. */
  readonly leavesOut: boolean;
  /** Conditions under which a skipped alternative would have reported its failure. */
  readonly gates: readonly Predicate[];
}

/** The factor by which a dispatch may enlarge the code. */
const GROWTH = 2;
const SLACK = 30;

export function writeChoice(scanner: FunctionWriter, node: Choice, context: Context): void {
  const target = scanner.shareable(context.target);
  const inner: Context = { ...context, target };
  const alternatives = flattened(scanner, node, context.target !== null);
  const branches = branchesOf(scanner, alternatives, context);
  if (branches === null) {
    writeInOrder(scanner, alternatives, inner);
    return;
  }
  const [only] = branches;
  if (branches.length === 1 && only !== undefined) {
    writeBranch(scanner, only, inner);
    return;
  }
  const symbol = scanner.names.fresh('symbol');
  scanner.out.line(`const ${symbol} = ${BYTES}[${AT}];`);
  const last = branches.length - 1;
  branches.forEach((branch, index) => {
    const test = (): string => `if (${scanner.shared.tables.isIn(branch.symbols, symbol)})`;
    if (index === 0) scanner.out.open(test());
    else scanner.out.reopen(index === last ? 'else' : `else ${test()}`);
    writeBranch(scanner, branch, inner);
  });
  scanner.out.close();
}

function flattened(scanner: FunctionWriter, { alternatives }: Choice, builds: boolean): Node[] {
  return alternatives.flatMap((one) => {
    const written = scanner.inlinedNode(one);
    if (written?.type !== 'choice') return [one];
    scanner.enter(written, builds);
    return flattened(scanner, written, builds);
  });
}

function writeBranch(
  scanner: FunctionWriter,
  { symbols, alternatives, leavesOut, gates }: Branch,
  context: Context,
): void {
  if (!leavesOut && context.reporting === 'report') for (const gate of gates) scanner.reportIf(gate);
  if (alternatives.length === 0) {
    scanner.out.line(leavesOut ? scanner.failure(context) : context.fail);
    return;
  }
  if (leavesOut) scanner.report(context.reporting);
  writeInOrder(scanner, alternatives, { ...context, known: symbols });
}

function writeInOrder(scanner: FunctionWriter, alternatives: readonly Node[], context: Context): void {
  const { out, names } = scanner;
  const last = alternatives.at(-1)!;
  if (alternatives.length === 1) {
    scanner.write(last, context);
    return;
  }
  const back = names.fresh('back');
  const chosen = names.fresh('chosen');
  const returns = context.target?.kind === 'return';
  out.line(`const ${back} = ${AT};`);
  if (!returns) out.open(`${chosen}:`);
  let { target } = context;
  for (const alternative of alternatives.slice(0, -1)) {
    const next = names.fresh('next');
    out.open(`${next}:`);
    scanner.write(alternative, { ...context, target, fail: `break ${next};` });
    if (!returns) out.line(`break ${chosen};`);
    out.close();
    out.line(`${AT} = ${back};`);
    if (target?.kind === 'piece') target = { ...target, isFirst: false };
  }
  scanner.write(last, { ...context, target });
  if (!returns) out.close();
}

/** The alternatives by the next symbol; null if a dispatch would change the behavior, or repeat too much code. */
function branchesOf(
  scanner: FunctionWriter,
  alternatives: readonly Node[],
  { known, reporting, target }: Context,
): Branch[] | null {
  const { facts, lexemes } = scanner.shared;
  const isQuiet = reporting === 'free' || reporting === 'silent';
  const starts = alternatives.map((one) => facts.startOf(one));
  if (reporting === 'expect' || starts.some(({ effects }) => effects)) return null;
  // If conditions decide about all but one alternative, a dispatch gains little.
  if (starts.slice(0, -1).every(({ gate }) => gate !== null)) return null;

  const branches = new Map<string, Branch>();
  for (let symbol = 0; symbol < SYMBOLS; symbol++) {
    if (known !== null && !has(known, symbol)) continue;
    // Numbers between ASCII and the end that are not a kind of character are harmless: no input contains them.
    const out = starts.filter(({ first, nullable }) => !nullable && !has(first, symbol));
    // After one that may match, an alternative reports only if that one fails, so it is tried in its turn.
    const firstIn = starts.findIndex((start) => !out.includes(start));
    const early = reporting === 'report' && firstIn >= 0 ? starts.slice(0, firstIn) : out;
    const leavesOut = early.some(({ loud }) => loud);
    // An alternative that can fail without reporting is tried, so that it reports exactly when it should, unless
    // another one reports.
    const isTried = (start: Start): boolean => {
      if (!out.includes(start)) return true;
      if (reporting !== 'report' || leavesOut) return false;
      return !early.includes(start) || (!start.loud && start.gate === null);
    };
    const tried = alternatives.flatMap((_, index) => (isTried(starts[index]!) ? [index] : []));
    const isNeeded = (index: number, place: number): boolean => {
      const next = tried[place + 1];
      return next === undefined || !lexemes.isCovered(alternatives[index]!, alternatives[next]!);
    };
    const indexes = target === null && isQuiet ? tried.filter(isNeeded) : tried;
    const key = `${indexes.join()} ${leavesOut}`;
    const branch = branches.get(key);
    if (branch !== undefined) branch.symbols |= setOf(symbol);
    else {
      const gates = out.flatMap((start) => (start.gate === null || isTried(start) ? [] : [start.gate]));
      branches.set(key, {
        symbols: setOf(symbol),
        alternatives: indexes.map((index) => alternatives[index]!),
        leavesOut,
        gates,
      });
    }
  }
  const ordered = inOrder([...branches.values()]);
  const inlinedWeight = (node: Node): number => weightWithInlined(scanner, node);
  const before = alternatives.reduce((sum, one) => sum + inlinedWeight(one), 0);
  const after = ordered.flatMap((one) => one.alternatives).reduce((sum, one) => sum + inlinedWeight(one), 0);
  if (after > GROWTH * before + SLACK || !scanner.mayRepeat(after - before)) return null;
  return ordered;
}

/** Branches with many symbols come first because they are taken more often. The last branch needs no test. */
function inOrder(branches: readonly Branch[]): Branch[] {
  const size = ({ symbols }: Branch): number => {
    if (has(symbols, END)) return 0;
    return rangesOf(symbols).reduce((sum, [from, to]) => sum + to - from + 1, 0);
  };
  return [...branches].sort((a, b) => size(b) - size(a));
}

function weightWithInlined(scanner: FunctionWriter, node: Node): number {
  const written = scanner.inlinedNode(node);
  return written === null ? weightOf(node) : weightWithInlined(scanner, written);
}
