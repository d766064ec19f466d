import { isSubset, type SymbolSet, setOf } from './alphabet.js';
import type { Context, FunctionWriter } from './context.js';
import type { CodePoint, Expectation, Literal, Node } from './ir.js';
import { AT, BYTES, INPUT } from './names.js';

/** Writes a match of one symbol, without a test for what is known of it. */
export function writeSymbol(
  scanner: FunctionWriter,
  set: SymbolSet,
  shown: string,
  context: Context,
  expected?: Expectation,
): void {
  const { out, shared } = scanner;
  const { known, target } = context;
  if (known === null || !isSubset(known, set)) {
    const test = shared.tables.isNotIn(set, `${BYTES}[${AT}]`, shown);
    out.line(`if (${test}) ${scanner.failure(context, expected)}`);
  }
  if (target === null) {
    out.line(`${AT}++;`);
    return;
  }
  const name = scanner.nameFor(target, 'char');
  const character = `${INPUT}[${AT}++]`;
  out.line(target.kind === 'let' ? `${target.name} = ${character};` : `const ${name} = ${character};`);
  if (target.kind === 'return') scanner.put(target, name);
}

/** Writes a match of a code point. All surrogates are in its set; the pattern decides about them, and about pairs. */
export function writeCodePoint(scanner: FunctionWriter, node: CodePoint, context: Context): void {
  const { out, shared, names } = scanner;
  const { set, shown, expected, pattern } = node;
  out.line(`if (${shared.tables.isNotIn(set, `${BYTES}[${AT}]`, shown)}) ${scanner.failure(context, expected)}`);
  const start = scanner.positionHere();
  const width = names.fresh('width');
  out.line(`const ${width} = pointWidth$(${shared.tables.patternFor(pattern)}, ${AT});`);
  out.line(`if (${width} === 0) ${scanner.failure(context, expected)}`);
  out.line(`${AT} += ${width};`);
  scanner.put(context.target, `${INPUT}.substring(${start}, ${AT})`);
}

export function writeLiteral(scanner: FunctionWriter, node: Literal, context: Context): void {
  const { out } = scanner;
  const { text, folded, expected } = node;
  const tests = mismatches(scanner, node, context.known);
  if (tests.length > 0) out.line(`if (${tests.join(' || ')}) ${scanner.failure(context, expected)}`);
  out.line(text.length === 1 ? `${AT}++;` : `${AT} += ${text.length};`);
  if (folded === null) scanner.put(context.target, JSON.stringify(text));
  else scanner.put(context.target, `${INPUT}.substring(${AT} - ${text.length}, ${AT})`);
}

function mismatches(
  { shared }: FunctionWriter,
  { text, symbols, folded }: Literal,
  known: SymbolSet | null,
): readonly string[] {
  // Symbols stand for kinds of characters, so strings beyond ASCII are compared as text.
  if (folded === null && symbols.some((symbol) => symbol > 0x7f)) {
    return [`!${INPUT}.startsWith(${JSON.stringify(text)}, ${AT})`];
  }
  const sets = folded ?? symbols.map(setOf);
  const from = known !== null && isSubset(known, sets[0]!) ? 1 : 0;
  if (folded === null && symbols.length >= WORD) return wordMismatches(text, symbols, from);
  return sets.slice(from).map((set, index) => shared.tables.isNotIn(set, `${BYTES}[${placeOf(from + index)}]`));
}

const WORD = 4;

/** The last word may overlap the one before. The end mark prevents matches beyond the input. */
function wordMismatches(text: string, symbols: readonly number[], from: number): readonly string[] {
  const tests: string[] = [];
  for (let index = from; index < symbols.length; index += WORD) {
    index = Math.min(index, symbols.length - WORD);
    const number = symbols.slice(index, index + WORD).reduceRight((word, symbol) => (word << 8) | symbol, 0);
    const shown = JSON.stringify(text.slice(index, index + WORD)).replaceAll('*/', '*\\/');
    tests.push(`view$.getInt32(${placeOf(index)}, true) !== ${number} /* ${shown} */`);
  }
  return tests;
}

function placeOf(index: number): string {
  return index === 0 ? AT : `${AT} + ${index}`;
}

/** The spelling of a set in comments of the generated code. */
export function shownOf(node: Node): string {
  if (node.type === 'symbols') return node.shown;
  return node.type === 'call' ? node.rule : '';
}
