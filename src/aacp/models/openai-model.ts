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
import { type CallContext, errorOfReply, type HttpFault } from './provider-errors.js';

/**
 * A constraint on the output of a model. `lark` and `regex`: a custom tool with a grammar of packets. `json-schema`: a JSON object with a
 * packet that matches it. `none`: only the prompt describes the form.
 */
export type OpenAiConstraint = 'lark' | 'regex' | 'json-schema' | 'none';

/** Options of `openaiModel`. */
export interface OpenAiModelOptions extends ProviderOptions {
  /** Your own client, with other credentials or for another cloud. @default a client with the other options */
  readonly client?: OpenAiResponsesClient | undefined;
  /** The constraint on the output. If the provider rejects it, a looser one is used, with a notice. @default 'lark' */
  readonly constrain?: OpenAiConstraint | undefined;
  /** If true, sends the same cache key with each request, since all begin with the same system message. @default false */
  readonly cacheSystem?: boolean | undefined;
}

type Form = 'lark' | 'regex' | 'json-schema' | 'json-object' | 'none';

const TOOL_WORDS = ['tool', 'custom', 'grammar', 'lark', 'regex'];
const SCHEMA = jsonConstraints(['text.format', 'response_format', 'json_schema', 'schema', 'pattern']);

const CONSTRAINTS: Readonly<Record<OpenAiConstraint, readonly Constraint<Form>[]>> = {
  lark: [{ name: 'lark', notation: 'lark', words: TOOL_WORDS }, ...SCHEMA],
  regex: [{ name: 'regex', notation: 'regex', words: TOOL_WORDS }, ...SCHEMA],
  'json-schema': SCHEMA,
  none: [UNCONSTRAINED],
};

/**
 * Creates a model of OpenAI. The SDK is loaded with the first request. Requests ask OpenAI not to store them.
 *
 * @throws TypeError if an option is invalid; the model throws ModelError
 * @example
 * const model = openaiModel({ model: 'gpt-5.4-mini', body: { reasoning: { effort: 'low' }, max_output_tokens: 2048 } });
 */
export function openaiModel(options: OpenAiModelOptions): ProviderModel {
  const settings = resolveProvider(options);
  const { client, cacheSystem = false } = options;
  const constrain = resolveChoice('constrain', options.constrain, ['lark', 'regex', 'json-schema', 'none']);

  return createModel(settings, {
    name: 'openai',
    constraints: CONSTRAINTS[constrain],
    connect: async (): Promise<OpenAiResponsesClient> => client ?? (await openAiClient(settings)),
    body: (request, constraint, grammar) => bodyOf(request, settings, constraint, grammar, cacheSystem),
    send: ({ responses }, body, sdkOptions) => responses.create(body, sdkOptions),
    schema: responseSchema,
    noun: 'response',
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
  const isTool = constraint === 'lark' || constraint === 'regex';
  const isJson = constraint === 'json-schema' || constraint === 'json-object';
  const format = { type: 'json_schema', name: PACKET, strict: true, schema: packetSchema(grammar) };
  return {
    max_output_tokens: request.maxTokens,
    store: false,
    ...(cacheSystem ? { prompt_cache_key: 'pegwire-aacp' } : {}),
    ...body,
    model,
    instructions: instructions(request, isJson ? JSON_REPLY : isTool ? TOOL_REPLY : null),
    input: conversation(request),
    ...(isTool ? toolMembers(constraint, grammar!) : {}),
    ...(isJson ? { text: { ...memberOf(body, 'text'), format } } : {}),
  };
}

function toolMembers(syntax: 'lark' | 'regex', definition: string): object {
  const description = 'Receives the packet for the instruction.';
  const format = { type: 'grammar', syntax, definition };
  return {
    tools: [{ type: 'custom', name: PACKET, description, format }],
    tool_choice: { type: 'custom', name: PACKET },
    parallel_tool_calls: false,
  };
}

/** The error in a reply. Some servers send one with status 200. */
export const errorSchema = z.object({
  code: z.union([z.string(), z.number()]).nullish(),
  message: z.string().nullish(),
});

const responseSchema = z.object({
  model: z.string().optional(),
  status: z.string().nullish(),
  error: errorSchema.nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  output: z.array(z.looseObject({ type: z.string(), content: z.array(z.looseObject({ type: z.string() })).nullish() })),
  usage: z
    .object({
      input_tokens: z.number(),
      output_tokens: z.number(),
      input_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
});

function read(
  { output, model, status, error, incomplete_details: incomplete, usage }: z.infer<typeof responseSchema>,
  context: CallContext,
): ProviderReply {
  if (error) throw errorOfReply(faultOf(error), context);
  const isFiltered = incomplete?.reason === 'content_filter';
  const isCut = incomplete?.reason === 'max_output_tokens';
  if (status && status !== 'completed' && !isFiltered && !isCut) throw badReply(context.provider, UNFINISHED);
  const parts = output.flatMap(({ type, content }) => (type === 'message' ? (content ?? []) : []));
  return {
    text: textOf(output, 'custom_tool_call', String, parts, 'output_text'),
    isRefusal: isFiltered || parts.some(({ type }) => type === 'refusal'),
    isCut,
    model,
    usage: usage && {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    },
  };
}

/** The part of a client that is used. `new OpenAI()` of `openai` has it. */
export interface OpenAiResponsesClient {
  /** The Responses API. */
  readonly responses: {
    create(body: { readonly model?: unknown }, options?: Partial<SdkRequestOptions>): PromiseLike<unknown>;
  };
}

/** The part of a client that is used. `new OpenAI()` of `openai` has it. */
export interface OpenAiChatClient {
  /** The Chat Completions API. */
  readonly chat: {
    readonly completions: {
      create(
        body: { readonly model: string; readonly messages: readonly object[] },
        options?: Partial<SdkRequestOptions>,
      ): PromiseLike<unknown>;
    };
  };
}

/** Creates a client. `cleared` overrides credentials for OpenAI in the environment. */
export async function openAiClient(
  settings: ProviderSettings,
  cleared?: { readonly adminAPIKey: null; readonly organization: null; readonly project: null },
): Promise<OpenAiResponsesClient & OpenAiChatClient> {
  const { default: OpenAI } = await loadSdk('openai', () => import('openai'));
  return new OpenAI({ ...clientOptions(settings), ...cleared });
}

/** Converts an error in a reply as if it had come with its own status. */
export function faultOf({ code, message }: z.infer<typeof errorSchema>): HttpFault {
  const status = Number(code);
  return {
    status: Number.isInteger(status) && status >= 400 && status < 600 ? status : (STATUSES[String(code)] ?? 500),
    message: message ?? '',
    parameter: null,
    code: typeof code === 'string' ? code : null,
    retryAfterMs: null,
    requestId: null,
  };
}

const STATUSES: Readonly<Partial<Record<string, number>>> = {
  rate_limit_exceeded: 429,
  invalid_prompt: 400,
};
