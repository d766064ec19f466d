import { BlockCode } from './blocks.js';
import type { Reporting, Shared } from './context.js';
import { convertedLabels } from './conversions.js';
import type { Effects } from './effects/analyze.js';
import { callsIn, Facts } from './facts.js';
import type { Initializer } from './initializer.js';
import { rulesToInline } from './inline.js';
import { type Block, type Expectation, nodesOf, Unsupported } from './ir.js';
import { Lexemes } from './lexemes.js';
import type { Lowered } from './lower.js';
import { runtime } from './runtime.js';
import { Scanner } from './scanner.js';
import { Tables } from './tables.js';
import { Texts } from './texts.js';

interface BackendInput {
  readonly program: Lowered;
  readonly effects: ReadonlyMap<Block, Effects>;
  readonly initializer: Initializer;
  readonly declared: ReadonlySet<string>;
  /** `true` if code of the grammar may catch errors and continue. */
  readonly catches: boolean;
  readonly standalone: boolean;
  readonly recognize: boolean;
  /** `true` if the grammar's code reads only characters that were matched, all of them ASCII. */
  readonly readsMatched: boolean;
  readonly mark: (block: Block, code: string, start?: number) => string;
}

const DEPTH = 1;

export function scannerCode(input: BackendInput): string {
  const { program, effects, initializer, catches, standalone, recognize, readsMatched, mark } = input;
  const codes = new Map(program.blocks.map((block) => [block, new BlockCode(block)]));
  const codeOf = (block: Block): BlockCode => codes.get(block)!;
  const effectsOf = (block: Block): Effects => effects.get(block)!;
  const mustRun = (block: Block): boolean =>
    effectsOf(block).writesState || effectsOf(block).changesLabels || effectsOf(block).mayThrow;
  // If `text` is passed around as a value, its callers are unknown.
  const handsOn = initializer.passesOn || program.blocks.some((block) => codeOf(block).passesOn);
  const callsForPosition = (block: Block): boolean => handsOn || effectsOf(block).callsForPosition;
  for (const block of program.blocks) {
    const code = codeOf(block);
    if (block.kind === 'bound' && (code.mentionsStart || code.needsPosition || callsForPosition(block))) {
      throw new Unsupported('a number of repetitions that depends on the position');
    }
  }

  if (standalone) checkStandalone(program);
  const functions = new Functions(standalone);
  const expectations: Expectation[] = [];
  const blockFunctions = new Map<BlockCode, string>();
  const facts = new Facts(program, mustRun);
  const texts = new Texts(program, codeOf);
  const shared: Shared = {
    program,
    facts,
    lexemes: new Lexemes(program, facts),
    tables: new Tables(),
    inlined: rulesToInline(program, facts),
    uncalled: uncalledRules(program),
    texts,
    converted: convertedLabels(program, codeOf, texts, input.declared),
    codeOf,
    mustRun,
    callsForPosition,
    mark,
    numberOf: (expectation) => {
      const known = expectations.findIndex((one) => JSON.stringify(one) === JSON.stringify(expectation));
      return known < 0 ? expectations.push(expectation) - 1 : known;
    },
    functionFor: (rule, builds, reporting) => functions.nameFor(rule, builds, reporting),
    functionForBlock: (code) => {
      let name = blockFunctions.get(code);
      if (name === undefined) {
        name = `${code.block.rule}$code${blockFunctions.size + 1}`;
        blockFunctions.set(code, name);
      }
      return name;
    },
  };

  const builders = program.startRules.map((rule) => functions.nameFor(rule, true, 'free'));
  const skippers = program.startRules.map((rule) => functions.nameFor(rule, false, standalone ? 'free' : 'report'));
  const explainers = standalone ? program.startRules.map((rule) => functions.nameFor(rule, false, 'expect')) : [];
  const written: string[] = [];
  // Rules that differ only in their actions have the same functions where these do not run.
  const bodies = new Map<string, string>();
  const sameAs = new Map<string, string>();
  for (let next = functions.next(); next !== undefined; next = functions.next()) {
    const { rule, name, builds, reporting } = next;
    const code = new Scanner(shared, DEPTH).rule(rule, name, builds, reporting);
    const body = code.slice(code.indexOf('('));
    const same = bodies.get(body);
    if (same === undefined) {
      bodies.set(body, name);
      written.push(code);
    } else sameAs.set(name, same);
  }
  for (const [name, same] of sameAs) {
    if (written.some((code) => code.includes(`${name}(`))) written.push(`  const ${name} = ${same};`);
  }
  for (const [code, name] of blockFunctions) {
    written.push(`  function ${name}(${code.parameters.join(', ')}) {${mark(code.block, code.body)}}`);
  }
  const known = (name: string): string => sameAs.get(name) ?? name;
  return runtime({
    alphabet: program.alphabet,
    initializer,
    tables: shared.tables.declarations(),
    functions: written.join('\n\n'),
    startRules: program.startRules.map((rule, index) => ({
      rule,
      builder: known(builders[index]!),
      skipper: known(skippers[index]!),
      explainer: standalone ? known(explainers[index]!) : undefined,
    })),
    expectations: standalone ? expectations : null,
    given: givenNames(program, codeOf, initializer),
    catches,
    recognize,
    readsMatched,
  });
}

