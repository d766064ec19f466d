/**
 * A plugin that makes Peggy's parsers faster: it generates a scanner in place of Peggy's parse function.
 *
 *     peggy --plugin pegwire/engine/peggy-plugin grammar.peggy
 *
 *     peggy.generate(grammar, { plugins: [fast], fast: { onNotice: console.warn } })
 *
 * Results and errors are the same as without the plugin. A grammar that it does not support is left to Peggy, with a
 * notice.
 */

import type { Program } from 'acorn';
import type { ast, Config, ParserBuildOptions, Plugin, Session } from 'peggy';
import { scannerCode } from './backend.js';
import { BlockCode } from './blocks.js';
import { analyzeEffects, type Effects, Obstacle } from './effects/analyze.js';
import { POSITION_FUNCTIONS } from './effects/purity.js';
import { parseBody, parseModule, resolveScopes } from './effects/scopes.js';
import type { Snippet } from './effects/syntax.js';
import { javascriptOf } from './effects/types.js';
import { liftInitializer, valuedNames } from './initializer.js';
import { type Block, Unsupported } from './ir.js';
import { catchesErrors } from './javascript.js';
import { lower } from './lower.js';
import { clashingName, INPUT } from './names.js';
import { holdsMarks, Marks, RECOGNIZE, replaceParser, type SourceNode, TRY_PARSE, wrapParser } from './splice.js';
import { checkAscii, withWords } from './words.js';

declare module 'peggy' {
  interface BuildOptionsBase {
    fast?: FastOptions | undefined;
  }
}

/** The plugin, for the option `plugins` of `peggy.generate()`. Its own options are in the build option `fast`. */
const fast: Plugin = {
  use(config: Config, options: ParserBuildOptions): void {
    // Only once, even if it is listed several times.
    if (config.passes.generate.some(({ name }) => name === 'addScannerPass')) return;
    const { problems, options: settings } = checkOptions(options['fast']);
    config.passes.generate.push(function addScannerPass(grammar, buildOptions, session) {
      for (const problem of problems) session.error(problem);
      if (problems.length === 0) addScanner(grammar, buildOptions as ParserBuildOptions, session, settings);
    });
  },
};

export default fast;

function addScanner(grammar: ast.Grammar, options: ParserBuildOptions, session: Session, settings: FastOptions): void {
  const notice = settings.onNotice ?? ((message: string) => session.info(message));
  const exported = [...(settings.tryParse ? [TRY_PARSE] : []), ...(settings.recognize ? [RECOGNIZE] : [])];
  try {
    replaceParser(codeOf(grammar), compile(grammar, options, settings), exported);
  } catch (thrown) {
    const isRequired = settings.required === true || settings.standalone === true;
    // A grammar may be nested too deeply for the stack.
    if (!(thrown instanceof Unsupported || thrown instanceof Obstacle || (thrown instanceof RangeError && !isRequired)))
      throw thrown;
    const place = thrown instanceof Obstacle ? thrown.location : undefined;
    if (isRequired) {
      session.error(`The plugin does not support this grammar: ${thrown.message}`, place);
      return;
    }
    notice(
      `The parser is generated without a scanner: ${thrown.message}${place ? ` (line ${place.start.line})` : ''}.`,
    );
    if (exported.length > 0) wrapParser(codeOf(grammar), SLOW_ONLY, exported);
  }
}

/** @throws Unsupported if another plugin has replaced Peggy's code generation */
function codeOf({ code }: ast.Grammar): SourceNode {
  if (typeof code !== 'object' || !Array.isArray((code as { children?: unknown }).children)) {
    throw new Unsupported('another plugin generates the code of the parser');
  }
  return code;
}

/**
 * @throws Unsupported for a grammar that a scanner does not support
 * @throws Obstacle for code that a scanner cannot contain
 */
