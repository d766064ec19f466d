import { ENCODINGS } from '../../tokens/load-counter.js';
import type { ModelPrompt } from '../../tokens/prompt.js';
import { toJson } from '../json.js';
import { NARROWING_OPTIONS } from '../narrowing-options.js';
import { type Command, choice, type Invocation, notExact, UsageError } from '../usage.js';

/** `pegwire prompt`: what to tell a model, so that it writes the language and nothing else. */
export const prompt: Command = {
  name: 'prompt',
  summary: 'the shortest instruction that makes a model write the language, or a part of it',
  takesInput: false,
  takesProtocol: 'required',
  options: {
    ...NARROWING_OPTIONS,
    encoding: { type: 'string', description: `NAME  what tokens are counted in: ${ENCODINGS.join(', ')}` },
  },
  example: "pegwire prompt accp --agents planner --intents req --fields 'q:string,limit:integer?'",
  run: async (invocation) => {
    const { protocol, output, json } = invocation;
    const { text, examples, tokens: count } = await promptFor(invocation);
    const { tokens, exact, encoding } = count;
    const isAsked = invocation.options['encoding'] !== undefined;
    if (json) {
      await output.result(toJson({ protocol: protocol.name, prompt: text, examples, tokens, encoding, exact }));
      if (isAsked && !exact) throw notExact(encoding);
      return 0;
    }
    await output.result(text);
    await output.note(
      exact
        ? `${tokens} tokens (${encoding})`
        : `~${tokens} tokens (an estimate: gpt-tokenizer is not installed; npm install gpt-tokenizer)`,
    );
    if (isAsked && !exact) throw notExact(encoding);
    return 0;
  },
};

async function promptFor(invocation: Invocation): Promise<ModelPrompt> {
  const encoding = choice(invocation, 'encoding', ENCODINGS);
  // Loaded only now: the other commands need none of it.
  const { frameOptions, packetOptions } = await import('../narrowing.js');
  if (invocation.protocol.name === 'accp') {
    const { framePrompt } = await import('../../accp/language/prompt.js');
    return framePrompt({ ...frameOptions(invocation), encoding });
  }
  const options = packetOptions(invocation);
  if (options.dialect !== 'strict') throw new UsageError('--dialect: packets are written in the dialect strict');
  const { packetPrompt } = await import('../../aacp/language/prompt.js');
  return packetPrompt({ ...options, encoding });
}
