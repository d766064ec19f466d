import { packetPrompt } from '../../aacp/language/prompt.js';
import { framePrompt } from '../../accp/language/prompt.js';
import { ENCODINGS } from '../../tokens/counter.js';
import type { ModelPrompt } from '../../tokens/prompt.js';
import { notExact, UsageError } from '../io/errors.js';
import { toJson } from '../io/json.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { frameOptions, NARROWING_OPTIONS, packetOptions } from '../options/narrowing.js';
import { choice } from '../options/option.js';
import { ENCODING_HELP } from '../session/options.js';

const OPTIONS = {
  ...NARROWING_OPTIONS,
  encoding: choice('NAME', ENCODING_HELP, ENCODINGS),
};

export const command = defineCommand({
  takes: 'protocol',
  details: 'Prints the prompt to stdout and its number of tokens to stderr.',
  options: OPTIONS,
  example: "pegwire prompt accp --agents planner --intents req --fields 'q:string,limit:integer?'",
  run: async (invocation) => {
    const { protocol, given, output, json } = invocation;
    const { text, examples, tokens: count } = await promptFor(invocation);
    const { tokens, exact, encoding } = count;
    if (json) {
      await output.result(toJson({ protocol: protocol.name, prompt: text, examples, tokens, encoding, exact }));
    } else {
      await output.result(text);
      await output.note(
        exact
          ? `${tokens} tokens (${encoding})`
          : `About ${tokens} tokens (estimated; for exact counts: npm install gpt-tokenizer)`,
      );
    }
    if (given['encoding'] !== undefined && !exact) throw notExact(encoding);
    return 0;
  },
});

async function promptFor(invocation: Invocation<typeof OPTIONS>): Promise<ModelPrompt> {
  const { encoding } = invocation.options;
  if (invocation.protocol.name === 'accp') return framePrompt({ ...frameOptions(invocation), encoding });
  const options = packetOptions(invocation);
  if (options.dialect !== 'strict')
    throw new UsageError('--dialect must be strict for aacp: models write strict packets');
  return packetPrompt({ ...options, encoding });
}
