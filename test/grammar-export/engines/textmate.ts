/** TextMate grammars in the engine of VS Code: vscode-textmate with Oniguruma as WebAssembly. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import oniguruma from 'vscode-oniguruma';
import textmate, { type IRawGrammar } from 'vscode-textmate';
import type { Piece } from '../pieces.js';

const wasm = createRequire(import.meta.url).resolve('vscode-oniguruma/release/onig.wasm');
const onigLib = oniguruma.loadWASM(readFileSync(wasm)).then(() => ({
  createOnigScanner: (patterns: string[]) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text: string) => new oniguruma.OnigString(text),
}));

/** Reads lines in sequence, as an editor does: an open state continues on the next line. */
export type LinesReader = (lines: readonly string[]) => readonly (readonly Piece[])[];

/** Creates a reader for a grammar. The kind of a piece is its innermost scope, or '' if it has only that of the language. */
export async function textMateReader(grammar: { readonly scopeName: string }): Promise<LinesReader> {
  // Through JSON, the format of such grammars.
  const raw = JSON.parse(JSON.stringify(grammar)) as IRawGrammar;
  const registry = new textmate.Registry({ onigLib, loadGrammar: async () => raw });
  const loaded = await registry.loadGrammar(grammar.scopeName);
  if (loaded === null) throw new Error(`The grammar ${grammar.scopeName} could not be loaded`);
  return (lines) => {
    let state = textmate.INITIAL;
    return lines
      .map((line) => {
        const { tokens, ruleStack } = loaded.tokenizeLine(line, state);
        state = ruleStack;
        return tokens.map(({ startIndex, endIndex, scopes }) => ({
          start: startIndex,
          // The engine reads a line with its end.
          end: Math.min(endIndex, line.length),
          kind: scopes.length > 1 ? scopes.at(-1)! : '',
        }));
      })
      .map((pieces) => pieces.filter(({ start, end }) => start < end));
  };
}