function givenNames(
  program: Lowered,
  codeOf: (block: Block) => BlockCode,
  initializer: Initializer,
): ReadonlySet<string> {
  const names = new Set<string>(initializer.references);
  for (const block of program.blocks) for (const name of codeOf(block).mentioned) names.add(name);
  return names;
}

function uncalledRules({ rules }: Lowered): ReadonlySet<string> {
  const called = new Set([...rules.values()].flatMap(({ node }) => callsIn(node)));
  return new Set([...rules.keys()].filter((name) => !called.has(name)));
}

/** @throws Unsupported if only Peggy's code can parse the grammar */
function checkStandalone(program: Lowered): void {
  for (const { name, node } of program.rules.values()) {
    for (const one of nodesOf(node)) {
      if (one.type === 'codePoint') throw new Unsupported(`rule "${name}" matches code points, not code units`);
    }
  }
}

interface Variant {
  readonly rule: string;
  readonly name: string;
  readonly builds: boolean;
  readonly reporting: Reporting;
}

class Functions {
  readonly #standalone: boolean;
  readonly #named = new Set<string>();
  readonly #waiting: Variant[] = [];

  constructor(standalone: boolean) {
    this.#standalone = standalone;
  }

  nameFor(rule: string, builds: boolean, reporting: Reporting): string {
    const variant = variantOf(rule, builds, reporting, this.#standalone);
    if (!this.#named.has(variant.name)) {
      this.#named.add(variant.name);
      this.#waiting.push(variant);
    }
    return variant.name;
  }

  next(): Variant | undefined {
    return this.#waiting.shift();
  }
}

/**
 * The variants of a rule: `rule$build` builds, `rule$skip` only matches. With Peggy's code, `rule$skip` also reports
 * failures; the other variants are for lookaheads, named rules, and values that code needs during the second scan.
 * Standalone, `rule$expect` collects the expectations.
 */
function variantOf(rule: string, builds: boolean, reporting: Reporting, standalone: boolean): Variant {
  if (reporting === 'expect') return { rule, name: `${rule}$expect${builds ? 'Build' : ''}`, builds, reporting };
  if (builds) {
    if (reporting === 'report') return { rule, name: `${rule}$report`, builds, reporting };
    // Code that builds without reporting calls functions that report.
    if (reporting === 'silent' && !standalone) return { rule, name: `${rule}$quiet`, builds, reporting };
    return { rule, name: `${rule}$build`, builds, reporting: 'free' };
  }
  if (standalone) return { rule, name: `${rule}$skip`, builds, reporting: 'free' };
  return reporting === 'silent'
    ? { rule, name: `${rule}$silent`, builds, reporting }
    : { rule, name: `${rule}$skip`, builds, reporting: 'report' };
}
