import * as z from 'zod';
import { resolveChoice } from '../../text/limits.js';
import type { ModelRequest, ProviderModel } from './model.js';
import { JSON_REPLY, PACKET, packetSchema, TOOL_REPLY } from './packet-grammar.js';
import {
  badReply,
  type Constraint,
  clientOptions,
  conversation,
  createModel,
  instructions,
  jsonConstraints,
  loadSdk,
  memberOf,
  type ProviderOptions,
  type ProviderReply,
  type ProviderSettings,
  resolveProvider,
  type SdkRequestOptions,
  textOf,
  UNCONSTRAINED,
  UNFINISHED,
} from './provider.js';
import type { Asked } from './provider-errors.js';

/** What is used of a client: `new Anthropic()` of `@anthropic-ai/sdk` is one. */
export interface AnthropicClient {
  readonly messages: {
    create(
      body: { readonly model: string; readonly max_tokens: number; readonly messages: readonly object[] },
      options?: Partial<SdkRequestOptions>,
    ): PromiseLike<unknown>;
  };
}

/**
 * `json-schema`: an object with a packet that the request allows. `tool`: the same as input of a tool. `none`: only the
 * prompt asks for it.
 */
export type AnthropicConstraint = 'json-schema' | 'tool' | 'none';

export interface AnthropicModelOptions extends ProviderOptions {
  /** A client of your own: with other credentials, or for another cloud. Made from the other options otherwise. */
  readonly client?: AnthropicClient | undefined;
  /** Constraint on the output. If the provider refuses it, a looser one is used, with a notice. @default 'json-schema' */
  readonly constrain?: AnthropicConstraint | undefined;
  /** Asks to keep the system message, which is always the same one, in the provider's cache. @default false */
  readonly cacheSystem?: boolean | undefined;
}

type Form = 'json-schema' | 'json-object' | 'strict-tool' | 'tool' | 'none';

const TOOL_WORDS = ['tool', 'strict', 'schema', 'pattern'];

const LADDERS: Readonly<Record<AnthropicConstraint, readonly Constraint<Form>[]>> = {
  'json-schema': jsonConstraints(['output_config', 'output_format', 'schema', 'pattern', 'structured output']),
  tool: [
    { name: 'strict-tool', notation: 'regex', words: TOOL_WORDS },
    { name: 'tool', notation: null, words: TOOL_WORDS },
    UNCONSTRAINED,
  ],
  none: [UNCONSTRAINED],
};

/**
 * Creates a model of Anthropic. The SDK is loaded with the first request; it may print that a model is being withdrawn.
 *
 * @throws TypeError naming an invalid option; the model throws ModelError
 * @example
 * const model = anthropicModel({ model: 'claude-sonnet-5-5', price: { input: 3, output: 15 } });
 */
export function anthropicModel(options: AnthropicModelOptions): ProviderModel {
  const settings = resolveProvider(options);
  const { client, cacheSystem = false } = options;
  const constrain = resolveChoice('constrain', options.constrain, ['json-schema', 'tool', 'none']);

  async function connect(): Promise<AnthropicClient> {
    const { default: Anthropic } = await loadSdk('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
    return new Anthropic(clientOptions(settings));
  }

  return createModel(settings, {
    name: 'anthropic',
    constraints: LADDERS[constrain],
    connect: async () => client ?? (await connect()),
    body: (request, constraint, grammar) => bodyOf(request, settings, constraint, grammar, cacheSystem),
    send: ({ messages }, body, sdkOptions) => messages.create(body, sdkOptions),
    schema: messageSchema,
    noun: 'message',
    read,
  });
}

function bodyOf(
  request: ModelRequest,
  { model, body }: ProviderSettings,
  constraint: Form,
  grammar: string | null,
  cacheSystem: boolean,
) {
  const isJson = constraint === 'json-schema' || constraint === 'json-object';
  const isTool = constraint === 'strict-tool' || constraint === 'tool';
  const system = instructions(request, isJson ? JSON_REPLY : isTool ? TOOL_REPLY : null);
  const schema = packetSchema(grammar);
  return {
    max_tokens: request.maxTokens,
    ...body,
    model,
    system: cacheSystem ? [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] : system,
    messages: conversation(request),
    ...(isJson
      ? { output_config: { ...memberOf(body, 'output_config'), format: { type: 'json_schema', schema } } }
      : {}),
    ...(isTool ? toolMembers(schema, constraint === 'strict-tool') : {}),
  };
}

function toolMembers(schema: object, strict: boolean): object {
  const description = 'Takes the packet that the instruction was turned into.';
  const tool = { name: PACKET, description, input_schema: schema, ...(strict ? { strict } : {}) };
  return { tools: [tool], tool_choice: { type: 'tool', name: PACKET, disable_parallel_tool_use: true } };
}

const tokens = z.number().nullish();

const messageSchema = z.object({
  model: z.string().optional(),
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullish(),
  usage: z
    .object({
      input_tokens: z.number(),
      output_tokens: z.number(),
      cache_read_input_tokens: tokens,
      cache_creation_input_tokens: tokens,
    })
    .nullish(),
});

function read(
  { content, model, stop_reason: reason, usage }: z.infer<typeof messageSchema>,
  { provider }: Asked,
): ProviderReply {
  if (reason === null || reason === 'pause_turn') throw badReply(provider, UNFINISHED);
  const cacheReadTokens = usage?.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage?.cache_creation_input_tokens ?? 0;
  return {
    text: textOf(content, 'tool_use', JSON.stringify, content, 'text'),
    isRefusal: reason === 'refusal',
    isCut: reason === 'max_tokens' || reason === 'model_context_window_exceeded',
    model,
    usage: usage && {
      inputTokens: usage.input_tokens + cacheReadTokens + cacheWriteTokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens,
      cacheWriteTokens,
    },
  };
}
