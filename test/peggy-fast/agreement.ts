/** Holds parsers that were made with the plugin against those of stock Peggy: same values, same errors. */
import { isDeepStrictEqual } from 'node:util';
import { runInThisContext } from 'node:vm';
import peggy from 'peggy';
import fast from '../../src/peggy-fast/peggy-plugin.js';

/** What `parse()` takes besides the text. */
export type ParseOptions = Readonly<Record<string, unknown>>;

/** What a generated parser exports. */
export interface Parser {
  readonly parse: (text: string, options?: ParseOptions) => unknown;
  readonly SyntaxError: new (...details: never[]) => Refusal;
  readonly StartRules: readonly string[];
}

/** Options of `peggy.generate()` that a grammar may ask for. */
export type BuildOptions = Readonly<Pick<peggy.ParserBuildOptions, 'allowedStartRules' | 'cache' | 'trace'>>;

/** One of the texts that a grammar is made of. */
export interface Source {
  readonly source: string;
  readonly text: string;
}

/** The same grammar, compiled twice. */
export interface Parsers {
  readonly stock: Parser;
  readonly fast: Parser;
  /** What the plugin said about rules that stay with stock code. */
  readonly notices: readonly string[];
  /** How often the fast parser has called for stock code so far; it is stock code itself where that is not known. */
  readonly slowParses: (() => number) | undefined;
  /** The parser without stock code; `undefined` where the plugin says that the grammar cannot do without. */
  readonly alone?: Parser | undefined;
}

/** What Peggy throws at a text that it does not accept. */
interface Refusal extends Error {
  readonly expected: unknown;
  readonly found: unknown;
  readonly location: unknown;
  format(sources: readonly { readonly source: unknown; readonly text: string }[]): string;
}

/** What became of a text. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly error: Readonly<Record<string, unknown>> }
  /** What actions throw, and what the stack does. */
  | { readonly kind: 'thrown'; readonly thrown: unknown };

/** One text through both parsers. */
export interface Comparison {
  readonly stock: Outcome;
  readonly fast: Outcome;
  readonly alone?: Outcome;
}

/** What a grammar needs besides its text. */
export interface Surroundings {
  /** Names that the plugin is to take as pure. */
  readonly pure?: readonly string[];
  /** Parsers that the grammar imports, by the names that it imports them with. */
  readonly libraries?: Readonly<Record<string, Parsers>>;
}

/** Compiles a grammar with and without the plugin. */
export function compile(
  sources: readonly Source[],
  build: BuildOptions = {},
  { pure = [], libraries = {} }: Surroundings = {},
): Parsers {
  const notices: string[] = [];
  const plugin = { plugins: [fast], fast: { pure, onNotice: (message: string) => void notices.push(message) } };
  const code = generate(sources, { ...build, ...plugin });
  let slowParses = 0;
  const count = (): void => void slowParses++;
  return {
    stock: evaluate(generate(sources, build), (id) => libraries[id]?.stock),
    fast: evaluate(code.replace(SLOW_PARSE, '$& countSlowParse();'), (id) => libraries[id]?.fast, count),
    notices,
    slowParses: SLOW_PARSE.test(code) ? () => slowParses : undefined,
    alone: standalone(sources, build, pure),
  };
}

/** The parser of a grammar without any stock code, where there can be one. */
function standalone(sources: readonly Source[], build: BuildOptions, pure: readonly string[]): Parser | undefined {
  try {
    return evaluate(generate(sources, { ...build, plugins: [fast], fast: { pure, standalone: true } }));
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.includes('"standalone" is not supported')) return undefined;
    throw thrown;
  }
}

/** Where stock code begins in parsers that have other code beside it. */
const SLOW_PARSE = /function peg\$parseSlow\(.*\) \{/;

/** The code of a parser as a CommonJS module: the one format that has imports and can be evaluated here. */
export function generate(sources: readonly Source[], build: peggy.ParserBuildOptions): string {
  return peggy.generate([...sources] as never, { ...build, output: 'source', format: 'commonjs' } as never) as never;
}

/** Runs the code of a CommonJS module in this realm, so that its arrays are arrays here. */
export function evaluate(
  code: string,
  require: (id: string) => Parser | undefined = () => undefined,
  countSlowParse?: () => void,
): Parser {
  const module: { exports: unknown } = { exports: {} };
  runInThisContext(`(function (module, require, countSlowParse) {${code}\n})`)(module, require, countSlowParse);
  return module.exports as Parser;
}

/** What a parser makes of a text. */
export function outcome(parser: Parser, text: string, options?: ParseOptions): Outcome {
  try {
    return { kind: 'accepted', value: parser.parse(text, options) };
  } catch (thrown) {
    return thrown instanceof parser.SyntaxError
      ? { kind: 'refused', error: described(thrown, text, options) }
      : { kind: 'thrown', thrown };
  }
}

/** All that can be seen of an error. Its class is another one in each parser, so that errors are not compared themselves. */
function described(error: Refusal, text: string, options: ParseOptions | undefined): Readonly<Record<string, unknown>> {
  const { name, message, expected, found, location } = error;
  return {
    ...{ name, message, expected, found, location },
    isError: error instanceof Error,
    keys: Object.keys(error).sort(),
    shown: String(error),
    formatted: attempt(() => error.format([{ source: options?.['grammarSource'], text }])),
    formattedWithoutSource: attempt(() => error.format([])),
  };
}

/** Some locations that a grammar may give its errors cannot be formatted: then both parsers must fail alike. */
function attempt(format: () => string): unknown {
  try {
    return format();
  } catch (thrown) {
    return thrown;
  }
}

/**
 * Gives one text to both parsers. The options are made for each of them, as they may refer to the parser, or keep what
 * it tells them.
 */
export function compare(
  parsers: Pick<Parsers, 'stock' | 'fast' | 'alone'>,
  text: string,
  optionsFor: (parser: Parser) => ParseOptions | undefined = () => undefined,
): Comparison {
  return {
    stock: outcome(parsers.stock, text, optionsFor(parsers.stock)),
    fast: outcome(parsers.fast, text, optionsFor(parsers.fast)),
    ...(parsers.alone && { alone: outcome(parsers.alone, text, optionsFor(parsers.alone)) }),
  };
}

/** Same value or same error: undefined is not null, a hole not undefined, zero not minus zero. */
export function agree({ stock, fast, alone = stock }: Comparison): boolean {
  return isDeepStrictEqual(fast, stock) && (isDeepStrictEqual(alone, stock) || sameMishap(alone, stock));
}

/** Without stock code, errors that JavaScript itself raises in an action may name a variable otherwise. */
function sameMishap(alone: Outcome, stock: Outcome): boolean {
  if (alone.kind !== 'thrown' || stock.kind !== 'thrown') return false;
  return alone.thrown instanceof TypeError && stock.thrown instanceof TypeError;
}
