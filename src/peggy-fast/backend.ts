import type { BlockCode } from './blocks.js';
import type { Reporting, Shared } from './context.js';
import { convertedLabels } from './conversions.js';
import type { Effects } from './effects/analyze.js';
import { callsIn, Facts } from './facts.js';
import { GLOBALS, type Initializer } from './initializer.js';
import { rulesToInline } from './inline.js';
import { type Block, type Expectation, Unsupported } from './ir.js';
import { Lexemes } from './lexemes.js';
import type { Lowered } from './lower.js';
import { runtime } from './runtime.js';
import { Scanner } from './scanner.js';
import { Tables } from './tables.js';
import { Texts } from './texts.js';

interface BackendInput {
  readonly program: Lowered;
  readonly codeOf: (block: Block) => BlockCode;
  readonly effects: ReadonlyMap<Block, Effects>;
  readonly initializer: Initializer;
  /** The names that the initializers declare. */
  readonly declared: ReadonlySet<string>;
  /** `true` if code of the grammar only reads members of the options. */
  readonly keepsOptions: boolean;
  /** `true` if code of the grammar may catch errors and continue. */
  readonly catches: boolean;
  /** `true` if the parser supports Peggy's library mode. */
  readonly library: boolean;
  readonly recognize: boolean;
  readonly tryParse: boolean;
  /** `true` if the grammar's code reads only characters that were matched, all of them ASCII. */
  readonly readsMatched: boolean;
  readonly mark: (block: Block, code: string, start?: number) => string;
}

const DEPTH = 1;

export function scannerCode(input: BackendInput): string {
  const { program, codeOf, effects, initializer, declared, mark } = input;
  const mustRun = (block: Block): boolean => effects.get(block)!.mustRun;
  const callsForPosition = (block: Block): boolean => effects.get(block)!.callsForPosition;
  for (const block of program.blocks) {
    const code = codeOf(block);
    if (block.kind === 'bound' && (code.mentionsStart || code.needsPosition || callsForPosition(block))) {
      throw new Unsupported('a number of repetitions that depends on the position');
    }
  }
  for (const name of GLOBALS)
    if (declared.has(name)) throw new Unsupported(`an initializer that declares "${name}" itself`);

  const facts = new Facts(program, mustRun);
  const texts = new Texts(program, codeOf);
  const functions = new Functions((rule) => facts.hasEffects(program.rules.get(rule)!.node));
  const expectations: Expectation[] = [];
  const numbers = new Map<string, number>();
  const blockFunctions = new Map<BlockCode, string>();
  const shared: Shared = {
    program,
    facts,
    lexemes: new Lexemes(program, facts),
    tables: new Tables(),
    inlined: rulesToInline(program, facts),
    uncalled: uncalledRules(program),
    texts,
    converted: convertedLabels(program, codeOf, texts, declared),
    codeOf,
    mustRun,
    decides: (block) => effects.get(block)!.decides,
    isOdd: (block) => effects.get(block)!.isOdd,
    callsForPosition,
    mark,
    numberOf: (expectation) => {
      const key = JSON.stringify(expectation);
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, expectations.length);
      return expectations.push(expectation) - 1;
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
  const skippers = input.recognize ? program.startRules.map((rule) => functions.nameFor(rule, false, 'free')) : [];
  const explainers = program.startRules.map((rule) => functions.nameFor(rule, false, 'expect'));
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
      skipper: known(skippers[index] ?? ''),
      explainer: known(explainers[index]!),
    })),
    expectations,
    given: givenNames(program, codeOf, initializer),
    keepsOptions: input.keepsOptions,
    catches: input.catches,
    recognize: input.recognize,
    tryParse: input.tryParse,
    library: input.library,
    readsMatched: input.readsMatched,
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

interface Variant {
  readonly rule: string;
  readonly name: string;
  readonly builds: boolean;
  readonly reporting: Reporting;
}

class Functions {
  readonly #hasEffects: (rule: string) => boolean;
  readonly #named = new Set<string>();
  readonly #waiting: Variant[] = [];

  constructor(hasEffects: (rule: string) => boolean) {
    this.#hasEffects = hasEffects;
  }

  nameFor(rule: string, builds: boolean, reporting: Reporting): string {
    const variant = this.#variantOf(rule, builds, reporting);
    if (!this.#named.has(variant.name)) {
      this.#named.add(variant.name);
      this.#waiting.push(variant);
    }
    return variant.name;
  }

  next(): Variant | undefined {
    return this.#waiting.shift();
  }

  /** Without code that must run, a rule is matched in the same way in both scans, unless its expectations matter. */
  #variantOf(rule: string, builds: boolean, reporting: Reporting): Variant {
    if (reporting === 'expect') return { rule, name: `${rule}$expect`, builds: false, reporting };
    if (reporting === 'silent' && this.#hasEffects(rule))
      return { rule, name: `${rule}$silent`, builds: false, reporting };
    return { rule, name: `${rule}$${builds ? 'build' : 'skip'}`, builds, reporting: 'free' };
  }
}
