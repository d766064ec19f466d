/** The languages of the protocols for tools: narrowed grammars, and prompts for models. For Node and browsers. Narrowing a grammar compiles it. */
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
  /** The options for ACCP frames. */
  readonly accp: FramePromptOptions;
  /** The options for AACP packets. */
  readonly aacp: PacketPromptOptions;
}

/**
 * Builds a prompt that makes a model write only the language, or the part of it that the options allow. The prompt is as short as
 * possible, contains examples, and comes with its length in tokens.
 *
 * @throws TypeError if the protocol is unknown or an option is invalid
 * @example
 * const { text, tokens } = await modelPrompt('accp', { intents: ['done', 'fail'], metadata: 'none' });
 */
export function modelPrompt<Protocol extends keyof ModelPromptOptions>(
  protocol: Protocol,
  options?: ModelPromptOptions[Protocol],
): Promise<ModelPrompt> {
  if (protocol !== 'accp' && protocol !== 'aacp') {
    throw new TypeError(`protocol must be 'accp' or 'aacp'; got ${JSON.stringify(protocol)}`);
  }
  return protocol === 'accp'
    ? framePrompt(options as FramePromptOptions)
    : packetPrompt(options as PacketPromptOptions);
}