function compile(grammar: ast.Grammar, options: ParserBuildOptions, settings: FastOptions): (string | SourceNode)[] {
  if (options.trace) throw new Unsupported('the option "trace" is set');
  // Some grammars take exponential time without the cache.
  if (options.cache) throw new Unsupported('the option "cache" is set');
  const topLevel = snippetsOf(grammar.topLevelInitializer, parseModule);
  const perParse = snippetsOf(grammar.initializer, parseBody);
  const lowered = lower(grammar, options.allowedStartRules ?? [grammar.rules[0]!.name]);
  const program = withWords(lowered, settings.intern ?? []);
  if (settings.readsMatched) checkAscii(program);
  if ([...perParse, ...program.blocks].some(({ code }) => holdsMarks(code))) {
    throw new Unsupported('its code contains private-use characters');
  }
  const { effects, initializers, blocks, keepsOptions } = effectsOf(program.blocks, topLevel, perParse, settings);
  const codes = new Map(program.blocks.map((block) => [block, new BlockCode(block, blocks.get(block)!)]));
  const marks = new Marks();
  const code = scannerCode({
    program,
    codeOf: (block) => codes.get(block)!,
    effects,
    keepsOptions,
    initializer: liftInitializer(
      perParse.map((snippet) => snippet.code).join('\n'),
      new Set([
        ...initializers.flatMap((one) => valuedNames(one, new Set())),
        ...[...blocks].flatMap(([block, one]) => valuedNames(one, new Set(block.scope.keys()))),
      ]),
    ),
    declared: new Set(initializers.flatMap((one) => [...resolveScopes(one).outermost.keys()])),
    catches: [...initializers, ...blocks.values()].some(catchesErrors),
    library: settings.standalone !== true,
    recognize: settings.recognize === true,
    tryParse: settings.tryParse === true,
    readsMatched: settings.readsMatched === true,
    mark: marks.mark,
  });
  const Node = codeOf(grammar).constructor as SourceNodeClass;
  return marks.pieces(code, (block, text, start) => sourceNode(Node, block, text, start));
}

function effectsOf(
  blocks: readonly Block[],
  topLevel: readonly Snippet[],
  perParse: readonly Snippet[],
  { pure = [] }: FastOptions,
): Analysis {
  const described = new Map(blocks.map((block) => [{ ...block, parameters: [...block.scope.keys()] }, block]));
  const analysis = analyzeEffects({ topLevel, perParse, blocks: [...described.keys()], trusted: pure });
  for (const program of analysis.initializers) {
    const clash = clashingName(program);
    if (clash !== undefined) throw new Unsupported(`the name "${clash}" is reserved for generated code`);
  }
  return {
    initializers: analysis.initializers,
    keepsOptions: analysis.keepsOptions,
    effects: new Map([...analysis.effects].map(([block, effects]) => [described.get(block)!, effects])),
    blocks: new Map([...analysis.programs].map(([block, program]) => [described.get(block)!, program])),
  };
}

interface Analysis {
  readonly keepsOptions: boolean;
  readonly effects: ReadonlyMap<Block, Effects>;
  readonly blocks: ReadonlyMap<Block, Program>;
  readonly initializers: readonly Program[];
}

function snippetsOf(
  initializer: ast.CodeBlock<string> | readonly ast.CodeBlock<string>[] | undefined | null,
  parse: (code: string) => Program,
): Snippet[] {
  if (!initializer) return [];
  const list = Array.isArray(initializer) ? initializer : [initializer];
  return list.map(({ code, codeLocation }) => ({ code: javascriptOf(code, parse), location: codeLocation }));
}

type SourceNodeClass = new (
  line: number | null,
  column: number | null,
  source: string,
  pieces: string | SourceNode[],
  name?: string,
) => SourceNode;

function sourceNode(Node: SourceNodeClass, { code, location, rule }: Block, text: string, start: number): SourceNode {
  const source = String(location.source);
  const before = code.slice(0, start).split('\n');
  const line = location.start.line + before.length - 1;
  const column = before.at(-1)!.length + (before.length === 1 ? location.start.column - 1 : 0);
  const lines = text.split('\n');
  const nodes = lines.map((one, index) => {
    const piece = index === lines.length - 1 ? one : `${one}\n`;
    return new Node(line + index, index === 0 ? column : 0, source, piece, rule);
  });
  return new Node(null, null, source, nodes);
}

