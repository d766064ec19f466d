/** Servers with the Chat Completions API of OpenAI, such as llama.cpp and vLLM, through the package `openai`. */
import * as z from 'zod';
import { resolveChoice } from '../../text/limits.js';
import type { ModelRequest, ProviderModel } from './model.js';
import { errorSchema, faultOf, type OpenAiChatClient, openAiClient } from './openai-model.js';
import { JSON_REPLY, PACKET, packetSchema } from './packet-grammar.js';
import {
  badReply,
  type Constraint,
  conversation,
  createModel,
  instructions,
  jsonConstraints,
  NO_KEY,
  type ProviderOptions,
  type ProviderReply,
  type ProviderSettings,
  resolveProvider,
  UNCONSTRAINED,
  UNFINISHED,
} from './provider.js';
import { type CallContext, errorOfReply } from './provider-errors.js';

/** A constraint on the output: a grammar in one of three notations, a JSON object, or none. */
export type CompatibleConstraint = 'gbnf' | 'lark' | 'regex' | 'json-schema' | 'none';

/**
 * The request member in which a server expects a grammar. Servers ignore the wrong one without an error.
 *
 * - `llama.cpp`: `grammar`, in GBNF, or in Lark if built with llguidance.
 * - `vllm`: `structured_outputs`, with `grammar` or `regex`.
 * - `vllm-guided`: `guided_grammar` and `guided_regex`, for vLLM before 0.12.
 */
export type CompatibleServer = 'llama.cpp' | 'vllm' | 'vllm-guided';

/** Options of `openaiCompatibleModel`. */
export interface CompatibleModelOptions extends ProviderOptions {
  /** Your own client, instead of `baseUrl` and `apiKey`. */
  readonly client?: OpenAiChatClient | undefined;
  /** The kind of the server. Only used if `constrain` is a grammar. @default 'llama.cpp' for GBNF, 'vllm' for Lark and regular expressions */
  readonly server?: CompatibleServer | undefined;
  /**
   * The constraint on the output. If the server rejects it, a looser one is used, with a notice. @default 'gbnf' if `server` is given,
   * otherwise 'json-schema'
   */
  readonly constrain?: CompatibleConstraint | undefined;
}

type Form = CompatibleConstraint | 'json-object';

const GRAMMAR_WORDS = ['grammar', 'structured_output', 'structured output', 'guided', 'regex', 'llguidance', 'gbnf'];

const CONSTRAINTS: Readonly<Record<CompatibleConstraint, readonly Constraint<Form>[]>> = {
  gbnf: grammarConstraints('gbnf'),
  lark: grammarConstraints('lark'),
  regex: grammarConstraints('regex'),
  'json-schema': jsonConstraints(['response_format', 'json_schema', 'schema', 'pattern', 'grammar']),
  none: [UNCONSTRAINED],
};

/**
 * Creates a model on your own server or on that of another provider.
 *
 * @throws TypeError if an option is invalid; the model throws ModelError
 * @example
 * const model = openaiCompatibleModel({ baseUrl: 'http://127.0.0.1:8080/v1', model: 'local', server: 'llama.cpp' });
 */
export function openaiCompatibleModel(options: CompatibleModelOptions): ProviderModel {
  const settings = resolveProvider(options);
  const { client } = options;
  const { baseURL, apiKey = NO_KEY } = settings;
  if (client === undefined && baseURL === undefined) throw new TypeError('baseUrl must be the URL of a server');
  const given = options.server;
  if (given !== undefined) resolveChoice('server', given, ['llama.cpp', 'vllm', 'vllm-guided']);
  const constrain = resolveChoice('constrain', options.constrain ?? (given === undefined ? 'json-schema' : 'gbnf'), [
    'gbnf',
    'lark',
    'regex',
    'json-schema',
    'none',
  ]);
  const server = given ?? (constrain === 'gbnf' ? 'llama.cpp' : 'vllm');
  if (server === 'llama.cpp' && constrain === 'regex') {
    throw new TypeError('constrain: llama.cpp does not accept regular expressions; use gbnf, lark or json-schema');
  }

  return createModel(settings, {
    name: baseURL === undefined ? 'the server' : hostOf(baseURL),
    constraints: CONSTRAINTS[constrain],
    connect: async (): Promise<OpenAiChatClient> =>
      client ?? (await openAiClient({ ...settings, apiKey }, NO_OPENAI_CREDENTIALS)),
    body: (request, constraint, grammar) => bodyOf(request, settings, constraintMembers(constraint, server, grammar)),
    send: ({ chat }, body, sdkOptions) => chat.completions.create(body, sdkOptions),
    schema: completionSchema,
    noun: 'chat completion',
    read,
  });
}

function grammarConstraints(notation: 'gbnf' | 'lark' | 'regex'): readonly Constraint<Form>[] {
  return [{ name: notation, notation, words: GRAMMAR_WORDS }, UNCONSTRAINED];
}

/** Keeps credentials for OpenAI in the environment from being sent to other servers. */
const NO_OPENAI_CREDENTIALS = { adminAPIKey: null, organization: null, project: null };

/** Returns the host of a URL, without credentials. */
function hostOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw new TypeError('baseUrl must be the URL of a server');
  return new URL(baseUrl).host;
}

function bodyOf(request: ModelRequest, { model, body }: ProviderSettings, members: Readonly<Record<string, unknown>>) {
  const form = 'response_format' in members ? JSON_REPLY : null;
  return {
    max_tokens: request.maxTokens,
    ...body,
    model,
    messages: [{ role: 'system', content: instructions(request, form) }, ...conversation(request)],
    ...members,
  };
}

function constraintMembers(form: Form, server: CompatibleServer, grammar: string | null): Record<string, unknown> {
  if (form === 'none') return {};
  if (form === 'json-schema' || form === 'json-object') {
    const schema = packetSchema(grammar);
    return { response_format: { type: 'json_schema', json_schema: { name: PACKET, strict: true, schema } } };
  }
  if (server === 'llama.cpp') {
    // The first line tells the server that this is not GBNF.
    return { grammar: form === 'lark' ? `%llguidance {}\n${grammar}` : grammar };
  }
  const kind = form === 'regex' ? 'regex' : 'grammar';
  return server === 'vllm' ? { structured_outputs: { [kind]: grammar } } : { [`guided_${kind}`]: grammar };
}

const completionSchema = z.object({
  model: z.string().nullish(),
  error: errorSchema.nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
});

function read({ choices, model, error, usage }: z.infer<typeof completionSchema>, context: CallContext): ProviderReply {
  if (error) throw errorOfReply(faultOf(error), context);
  const choice = choices?.[0];
  if (choice === undefined) throw badReply(context.provider, 'without a choice');
  const { message, finish_reason: reason } = choice;
  // `null` occurs in the chunks of a stream, `abort` in replies of vLLM, `error` in those of routers.
  if (reason === null || reason === 'abort' || reason === 'error') throw badReply(context.provider, UNFINISHED);
  return {
    text: message.content ?? '',
    isRefusal: reason === 'content_filter' || Boolean(message.refusal),
    isCut: reason === 'length',
    model,
    usage: usage && {
      inputTokens: usage.prompt_tokens,
      outputTokens: usage.completion_tokens,
      cacheReadTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    },
  };
}
