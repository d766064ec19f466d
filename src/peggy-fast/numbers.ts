/**
 * Labels that hold digits and are only ever asked for their number, as in `digits:$[0-9]+ { return Number(digits); }`. The scanner
 * makes the number of the buffer's bytes, and no string of them.
 */
import type { BlockCode, NumberFunction } from './blocks.js';
import { type Block, isBlock, type Label, type Node, nodesOf, type Program } from './ir.js';
import { isSubset, setOf } from './symbols.js';

export const DIGITS = [...'0123456789'].reduce((set, digit) => set | setOf(digit.charCodeAt(0)), 0n);

/** The labels, each with the function that makes a number of what they hold. */
export function numberLabels(
  program: Program,
  codeOf: (block: Block) => BlockCode,
  declared: ReadonlySet<string> = new Set(),
): ReadonlyMap<Label, NumberFunction> {
  const uses = new Map<Label, NumberFunction | null>();
  const use = (label: Label, how: NumberFunction | null): void => {
    const before = uses.get(label);
    uses.set(label, before === undefined || before === how ? how : null);
  };
  for (const block of program.blocks) {
    const code = codeOf(block);
    for (const label of code.labels) use(label, code.numberUse(label));
  }
  const labels: Label[] = [];
  for (const { node } of program.rules.values()) {
    for (const one of nodesOf(node)) {
      if (one.type === 'action') labels.push(...labelsOf(one.item).filter(({ item }) => isDigits(item)));
      if (one.type !== 'repeat') continue;
      for (const bound of [one.min, one.max]) {
        if (typeof bound === 'object' && bound !== null && !isBlock(bound)) use(bound, null);
      }
    }
  }
  const found = new Map<Label, NumberFunction>();
  for (const label of labels) {
    const how = uses.get(label);
    // A grammar may have a function of its own under such a name.
    if (how && !declared.has(how)) found.set(label, how);
  }
  return found;
}

/** The labels directly in what an action makes its value of: nothing but code sees theirs. */
function labelsOf(item: Node): readonly Label[] {
  const elements = item.type === 'sequence' && item.picks.length === 0 ? item.elements : [item];
  return elements.filter((element) => element.type === 'label');
}

/** `$[0-9]+`, or a run of some of the digits. */
function isDigits(node: Node): boolean {
  if (node.type !== 'text' || node.item.type !== 'repeat') return false;
  const { item, delimiter, min, max } = node.item;
  return delimiter === null && min === 1 && max === null && item.type === 'symbols' && isSubset(item.set, DIGITS);
}
