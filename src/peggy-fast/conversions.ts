/**
 * Labels that code uses in one way only: digits as a number, items as a joined text. The scanner makes the number or the
 * text directly, without the digits or the array.
 */
import { isSubset, setOf } from './alphabet.js';
import type { BlockCode, Conversion } from './blocks.js';
import type { Context, FunctionWriter, PieceTarget } from './context.js';
import { type Block, isBlock, type Label, type Node, nodesOf, type Program, type Repeat } from './ir.js';
import { AT, BYTES, END_AT, INPUT } from './names.js';
import { shownOf } from './terminals.js';
import type { Texts } from './texts.js';

/** The number of digits that a double always represents exactly. */
const EXACT_DIGITS = 15;

export const DIGITS = [...'0123456789'].reduce((set, digit) => set | setOf(digit.charCodeAt(0)), 0n);

/** Finds the labels that can be converted, each with its conversion. */
export function convertedLabels(
  program: Program,
  codeOf: (block: Block) => BlockCode,
  texts: Texts,
  declared: ReadonlySet<string>,
): ReadonlyMap<Label, Conversion> {
  const uses = new Map<Label, Conversion | null>();
  const use = (label: Label, how: Conversion | null): void => {
    const before = uses.get(label);
    uses.set(label, before === undefined || before === how ? how : null);
  };
  for (const block of program.blocks) {
    const code = codeOf(block);
    for (const label of code.labels) use(label, code.conversionOf(label));
  }
  const labels: Label[] = [];
  for (const { node } of program.rules.values()) {
    for (const one of nodesOf(node)) {
      if (one.type === 'action') labels.push(...labelsOf(one.item));
      if (one.type !== 'repeat') continue;
      for (const bound of [one.min, one.max]) {
        if (typeof bound === 'object' && bound !== null && !isBlock(bound)) use(bound, null);
      }
    }
  }
  const found = new Map<Label, Conversion>();
  for (const label of labels) {
    const how = uses.get(label);
    // A grammar may have a function of its own with this name.
    if (!how || declared.has(how)) continue;
    if (how === 'join' ? isTextList(label.item, texts) : isDigits(label.item)) found.set(label, how);
  }
  return found;
}

function labelsOf(item: Node): readonly Label[] {
  const elements = item.type === 'sequence' && item.picks.length === 0 ? item.elements : [item];
  return elements.filter((element) => element.type === 'label');
}

function isDigits(node: Node): boolean {
  if (node.type !== 'text' || node.item.type !== 'repeat') return false;
  const { item, delimiter, min, max } = node.item;
  return delimiter === null && min === 1 && max === null && item.type === 'symbols' && isSubset(item.set, DIGITS);
}

function isTextList(node: Node, texts: Texts): node is Repeat {
  if (node.type !== 'repeat' || node.delimiter !== null || node.max !== null) return false;
  return (node.min === 0 || node.min === 1) && texts.isText(node.item);
}

/** Writes a label that is converted, and returns the variable for its number or text. */
export function writeConverted(scanner: FunctionWriter, label: Label, how: Conversion, context: Context): string {
  return how === 'join' ? writeJoined(scanner, label, context) : writeNumber(scanner, label, how, context);
}

function writeNumber(
  scanner: FunctionWriter,
  label: Label,
  convert: Exclude<Conversion, 'join'>,
  context: Context,
): string {
  const { out, shared } = scanner;
  const run = (label.item as Node & { readonly type: 'text' }).item as Repeat;
  const set = shared.facts.singleOf(run.item)!;
  const name = scanner.names.fresh(label.name);
  const start = scanner.positionHere();
  const { expected } = run.item as Node & { readonly type: 'symbols' };
  const isNone = shared.tables.isNotIn(set, `${BYTES}[${AT}]`, shownOf(run.item));
  out.line(`if (${isNone}) ${scanner.failure(context, expected)}`);
  const digit = scanner.names.fresh('digit');
  const next = `${BYTES}[++${AT}]`;
  out.line(`let ${name} = ${BYTES}[${AT}] - 48;`);
  out.open(`for (let ${digit} = ${next}; ${shared.tables.isIn(set, digit)}; ${digit} = ${next})`);
  out.line(`${name} = ${name} * 10 + (${digit} - 48);`);
  out.close();
  // A sum of more digits would be rounded more than once.
  const text = `${INPUT}.substring(${start}, ${AT})`;
  const number = `${convert}(${text}${convert === 'parseInt' ? ', 10' : ''})`;
  out.line(`if (${AT} - ${start} > ${EXACT_DIGITS}) ${name} = ${number};`);
  scanner.report(context.reporting, expected);
  return name;
}

/**
 * Writes a repetition whose items are joined. Items that are stretches of the input extend the current piece; what is not part
 * of the text, such as the backslash of an escape, ends it. Other items are appended.
 */
function writeJoined(scanner: FunctionWriter, label: Label, context: Context): string {
  const { out, names } = scanner;
  const { item, min } = label.item as Repeat;
  const name = names.fresh(label.name);
  const { tables, texts } = scanner.shared;
  const escapes = context.reporting === 'free' ? texts.escapesIn(item) : null;
  const ends = escapes === null ? null : tables.endsOf(escapes.plain, '');
  const first = scanner.positionHere();
  if (escapes !== null && ends !== null) {
    const table = tables.ofSets([escapes.plain, escapes.prefix, escapes.escaped]);
    out.line(`const ${name} = escaped$(${table}, ${ends}, ${AT});`);
    out.line(`${AT} = ${END_AT};`);
    if (min === 1) out.line(`if (${AT} === ${first}) ${context.fail}`);
    return name;
  }
  const [from, start] = [names.fresh('from'), names.fresh('start')];
  const [last, ended] = [names.fresh('last'), names.fresh('ended')];
  out.line(`let ${name} = "";`);
  out.line(`let ${from} = ${AT};`);
  out.line(`let ${last} = ${AT};`);
  out.open(`${ended}: for (;;)`);
  out.line(`const ${start} = ${AT};`);
  const target: PieceTarget = { kind: 'piece', name, from, start, isFirst: true };
  scanner.write(item, { ...context, target, fail: `break ${ended};`, known: null, once: false });
  out.line(`${last} = ${AT};`);
  out.close();
  out.line(`${AT} = ${last};`);
  // Peggy rejects items that match the empty text.
  if (min === 1) out.line(`if (${last} === ${first}) ${context.fail}`);
  out.line(`${name} += ${INPUT}.substring(${from}, ${last});`);
  return name;
}
