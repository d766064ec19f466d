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
 * The names of the demo agents.
 *
 * - `echo`: answers each request with `done` and the same payload
 * - `tools`: answers calls of its tools (the schema TC), and rejects other requests
 * - `both`: passes calls of tools to the tools, and echoes everything else
 */
export const DEMO_AGENTS = ['both', 'echo', 'tools'] as const;

/** The name of a demo agent. */
export type DemoAgentName = (typeof DEMO_AGENTS)[number];

interface DemoTool {
  readonly schema: z.ZodType;
  /** Returns the result; an async iterable is a result in chunks. */
  readonly run: (args: never, context: AnswerContext) => Json | AsyncIterable<number>;
}

const add = z.strictObject({ a: z.number(), b: z.number() });
const upper = z.strictObject({ text: z.string() });
const count = z.strictObject({ to: z.int().min(1).max(10_000), ms: z.int().min(0).max(60_000).optional() });

const TOOLS: { readonly [name: string]: DemoTool } = {
  add: { schema: add, run: ({ a, b }: z.infer<typeof add>) => a + b },
  upper: { schema: upper, run: ({ text }: z.infer<typeof upper>) => text.toUpperCase() },
  now: { schema: z.strictObject({}), run: () => new Date().toISOString() },
  count: { schema: count, run: ({ to, ms = 0 }: z.infer<typeof count>, { signal }) => countTo(to, ms, signal) },
};

/**
 * Returns the endpoint options of a demo agent, which is useful to test connections.
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
      // Unread chunks would be kept, and the 65th stream rejected.
      if (message.payload['chunk_index'] === 0) void drainStream(message, context);
      const { intent, operation, schema, payload } = message;
      // Errors are never answered.
      if ((intent !== 'req' && intent !== 'qry') || schema === 'ER') return null;
      if (tools !== undefined && schema === 'TC') return callTool(message, context);
      if (name !== 'tools') return { intent: 'done', operation, schema, payload };
      throw new AccpError({ code: 'E1003', message: 'This agent has tools only; send requests of the schema TC.' });
    },
  };
}

async function drainStream({ envelope }: Message, { session }: AnswerContext): Promise<void> {
  try {
    for await (const _ of session.stream(envelope.correlation_id ?? envelope.msg_id));
  } catch {
    // The stream is incomplete.
  }
}

/** Runs a tool. The codec has rejected calls of unknown tools and invalid arguments. */
function callTool(message: Message, context: AnswerContext): MessageInput | AsyncIterable<MessageInput> {
  const { operation, payload, envelope } = message;
  const name = payload['tool_name'] as string;
  const result = TOOLS[name]!.run((payload['arguments'] ?? {}) as never, context);
  if (!isStream(result)) return { intent: 'done', operation, schema: 'TC', payload: { tool_name: name, result } };
  return streamMessages(result, { correlationId: envelope.correlation_id ?? envelope.msg_id, operation });
}

async function* countTo(to: number, ms: number, signal: AbortSignal): AsyncGenerator<number, void, undefined> {
  for (let number = 1; number <= to; number++) {
    if (ms > 0) await sleep(ms, undefined, { signal });
    yield number;
  }
}

function isStream(result: Json | AsyncIterable<number>): result is AsyncIterable<number> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}
