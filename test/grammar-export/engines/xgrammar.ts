/** XGrammar, which reads GBNF: several servers for language models use it for constrained decoding. */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';

type XGrammar = typeof import('@mlc-ai/web-xgrammar');

export interface GbnfMatcher {
  (input: string): boolean;
  /** Frees the resources of the engine. */
  readonly dispose: () => void;
}

const STOP = 0;

interface Engine {
  readonly library: XGrammar;
  /** Its console output. */
  readonly output: string[];
}

let engine: Promise<Engine> | undefined;

/**
 * Compiles a grammar to a matcher of whole texts.
 *
 * @throws Error with the engine's message if the grammar is invalid
 */
export async function gbnfMatcher(text: string): Promise<GbnfMatcher> {
  engine ??= load();
  const { library, output } = await engine;
  const { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } = library;
  try {
    const grammar = await Grammar.fromEBNF(text);
    const tokenizer = await TokenizerInfo.createTokenizerInfo(['<stop>', 'x'], 'raw', false, 2, STOP);
    const compiler = await GrammarCompiler.createGrammarCompiler(tokenizer, false);
    const compiled = await compiler.compileGrammar(grammar);
    const matcher = await GrammarMatcher.createGrammarMatcher(compiled);
    const matches = (input: string): boolean => {
      matcher.reset();
      // The grammar must allow the end of the text here.
      return (input === '' || matcher._acceptString(input)) && matcher.acceptToken(STOP);
    };
    const dispose = (): void => {
      for (const one of [matcher, compiled, compiler, tokenizer, grammar]) one.dispose();
    };
    return Object.assign(matches, { dispose });
  } catch (thrown) {
    // The engine aborts on errors and must be loaded again.
    engine = undefined;
    throw new Error(`XGrammar rejects the grammar: ${output.join(' ')}`, { cause: thrown });
  }
}

/** The package claims to be an ES module, but contains a CommonJS script, so Node needs help. */
async function load(): Promise<Engine> {
  const path = createRequire(import.meta.url).resolve('@mlc-ai/web-xgrammar');
  const script = new Module(path) as Module & { _compile: (source: string, path: string) => void };
  script._compile(readFileSync(path, 'utf8'), path);
  const library = script.exports as XGrammar;
  const output: string[] = [];
  const { log, warn, error } = console;
  const listen = (...words: unknown[]): void => {
    output.push(words.join(' '));
  };
  // The engine captures the console when it starts.
  Object.assign(console, { log: listen, warn: listen, error: listen });
  try {
    (await library.Grammar.fromEBNF('root ::= "x"')).dispose();
  } finally {
    Object.assign(console, { log, warn, error });
  }
  return { library, output };
}
