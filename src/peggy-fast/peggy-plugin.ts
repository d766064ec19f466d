/**
 * A plugin that makes Peggy's parsers faster. In addition to Peggy's own code, it generates a scanner, which parses
 * valid input and leaves error messages to that code.
 *
 *     peggy --plugin pegwire/engine/peggy-plugin grammar.peggy
 *
 *     peggy.generate(grammar, { plugins: [fast], fast: { onNotice: console.warn } })
 *
 * Results and errors are the same as without the plugin, for grammars whose code has no effects that outlive a parse.
 * The plugin rejects other grammars, with the rule and the line.
 */

import type { ast, Config, LocationRange, ParserBuildOptions, Plugin, Session } from 'peggy';
import { scannerCode } from './backend.js';
import { analyzeEffects, type Block as CodeBlock } from './effects/analyze.js';
import { parseBody, parseModule, resolveScopes } from './effects/scopes.js';
import type { Snippet } from './effects/syntax.js';
import { liftInitializer } from './initializer.js';
import { type Block, Unsupported } from './ir.js';
import { catchesErrors } from './javascript.js';
import { type Lowered, lower } from './lower.js';
import { type Export, holdsMarks, Marks, type SourceNode, splice } from './splice.js';
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
  const exported: Export[] = settings.recognize ? [{ local: 'peg$recognize', name: 'recognize' }] : [];
  const parser = grammar.code!;
  try {
    const code = compile(grammar, options, session, settings);
    if (code !== null) splice(parser, code, exported, settings.standalone === true);
  } catch (thrown) {
    if (!(thrown instanceof Unsupported)) throw thrown;
    if (settings.standalone) {
      session.error(`The option "standalone" is not supported for this grammar: ${thrown.message}`);
      return;
    }
    notice(`The parser is generated without a scanner: ${thrown.message}.`);
    if (settings.recognize) splice(parser, [SLOW_ONLY], exported, false);
  }
}

function compile(
  grammar: ast.Grammar,
  options: ParserBuildOptions,
  session: Session,
  settings: FastOptions,
): (string | SourceNode)[] | null {
  if (options.trace) throw new Unsupported('the option "trace" is set');
  // Some grammars take exponential time without the cache.
  if (options.cache) throw new Unsupported('the option "cache" is set');
  const topLevel = snippetsOf(grammar.topLevelInitializer);
  const perParse = snippetsOf(grammar.initializer);
  const lowered = lower(grammar, options.allowedStartRules ?? [grammar.rules[0]!.name]);
  const program = withWords(lowered, settings.intern ?? []);
  if (settings.readsMatched) checkAscii(program);
  if ([...perParse, ...program.blocks].some(({ code }) => holdsMarks(code))) {
    throw new Unsupported('its code contains private-use characters');
  }
  const effects = effectsOf(program, topLevel, perParse, session, settings);
  if (effects === null) return null;
  const initializers = [
    ...topLevel.map(({ code }) => parseModule(code)),
    ...perParse.map(({ code }) => parseBody(code)),
  ];
  const marks = new Marks();
  const code = scannerCode({
    program,
    effects,
    initializer: liftInitializer(perParse.map((snippet) => snippet.code).join('\n')),
    declared: new Set(initializers.flatMap((one) => [...resolveScopes(one).outermost.keys()])),
    catches: [...initializers, ...program.blocks.map(({ code }) => parseBody(code))].some(catchesErrors),
    standalone: settings.standalone === true,
    recognize: settings.recognize === true,
    readsMatched: settings.readsMatched === true,
    mark: marks.mark,
  });
  const Node = grammar.code!.constructor as SourceNodeClass;
  return marks.pieces(code, (block, text, start) => sourceNode(Node, block, text, start));
}

function effectsOf(
  program: Lowered,
  topLevel: readonly Snippet[],
  perParse: readonly Snippet[],
  session: Session,
  settings: FastOptions,
): Parameters<typeof scannerCode>[0]['effects'] | null {
  const blocks = new Map<CodeBlock, Block>();
  for (const block of program.blocks) {
    const { rule, kind, code, location, scope } = block;
    blocks.set({ rule, kind, code, location, parameters: [...scope.keys()] }, block);
  }
  const analysis = analyzeEffects({ topLevel, perParse, blocks: [...blocks.keys()], trusted: settings.pure ?? [] });
  const [unsupported] = analysis.unsupported;
  if (unsupported !== undefined) throw new Unsupported(`${unsupported.message} (${lineOf(unsupported.location)})`);
  for (const { message, location } of analysis.violations) session.error(message, location);
  if (analysis.violations.length > 0) return null;
  return new Map([...analysis.effects].map(([codeBlock, effects]) => [blocks.get(codeBlock)!, effects]));
}

function snippetsOf(
  initializer: ast.CodeBlock<string> | readonly ast.CodeBlock<string>[] | undefined | null,
): Snippet[] {
  if (!initializer) return [];
  const list = Array.isArray(initializer) ? initializer : [initializer];
  return list.map(({ code, codeLocation }) => ({ code, location: codeLocation }));
}

function lineOf({ start }: LocationRange): string {
  return `line ${start.line}`;
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

// Returns true if parse() would accept the input.
function peg$recognize(input, options) {
  try {
    peg$parseSlow(input, options);
    return true;
  } catch (thrown) {
    if (thrown instanceof peg$SyntaxError) return false;
    throw thrown;
  }
}
`;

/** The options of the plugin, in the build option `fast`. */
export interface FastOptions {
  /** Called with the reason if a grammar is left to Peggy's own code. @default Peggy's `info` callback */
  readonly onNotice?: ((message: string) => void) | undefined;
  /**
   * If true, Peggy's own parse function is omitted: the scanner finds the expectations of its errors itself, in half
   * the code. Grammars that the scanner does not support are rejected. Library mode and input that is not a string are
   * not supported. @default false
   */
  readonly standalone?: boolean | undefined;
  /**
   * If true, the parser also exports `recognize(text, options)`, which returns `true` if a text matches, without
   * building a result. @default false
   */
  readonly recognize?: boolean | undefined;
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
  standalone: 'true or false',
  recognize: 'true or false',
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
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (!Object.hasOwn(KINDS, name)) {
      return [`Unknown option "${name}" in "fast"; the options are ${Object.keys(KINDS).join(', ')}`];
    }
    const kind = KINDS[name as keyof FastOptions];
    if (value === undefined || IS_OF_KIND[kind](value)) return [];
    return [`The option "${name}" in "fast" must be ${kind}; got ${shown(value)}`];
  });
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object of another kind' : String(value);
}
