/** Compares parsers generated with the plugin with those of stock Peggy: same values, same errors. */
import { isDeepStrictEqual } from 'node:util';
import { runInThisContext } from 'node:vm';
import peggy from 'peggy';
import fast from '../../src/peggy-fast/peggy-plugin.js';

/** The options of `parse()`. */
export type ParseOptions = Readonly<Record<string, unknown>>;

/** The exports of a generated parser. */
export interface Parser {
  readonly parse: (text: string, options?: ParseOptions) => unknown;
  /** Only with the plugin. */
  readonly tryParse?: (text: string, options?: ParseOptions) => Tried;
  readonly SyntaxError: new (...details: never[]) => Refusal;
  readonly StartRules: readonly string[];
}

type Tried = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: Refusal };

/** Options of `peggy.generate()` that a grammar may require. */
export type BuildOptions = Readonly<Pick<peggy.ParserBuildOptions, 'allowedStartRules' | 'cache' | 'trace'>>;

/** One of the sources of a grammar. */
export interface Source {
  readonly source: string;
  readonly text: string;
}

/** The same grammar, compiled twice. */
export interface Parsers {
  readonly stock: Parser;
  readonly fast: Parser;
  /** The reason why the grammar is left to Peggy, if it is. */
  readonly notices: readonly string[];
  /** `true` if the fast parser contains no parse function of Peggy's. */
  readonly isFast: boolean;
}

/** The error that Peggy throws for a text that it rejects. */
interface Refusal extends Error {
  readonly expected: unknown;
  readonly found: unknown;
  readonly location: unknown;
  format(sources: readonly { readonly source: unknown; readonly text: string }[]): string;
}

/** The outcome of a text. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly error: Readonly<Record<string, unknown>> }
  /** Errors of actions, and stack overflows. */
  | { readonly kind: 'thrown'; readonly thrown: unknown };

/** One text through both parsers. */
export interface Comparison {
  readonly stock: Outcome;
  readonly fast: Outcome;
}

/** The requirements of a grammar besides its text. */
export interface Surroundings {
  /** Names that the plugin assumes to be pure. */
  readonly pure?: readonly string[];
  /** Parsers that the grammar imports, by the names of the imports. */
  readonly libraries?: Readonly<Record<string, Parsers>>;
}

/** Compiles a grammar with and without the plugin. */
export function compile(
  sources: readonly Source[],
  build: BuildOptions = {},
  { pure = [], libraries = {} }: Surroundings = {},
): Parsers {
  const notices: string[] = [];
  const onNotice = (message: string) => void notices.push(message);
  const plugin = { plugins: [fast], fast: { pure, tryParse: true, onNotice } };
  const code = generate(sources, { ...build, ...plugin });
  return {
    stock: evaluate(generate(sources, build), (id) => libraries[id]?.stock),
    fast: evaluate(code, (id) => libraries[id]?.fast),
    notices,
    isFast: !code.includes('function peg$parseSlow(') && code.includes('peg$makeScanner'),
  };
}

/** The code of a parser as a CommonJS module: the one format that has imports and can be evaluated here. */
export function generate(sources: readonly Source[], build: peggy.ParserBuildOptions): string {
  return peggy.generate([...sources] as never, { ...build, output: 'source', format: 'commonjs' } as never) as never;
}

/** Runs the code of a CommonJS module in this realm, so that its arrays are arrays here. */
export function evaluate(code: string, require: (id: string) => Parser | undefined = () => undefined): Parser {
  const module: { exports: unknown } = { exports: {} };
  runInThisContext(`(function (module, require) {${code}\n})`)(module, require);
  return module.exports as Parser;
}

/** The outcome of parsing a text. Texts of odd length are read with `tryParse`, except in library mode. */
export function outcome(parser: Parser, text: string, options?: ParseOptions): Outcome {
  try {
    const isLibrary = Object.keys(options ?? {}).some((name) => name.startsWith('peg$'));
    const tried = text.length % 2 === 1 && !isLibrary ? parser.tryParse?.(text, options) : undefined;
    if (tried?.ok === false) return { kind: 'refused', error: described(tried.error, text, options) };
    return { kind: 'accepted', value: tried === undefined ? parser.parse(text, options) : tried.value };
  } catch (thrown) {
    return thrown instanceof parser.SyntaxError
      ? { kind: 'refused', error: described(thrown, text, options) }
      : { kind: 'thrown', thrown };
  }
}

/** All visible properties of an error. Each parser has its own class, so that errors are not compared themselves. */
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

/** Some locations that a grammar may assign to its errors cannot be formatted; then both parsers must fail alike. */
function attempt(format: () => string): unknown {
  try {
    return format();
  } catch (thrown) {
    return thrown;
  }
}

/**
 * Parses one text with both parsers. The options are created for each of them, because they may refer to the parser, or
 * store its results.
 */
export function compare(
  parsers: Pick<Parsers, 'stock' | 'fast'>,
  text: string,
  optionsFor: (parser: Parser) => ParseOptions | undefined = () => undefined,
): Comparison {
  return {
    stock: outcome(parsers.stock, text, optionsFor(parsers.stock)),
    fast: outcome(parsers.fast, text, optionsFor(parsers.fast)),
  };
}

/** Same value or same error: undefined is not null, a hole is not undefined, zero is not minus zero. */
export function agree({ stock, fast }: Comparison): boolean {
  return isDeepStrictEqual(fast, stock);
}
