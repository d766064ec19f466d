/** The worker of the sandboxed frame: compiles grammars, whose code it executes. */
import { describeGrammar, type GrammarInput, grammarExport, measureSpeed } from './grammar.js';

interface Request {
  readonly id: number;
  readonly task: string;
  readonly input: GrammarInput;
}

const RUN: Readonly<Record<string, (input: GrammarInput) => unknown>> = {
  describe: describeGrammar,
  export: grammarExport,
  speed: measureSpeed,
};

addEventListener('message', ({ data: { id, task, input } }: MessageEvent<Request>) => {
  try {
    postMessage({ id, result: RUN[task]!(input) });
  } catch (thrown) {
    postMessage({ id, error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
});