const SLOW_ONLY = `
function peg$parse(input, options) {
  return peg$parseSlow(input, options);
}

// Returns { ok: true, value }, or { ok: false, error } if parse() would throw a SyntaxError.
function peg$tryParse(input, options) {
  try {
    return { ok: true, value: peg$parseSlow(input, options) };
  } catch (error) {
    if (error instanceof peg$SyntaxError) return { ok: false, error };
    throw error;
  }
}

// Returns true if parse() would accept the input.
function peg$recognize(input, options) {
  return peg$tryParse(input, options).ok;
}
`;

/** The options of the plugin, in the build option `fast`. */
export interface FastOptions {
  /** Called with the reason if a grammar is left to Peggy's own code. @default Peggy's `info` callback */
  readonly onNotice?: ((message: string) => void) | undefined;
  /** If true, a grammar that the plugin does not support is an error, with the reason. @default false */
  readonly required?: boolean | undefined;
  /**
   * If true, the parser has no library mode, so that other grammars cannot import its rules; it is smaller. Implies
   * `required`. @default false
   */
  readonly standalone?: boolean | undefined;
  /**
   * If true, the parser also exports `recognize(text, options)`, which returns `true` if a text matches, without
   * building a result. @default false
   */
  readonly recognize?: boolean | undefined;
  /**
   * If true, the parser also exports `tryParse(text, options)`, which returns `{ ok: true, value }`, or
   * `{ ok: false, error }` where `parse` throws a `SyntaxError`. Errors that the parser creates during this call have no
   * stack trace, because capturing one takes longer than parsing. @default false
   */
  readonly tryParse?: boolean | undefined;
  /**
   * Names of rules like `key = $[a-z]+` whose texts recur often. Texts of up to eight characters are interned, so that
   * reading one again creates no new string. A grammar in which one of them is another kind of rule is left to Peggy.
   * @default none
   */
  readonly intern?: readonly string[] | undefined;
  /**
   * If true, the code of the grammar calls `input.charCodeAt` only for characters that the parse has matched. It then
   * reads the scanned bytes, without a check for other characters. A grammar that matches anything beyond ASCII is left
   * to Peggy. @default false
   */
  readonly readsMatched?: boolean | undefined;
  /** Names of functions that are assumed to have no effects, such as imported ones. @default none */
  readonly pure?: readonly string[] | undefined;
}

type Kind = 'a function' | 'true or false' | 'an array of strings';

const KINDS: Readonly<Record<keyof FastOptions, Kind>> = {
  onNotice: 'a function',
  required: 'true or false',
  standalone: 'true or false',
  recognize: 'true or false',
  tryParse: 'true or false',
  intern: 'an array of strings',
  readsMatched: 'true or false',
  pure: 'an array of strings',
};

const IS_OF_KIND: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  'a function': (value) => typeof value === 'function',
  'true or false': (value) => typeof value === 'boolean',
  'an array of strings': (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
};

/** Checks the build option `fast`, for which Peggy accepts any value. */
function checkOptions(given: unknown): { readonly problems: readonly string[]; readonly options: FastOptions } {
  if (given === undefined) return { problems: [], options: {} };
  if (Object.prototype.toString.call(given) !== '[object Object]') {
    return { problems: [`The build option "fast" must be a plain object; got ${shown(given)}`], options: {} };
  }
  const options = { ...(given as FastOptions) };
  return { problems: problemsOf(options), options };
}

function problemsOf(options: FastOptions): string[] {
  const impure = (Array.isArray(options.pure) ? options.pure : []).filter((name) => NEVER_PURE.has(name));
  const unknown = impure.map((name) => `The option "pure" in "fast" must name functions of the grammar; got "${name}"`);
  const others = Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (!Object.hasOwn(KINDS, name)) {
      return [`Unknown option "${name}" in "fast"; the options are ${Object.keys(KINDS).join(', ')}`];
    }
    const kind = KINDS[name as keyof FastOptions];
    if (value === undefined || IS_OF_KIND[kind](value)) return [];
    return [`The option "${name}" in "fast" must be ${kind}; got ${shown(value)}`];
  });
  return [...unknown, ...others];
}

/** Names that Peggy gives to the code of a grammar. */
const NEVER_PURE: ReadonlySet<string> = new Set([INPUT, 'options', ...POSITION_FUNCTIONS]);

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object of another kind' : String(value);
}
