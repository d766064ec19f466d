import { evaluateRoutine } from './evaluate.js';
import { createMachine, type Machine } from './machine.js';
import { locate, type Snippet } from './positions.js';
import { parseBody, parseModule } from './references.js';
import type { Violation } from './report.js';
import { addUnit, emptyRoutines, type Level, type Routines, type Unit } from './routines.js';
import { summarize } from './summarize.js';
import type { Analysis, Block, Effects, GrammarCode } from './types.js';
import { obstaclesIn } from './unsupported.js';
import { leak } from './variables.js';

/** For code that cannot be followed. */
const ANYTHING: Effects = {
  writesState: true,
  readsState: true,
  changesLabels: true,
  mayThrow: true,
  callsForPosition: true,
};

/**
 * Finds out what the code of a grammar does beyond giving values, and refuses what outlives a parse.
 *
 * The analysis follows where objects come from, through variables, properties, arguments and results of functions, but
 * takes no account of order, and does not tell the properties of an object apart. It errs on the side of seeing too much,
 * with exceptions: it does not follow an object that is put into another one under a second name of the latter, takes the values
 * of options that an action returns for primitive, a computed name for that of a property which is nobody else's, and functions
 * that a label holds for what nobody changes.
 */
export function analyzeEffects(code: GrammarCode): Analysis {
  const unsupported: Violation[] = [];
  const routines = emptyRoutines();
  const blocks = new Map<Unit, Block>();
  const add = (level: Level, snippet: Snippet, block?: Block): Unit[] => {
    const unit = parseUnit(level, snippet, block, routines, unsupported);
    if (unit && block) blocks.set(unit, block);
    return unit ? [unit] : [];
  };
  const units = [
    ...code.topLevel.flatMap((snippet) => add('module', snippet)),
    ...code.perParse.flatMap((snippet) => add('parse', snippet)),
    ...code.blocks.flatMap((block) => add('block', block, block)),
  ];
  for (const unit of units) {
    const rule = blocks.get(unit)?.rule ?? null;
    for (const { node, message } of obstaclesIn(unit)) {
      unsupported.push({ rule, message, location: locate(unit.snippet, node.start, node.end) });
    }
  }
  // Names would be taken for something that they are not, and some code would not be seen.
  if (unsupported.length > 0) {
    return { effects: new Map(code.blocks.map((block) => [block, ANYTHING])), violations: [], unsupported };
  }
  const machine = createMachine(routines, units, code.trusted ?? []);
  settle(machine);
  return summarize(machine, blocks);
}

function parseUnit(
  level: Level,
  snippet: Snippet,
  block: Block | undefined,
  routines: Routines,
  unsupported: Violation[],
): Unit | null {
  try {
    const program = level === 'module' ? parseModule(snippet.code) : parseBody(snippet.code);
    return addUnit(level, snippet, program, block?.parameters ?? [], routines);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const at = 'pos' in error && typeof error.pos === 'number' ? error.pos : 0;
    const location = locate(snippet, at, Math.min(at + 1, snippet.code.length));
    unsupported.push({ rule: block?.rule ?? null, message: `This is no JavaScript: ${reason(error)}`, location });
    return null;
  }
}

/** Without the position that acorn adds, which is one within the snippet. */
function reason({ message }: SyntaxError): string {
  return message.replace(/ \([0-9:]+\)$/, '');
}

/** Evaluates everything until nothing new comes up. */
function settle(machine: Machine): void {
  do {
    machine.changed = false;
    for (const routine of machine.routines.all) evaluateRoutine(routine, machine);
    for (const { level, root } of machine.units) {
      const summary = machine.summaries.get(root);
      if (level === 'block' && summary) leak(summary.returns, machine);
    }
  } while (machine.changed);
}
