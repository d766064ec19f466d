/** The grammars for both compilers, each with texts that it accepts and rejects. */
import { readdirSync, readFileSync } from 'node:fs';
import { type BuildOptions, compile, type ParseOptions, type Parser, type Parsers, type Source } from './agreement.js';

/** The texts for one start rule. */
export interface Samples {
  readonly accept: readonly string[];
  readonly refuse: readonly string[];
}

/** A grammar in the form of the file NAME.json beside NAME.peggy. */
interface GrammarFile {
  /** The names of the files of the grammar. @default [NAME] */
  readonly sources?: readonly string[];
  readonly build?: BuildOptions;
  /** Options of parse(); the samples are for the first. @default [{}] */
  readonly options?: readonly ParseOptions[];
  /** The reason that the plugin may leave rules of this grammar to stock code. */
  readonly fallsBack?: string;
  /** Names that the plugin assumes to be pure. */
  readonly pure?: readonly string[];
  /** Imported grammars by the names of their parsers. */
  readonly imports?: Readonly<Record<string, string>>;
  /** Samples by start rule. */
  readonly rules: Readonly<Record<string, Samples>>;
}

export interface Grammar {
  readonly name: string;
  readonly sources: readonly Source[];
  readonly build: BuildOptions;
  readonly options: readonly ParseOptions[];
  readonly fallsBack: string | undefined;
  readonly pure: readonly string[];
  readonly imports: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, Samples>>;
}

const FOLDER = new URL('grammars/', import.meta.url);
const INPUTS = new URL('inputs/', import.meta.url);
const EXAMPLES = new URL('../../node_modules/pegjs/examples/', import.meta.url);

/** The grammars written for these tests. */
export function ownGrammars(): readonly Grammar[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => ownGrammar(file.slice(0, -'.json'.length)));
}

/** One of them. */
export function ownGrammar(name: string): Grammar {
  const file = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as GrammarFile;
  const sources = (file.sources ?? [name]).map((source) => ({ source, text: read(FOLDER, `${source}.peggy`) }));
  return {
    name,
    sources,
    build: { ...file.build, allowedStartRules: Object.keys(file.rules) },
    options: file.options ?? [{}],
    fallsBack: file.fallsBack,
    pure: file.pure ?? [],
    imports: file.imports ?? {},
    rules: file.rules,
  };
}

/** The example grammars of PEG.js 0.10, which Peggy compiles unchanged. */
export function exampleGrammars(): readonly Grammar[] {
  return ['arithmetics', 'json', 'css', 'javascript'].map((name) => {
    const text = read(EXAMPLES, `${name}.pegjs`);
    const { start, ...samples } = JSON.parse(read(INPUTS, `${name}.samples.json`)) as Samples & { start: string };
    const whole = readdirSync(INPUTS).filter((file) => file.startsWith(`${name}.`) && !file.endsWith('.samples.json'));
    const accept = [...samples.accept, ...whole.map((file) => read(INPUTS, file))];
    return {
      name: `PEG.js ${name}`,
      sources: [{ source: `${name}.pegjs`, text }],
      build: {},
      options: [{}],
      fallsBack: undefined,
      pure: [],
      imports: {},
      rules: { [start]: { ...samples, accept } },
    };
  });
}

export function allGrammars(): readonly Grammar[] {
  return [...ownGrammars(), ...exampleGrammars()];
}

/** Compiles a grammar, after those that it imports. */
export function compileGrammar({ sources, build, pure, imports }: Grammar): Parsers {
  const libraries = Object.entries(imports).map(([id, name]) => [id, compileGrammar(ownGrammar(name))] as const);
  return compile(sources, build, { pure, libraries: Object.fromEntries(libraries) });
}

/** Options for a start rule. Grammars with an action that parses again find their parser here; the tracer ignores its events. */
export function optionsFor(startRule: string, options: ParseOptions): (parser: Parser) => ParseOptions {
  return (parser) => {
    const all: ParseOptions = {
      startRule,
      tracer: { trace: () => undefined },
      parse: (text: string) => parser.parse(text, all),
      accepts: (text: string) => {
        try {
          parser.parse(text, all);
          return true;
        } catch {
          return false;
        }
      },
      ...options,
    };
    return all;
  };
}

function read(folder: URL, name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}
