// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { AnswerContext, EndpointOptions } from '../bindings/endpoint.js';
import { createCodec } from '../codec/codec.js';
import { AccpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { Message, MessageInput } from '../message/message.js';
import { defineTools } from '../profiles/profile.js';
import { streamMessages } from '../streams/stream-messages.js';

/**
 * - `echo`: answers each request with `done` and the same payload
 * - `tools`: answers calls of its tools (the schema TC), and nothing else
 * - `both`: passes calls of tools to the tools, and echoes everything else
 */
export const DEMO_AGENTS = ['both', 'echo', 'tools'] as const;

export type DemoAgentName = (typeof DEMO_AGENTS)[number];

interface TryTool {
  readonly schema: z.ZodType;
  /** An async iterable is a result in chunks. */
  readonly run: (args: never, context: AnswerContext) => Json | AsyncIterable<number>;
}

const add = z.strictObject({ a: z.number(), b: z.number() });
const upper = z.strictObject({ text: z.string() });
const count = z.strictObject({ to: z.int().min(1).max(10_000), ms: z.int().min(0).max(60_000).optional() });

const TOOLS: { readonly [name: string]: TryTool } = {
  add: { schema: add, run: ({ a, b }: z.infer<typeof add>) => a + b },
  upper: { schema: upper, run: ({ text }: z.infer<typeof upper>) => text.toUpperCase() },
  now: { schema: z.strictObject({}), run: () => new Date().toISOString() },
  count: { schema: count, run: ({ to, ms = 0 }: z.infer<typeof count>, { signal }) => counting(to, ms, signal) },
};

/**
 * Returns the endpoint options of such an agent.
 *
 * Source: draft-benzing-accp-00, sections 10.2 and 10.4.
 *
 * @example
 * const endpoint = createEndpoint(demoAgent('both'));
 */
export function demoAgent(name: DemoAgentName): Pick<EndpointOptions, 'codec' | 'agent' | 'handle'> {
  const schemas = Object.fromEntries(Object.entries(TOOLS).map(([tool, { schema }]) => [tool, schema]));
  const tools = name === 'echo' ? undefined : defineTools(schemas);
  return {
    codec: createCodec({ tools, state: false }),
    agent: name === 'both' ? 'pegwire' : name,
    handle: (message, context) => {
      // Unread chunks would be kept, and the 65th stream refused.
      if (message.payload['chunk_index'] === 0) void readOff(message, context);
      const { intent, operation, schema, payload } = message;
      // Errors are not answered.
      if ((intent !== 'req' && intent !== 'qry') || schema === 'ER') return null;
      if (tools !== undefined && schema === 'TC') return callTool(message, context);
      if (name !== 'tools') return { intent: 'done', operation, schema, payload };
      throw new AccpError({ code: 'E1003', message: 'Here are tools alone: requests have the schema TC.' });
    },
  };
}

async function readOff({ envelope }: Message, { session }: AnswerContext): Promise<void> {
  try {
    for await (const _ of session.stream(envelope.correlation_id ?? envelope.msg_id));
  } catch {
    // The stream has not come to its end.
  }
}

/** The codec has refused calls of unknown tools, and arguments that do not fit. */
function callTool(message: Message, context: AnswerContext): MessageInput | AsyncIterable<MessageInput> {
  const { operation, payload, envelope } = message;
  const name = payload['tool_name'] as string;
  const given = TOOLS[name]!.run((payload['arguments'] ?? {}) as never, context);
  if (!isStream(given)) return { intent: 'done', operation, schema: 'TC', payload: { tool_name: name, result: given } };
  return streamMessages(given, { cid: envelope.correlation_id ?? envelope.msg_id, operation });
}

async function* counting(to: number, ms: number, signal: AbortSignal): AsyncGenerator<number, void, undefined> {
  for (let number = 1; number <= to; number++) {
    if (ms > 0) await sleep(ms, undefined, { signal });
    yield number;
  }
}

function isStream(given: Json | AsyncIterable<number>): given is AsyncIterable<number> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given;
}
