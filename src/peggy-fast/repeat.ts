import { isSubset } from './alphabet.js';
import type { Context, FunctionWriter } from './context.js';
import { DIGITS } from './conversions.js';
import type { Repeat } from './ir.js';
import { AT, BYTES } from './names.js';

export function writeRepeat(scanner: FunctionWriter, node: Repeat, context: Context): void {
  if (isRun(scanner, node, context)) writeRun(scanner, node, context);
  else writeList(scanner, node, context);
}

/** `[a-z]*` and `[a-z]+`, if their characters are not used one by one. */
function isRun(scanner: FunctionWriter, node: Repeat, { target, reporting }: Context): boolean {
  const single = scanner.shared.facts.singleOf(node.item);
  if (single === null || target !== null || node.delimiter !== null || node.max !== null) return false;
  if (reporting === 'expect' && node.item.type !== 'symbols') return false;
  return node.min === 0 || node.min === 1;
}

function writeRun(scanner: FunctionWriter, node: Repeat, context: Context): void {
  const { out, shared } = scanner;
  const set = shared.facts.singleOf(node.item)!;
  const { shown, expected } = node.item.type === 'symbols' ? node.item : { shown: '', expected: undefined };
  const next = `${BYTES}[${AT}]`;
  const isKnown = context.known !== null && isSubset(context.known, set);
  // The code that finds the ends of runs pays off if it is used often, for runs that are longer than those of digits:
  // V8 inlines only a limited amount of code into one function.
  const ends = context.once || isSubset(set, DIGITS) ? null : shared.tables.endsOf(set, shown);
  if (node.min === 0) {
    const isNext = shared.tables.isIn(set, next, shown);
    // Most runs that may be empty are empty.
    if (ends === null) out.line(`while (${isNext}) ${AT}++;`);
    else out.line(`if (${isNext}) ${AT} = runEnd$(${ends}, ${AT});`);
  } else if (ends === null) {
    if (!isKnown) out.line(`if (${shared.tables.isNotIn(set, next, shown)}) ${scanner.failure(context, expected)}`);
    out.line(`do ${AT}++; while (${shared.tables.isIn(set, next, shown)});`);
  } else {
    const start = isKnown ? null : scanner.positionHere();
    out.line(`${AT} = runEnd$(${ends}, ${AT});`);
    if (start !== null) out.line(`if (${AT} === ${start}) ${scanner.failure(context, expected)}`);
  }
  // The symbol that ends a run is a failure, and is reported like any other.
  scanner.report(context.reporting, expected);
}

function writeList(scanner: FunctionWriter, node: Repeat, context: Context): void {
  const { out, names } = scanner;
  const min = scanner.boundOf(node.min);
  const max = node.max === null ? null : node.max === node.min ? min : scanner.boundOf(node.max);
  const counts = min !== '0' || max !== null;

  const { target } = context;
  const items = target === null ? null : scanner.nameFor(target, 'items');
  const count = counts && items === null ? names.fresh('count') : null;
  if (items !== null) out.line(`const ${items} = [];`);
  if (count !== null) out.line(`let ${count} = 0;`);
  const length = items === null ? count : `${items}.length`;

  const last = names.fresh('last');
  const ended = names.fresh('ended');
  const inner: Context = { ...context, target: null, fail: `break ${ended};`, known: null, once: false };

  out.line(`let ${last} = ${AT};`);
  // A constant maximum is at least one, and is checked after the first item.
  if (max !== null && typeof node.max !== 'number') out.open(`${ended}: if (${length} < ${max}) for (;;)`);
  else out.open(`${ended}: for (;;)`);
  const item = items === null ? null : names.fresh('item');
  scanner.write(node.item, { ...inner, target: item === null ? null : { kind: 'const', name: item } });
  if (item !== null) out.line(`${items}.push(${item});`);
  if (count !== null) out.line(`${count}++;`);
  out.line(`${last} = ${AT};`);
  if (max !== null) out.line(`if (${length} >= ${max}) break;`);
  if (node.delimiter !== null) scanner.write(node.delimiter, inner);
  out.close();
  out.line(`${AT} = ${last};`);
  if (min !== '0') out.line(`if (${length} < ${min}) ${context.fail}`);
  if (items !== null && target?.kind !== 'const') scanner.put(target, items);
}
