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
import type { CallContext } from './provider-errors.js';

/** The part of a client that is used. `new Anthropic()` of `@anthropic-ai/sdk` has it. */
export interface AnthropicClient {
  /** The Messages API. */
  readonly messages: {
    create(
      body: { readonly model: string; readonly max_tokens: number; readonly messages: readonly object[] },
      options?: Partial<SdkRequestOptions>,
    ): PromiseLike<unknown>;
  };
}

/**
 * A constraint on the output of a model. `json-schema`: a JSON object with a packet that the request allows. `tool`: the same object as
 * the input of a tool. `none`: only the prompt describes the form.
 */
export type AnthropicConstraint = 'json-schema' | 'tool' | 'none';

/** Options of `anthropicModel`. */
export interface AnthropicModelOptions extends ProviderOptions {
  /** Your own client, with other credentials or for another cloud. @default a client with the other options */
  readonly client?: AnthropicClient | undefined;
  /** The constraint on the output. If the provider rejects it, a looser one is used, with a notice. @default 'json-schema' */
  readonly constrain?: AnthropicConstraint | undefined;
  /** If true, asks the provider to cache the system message, which is the same in all requests. @default false */
  readonly cacheSystem?: boolean | undefined;
}

type Form = 'json-schema' | 'json-object' | 'strict-tool' | 'tool' | 'none';

const TOOL_WORDS = ['tool', 'strict', 'schema', 'pattern'];

const CONSTRAINTS: Readonly<Record<AnthropicConstraint, readonly Constraint<Form>[]>> = {
  'json-schema': jsonConstraints(['output_config', 'output_format', 'schema', 'pattern', 'structured output']),
  tool: [
    { name: 'strict-tool', notation: 'regex', words: TOOL_WORDS },
    { name: 'tool', notation: null, words: TOOL_WORDS },
    UNCONSTRAINED,
  ],
  none: [UNCONSTRAINED],
};

/**
 * Creates a model of Anthropic. The SDK is loaded with the first request. It may print that a model is deprecated.
 *
 * @throws TypeError if an option is invalid; the model throws ModelError
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
    constraints: CONSTRAINTS[constrain],
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
  const description = 'Receives the packet for the instruction.';
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
  { provider }: CallContext,
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
