/** The protocols for tools: narrowed, as instructions to models, as schemas. For Node and browsers; narrowing a grammar compiles it. */
import { type PacketPromptOptions, packetPrompt } from './aacp/language/prompt.js';
import { type FramePromptOptions, framePrompt } from './accp/language/prompt.js';
import type { ModelPrompt } from './tokens/prompt.js';

export { type AacpLanguageOptions, aacpEditor, aacpLanguage } from './aacp/language/language.js';
export { type PacketPromptOptions, packetPrompt } from './aacp/language/prompt.js';
export { type AccpLanguageOptions, accpEditor, accpLanguage } from './accp/language/language.js';
export { type FramePromptOptions, framePrompt } from './accp/language/prompt.js';
export type { ModelPrompt } from './tokens/prompt.js';

/** The options of {@link modelPrompt} by protocol. */
export interface ModelPromptOptions {
  readonly accp: FramePromptOptions;
  readonly aacp: PacketPromptOptions;
}

/**
 * The shortest instruction that makes a model write the language, or the part of it that the options allow, and nothing else: with
 * examples, and with its length in tokens.
 *
 * @throws TypeError on a protocol that is none, and on options that make no language
 * @example
 * const { text, tokens } = await modelPrompt('accp', { intents: ['done', 'fail'], metadata: 'none' });
 */
export function modelPrompt<Protocol extends keyof ModelPromptOptions>(
  protocol: Protocol,
  options?: ModelPromptOptions[Protocol],
): Promise<ModelPrompt> {
  if (protocol !== 'accp' && protocol !== 'aacp') {
    throw new TypeError(`protocol is 'accp' or 'aacp', not ${JSON.stringify(protocol)}`);
  }
  return protocol === 'accp'
    ? framePrompt(options as FramePromptOptions)
    : packetPrompt(options as PacketPromptOptions);
}
