/** The package `openai`, as it is used for OpenAI itself and for servers that speak its language. */
import * as z from 'zod';
import type { HttpFault } from './http-fault.js';
import { loadSdk } from './load-sdk.js';
import { patientFetch } from './patient-fetch.js';
import type { SdkRequestOptions } from './provider-options.js';

/** What is used of a client: `new OpenAI()` of `openai` is one. */
export interface OpenAiResponsesClient {
  readonly responses: {
    create(body: { readonly model?: unknown }, options?: Partial<SdkRequestOptions>): PromiseLike<unknown>;
  };
}

/** What is used of a client: `new OpenAI()` of `openai` is one. */
export interface OpenAiChatClient {
  readonly chat: {
    readonly completions: {
      create(
        body: { readonly model: string; readonly messages: readonly object[] },
        options?: Partial<SdkRequestOptions>,
      ): PromiseLike<unknown>;
    };
  };
}

interface Connection {
  /** `null` for none, also where the environment has one. */
  readonly apiKey?: string | undefined;
  readonly baseURL?: string | undefined;
  /** The server is another one than OpenAI's: nothing of the environment is meant for it. */
  readonly foreign: boolean;
  readonly maxRetryWait: number;
}

/** A client, with the key that it sends. */
export async function openAiClient({
  apiKey,
  baseURL,
  foreign,
  maxRetryWait,
}: Connection): Promise<OpenAiResponsesClient & OpenAiChatClient> {
  const { default: OpenAI } = await loadSdk('openai', () => import('openai'));
  return new OpenAI({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(foreign ? { adminAPIKey: null, organization: null, project: null } : {}),
    fetch: patientFetch(maxRetryWait),
    logLevel: 'off',
  });
}

/** An error where the reply should be, as some servers send it with the status 200. */
export const errorSchema = z.object({
  code: z.union([z.string(), z.number()]).nullish(),
  message: z.string().nullish(),
});

/** Such an error, as if it had come with a status of its own. */
export function faultOf({ code, message }: z.infer<typeof errorSchema>): HttpFault {
  const status = Number(code);
  return {
    status: Number.isInteger(status) && status >= 400 && status < 600 ? status : (STATUSES[String(code)] ?? 500),
    message: message ?? '',
    parameter: null,
    code: typeof code === 'string' ? code : null,
    retryAfter: null,
    requestId: null,
  };
}

/** Errors of a response that was begun and failed. Others are the request's fault. */
const STATUSES: Readonly<Partial<Record<string, number>>> = {
  rate_limit_exceeded: 429,
  invalid_prompt: 400,
};
