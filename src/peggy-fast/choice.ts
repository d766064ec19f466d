/** Ordered choices: the next symbol selects the alternatives that can match, which are tried in order. */

import { ANY, END, has, NONE, rangesOf, type SymbolSet, setOf } from './alphabet.js';
import type { Context, FunctionWriter } from './context.js';
import { weightOf } from './facts.js';
import type { Choice, Node } from './ir.js';
import { AT, BYTES } from './names.js';

interface Branch {
  symbols: SymbolSet;
  readonly alternatives: readonly Node[];
}

const ALL = ANY | setOf(END);

/** The factor by which a dispatch may enlarge the code, and what it may add, by whether the grammar is large. */
const growthOf = (isLarge: boolean): [factor: number, slack: number] => (isLarge ? [1.2, 12] : [2, 30]);

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

function writeBranch(scanner: FunctionWriter, { symbols, alternatives }: Branch, context: Context): void {
  if (alternatives.length === 0) scanner.out.line(context.fail);
  else writeInOrder(scanner, alternatives, { ...context, known: symbols });
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
  const starts = alternatives.map((one) => facts.startOf(one));
  // An alternative that is skipped reports no expectation.
  if (reporting === 'expect' || starts.some(({ effects }) => effects)) return null;
  // If conditions decide about all but one alternative, a dispatch gains little.
  if (starts.slice(0, -1).every(({ isGated }) => isGated)) return null;

  const branches = new Map<string, Branch>();
  for (const symbols of parted(
    known ?? ALL,
    starts.map(({ first }) => first),
  )) {
    // Numbers between ASCII and the end that are not a kind of character are harmless: no input contains them.
    const tried = starts.flatMap(({ first, nullable }, index) =>
      nullable || (first & symbols) !== NONE ? [index] : [],
    );
    const isNeeded = (index: number, place: number): boolean => {
      const next = tried[place + 1];
      return next === undefined || !lexemes.isCovered(alternatives[index]!, alternatives[next]!);
    };
    const indexes = target === null ? tried.filter(isNeeded) : tried;
    const key = indexes.join();
    const branch = branches.get(key);
    if (branch !== undefined) branch.symbols |= symbols;
    else branches.set(key, { symbols, alternatives: indexes.map((index) => alternatives[index]!) });
  }
  const ordered = inOrder([...branches.values()]);
  const inlinedWeight = (node: Node): number => weightWithInlined(scanner, node);
  const before = alternatives.reduce((sum, one) => sum + inlinedWeight(one), 0);
  const after = ordered.flatMap((one) => one.alternatives).reduce((sum, one) => sum + inlinedWeight(one), 0);
  const [factor, slack] = growthOf(facts.isLarge);
  if (after > factor * before + slack || !scanner.mayRepeat(after - before)) return null;
  return ordered;
}

/** The parts of a set that are inside or outside of each of the others, by their first symbols. */
function parted(whole: SymbolSet, sets: readonly SymbolSet[]): SymbolSet[] {
  let parts = [whole];
  for (const set of sets) parts = parts.flatMap((part) => [part & set, part & ~set]).filter((part) => part !== NONE);
  // The lowest bit of a number is what it has in common with its negative.
  return parts.sort((a, b) => ((a & -a) < (b & -b) ? -1 : 1));
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
