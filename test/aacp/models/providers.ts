/** The three providers, and the form of their requests and responses. */
import { anthropicModel } from '../../../src/aacp/models/anthropic-model.js';
import type { ModelRequest, ProviderModel } from '../../../src/aacp/models/model.js';
import { openaiCompatibleModel } from '../../../src/aacp/models/openai-compatible-model.js';
import { openaiModel } from '../../../src/aacp/models/openai-model.js';
import { packetGrammar } from '../../../src/aacp/models/packet-grammar.js';
import type { ProviderOptions } from '../../../src/aacp/models/provider.js';

export const KEY = 'sk-test-0123456789abcdef';
export const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fmt:json';

export const REQUEST: ModelRequest = {
  instruction: 'Fetch the salaries',
  domain: 'HR',
  returnAgent: 'HR-Agent',
  priority: '1',
  system: 'SYSTEM',
  prompt: 'PROMPT',
  repair: null,
  grammar: async (notation) => packetGrammar({ domain: 'HR', returnAgent: 'HR-Agent', priority: '1' }, notation),
  maxTokens: 300,
  signal: new AbortController().signal,
};

export interface TestedProvider {
  readonly name: string;
  readonly path: string;
  /** Without constraints by default. */
  readonly make: (
    url: string,
    options?: Partial<ProviderOptions> & { readonly constrain?: 'json-schema' },
  ) => ProviderModel;
  /** A response with 1000 input tokens, 500 of them from the cache, and 20 output tokens. */
  readonly says: (text: string) => object;
  readonly cut: (text: string) => object;
  /** Responses that are not marked as finished. */
  readonly unfinished: (text: string) => readonly object[];
  readonly refusal: object;
  readonly error: (message: string) => object;
  /** The conversation that was sent, without the system message. */
  readonly turnsOf: (body: Readonly<Record<string, unknown>>) => unknown;
  readonly systemOf: (body: Readonly<Record<string, unknown>>) => unknown;
  readonly maxTokens: string;
}

type ChatMessages = readonly { readonly role: string; readonly content: string }[];

const anthropic = (content: readonly object[], stop_reason: string | null): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'wire-model',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 300, cache_read_input_tokens: 500, cache_creation_input_tokens: 200, output_tokens: 20 },
});

const responses = (content: readonly object[], more: object = {}): object => ({
  id: 'resp_1',
  object: 'response',
  model: 'wire-model',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content },
  ],
  usage: {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 500 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1020,
  },
  ...more,
});

const completion = (message: object, finish_reason: string | null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'wire-model',
  choices: [{ index: 0, finish_reason, message: { role: 'assistant', ...message } }],
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 20,
    total_tokens: 1020,
    prompt_tokens_details: { cached_tokens: 500 },
  },
});

export const ANTHROPIC: TestedProvider = {
  name: 'anthropic',
  path: '/v1/messages',
  make: (url, options) => anthropicModel({ model: 'm', apiKey: KEY, baseUrl: url, constrain: 'none', ...options }),
  says: (text) =>
    anthropic(
      [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text },
      ],
      'end_turn',
    ),
  cut: (text) => anthropic([{ type: 'text', text }], 'max_tokens'),
  unfinished: (text) => [null, 'pause_turn'].map((reason) => anthropic([{ type: 'text', text }], reason)),
  refusal: anthropic([], 'refusal'),
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }),
  turnsOf: (body) => body['messages'],
  systemOf: (body) => body['system'],
  maxTokens: 'max_tokens',
};

export const OPENAI: TestedProvider = {
  name: 'openai',
  path: '/v1/responses',
  make: (url, options) => openaiModel({ model: 'm', apiKey: KEY, baseUrl: `${url}/v1`, constrain: 'none', ...options }),
  says: (text) => responses([{ type: 'output_text', text, annotations: [] }]),
  cut: (text) =>
    responses([{ type: 'output_text', text, annotations: [] }], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }),
  unfinished: (text) =>
    ['in_progress', 'queued', 'cancelled', 'incomplete'].map((status) =>
      responses([{ type: 'output_text', text, annotations: [] }], { status }),
    ),
  refusal: responses([{ type: 'refusal', refusal: 'No.' }]),
  error: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  turnsOf: (body) => body['input'],
  systemOf: (body) => body['instructions'],
  maxTokens: 'max_output_tokens',
};

export const COMPATIBLE: TestedProvider = {
  name: 'a compatible server',
  path: '/v1/chat/completions',
  make: (url, options) =>
    openaiCompatibleModel({ model: 'm', apiKey: KEY, baseUrl: `${url}/v1`, constrain: 'none', ...options }),
  says: (content) => completion({ content }, 'stop'),
  cut: (content) => completion({ content }, 'length'),
  unfinished: (content) => [null, 'abort', 'error'].map((reason) => completion({ content }, reason)),
  refusal: completion({ content: null, refusal: 'No.' }, 'stop'),
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: 400 } }),
  turnsOf: (body) => (body['messages'] as ChatMessages).slice(1),
  systemOf: (body) => (body['messages'] as ChatMessages)[0]?.content,
  maxTokens: 'max_tokens',
};

export const PROVIDERS = [ANTHROPIC, OPENAI, COMPATIBLE];
