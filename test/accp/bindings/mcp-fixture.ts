/** A server that supports ACCP over MCP, and a client of it. */
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import {
  callTool,
  createEndpoint,
  createRegistryExchange,
  type Notice,
  REGISTRY_URI,
  readRegistry,
  registryCapability,
  type ToolOptions,
  tcTool,
  withRegistry,
} from '../../../src/accp/bindings/mcp/index.js';
import {
  AccpError,
  type Codec,
  createCodec,
  createSession,
  type Message,
  type Session,
} from '../../../src/accp/codec/index.js';
import type { ExperimentalCapabilities, McpFixture, ServerParts, ServerTool } from './mcp-wiring.js';

const NUMBERS = z.object({ a: z.number(), b: z.number() });
const TEXT = z.object({ text: z.string() });

/** A server with an endpoint and the tools that the tests call. */
export function toolServer(codec: Codec = createCodec()) {
  const runs: string[] = [];
  const failures: unknown[] = [];
  const notices: Notice[] = [];
  const exchange = createRegistryExchange({ codec, agent: 'tools' });
  const endpoint = createEndpoint({ codec, agent: 'tools', handle: () => null });
  onTestFinished(() => endpoint.close());
  let reads = 0;
  let tools: ServerTool[] = [];
  const serve = (capabilities: () => unknown): ServerParts => {
    const failed = (thrown: unknown, { payload }: Message) =>
      void failures.push([payload['tool_name'], (thrown as Error).message]);
    const options = (name: string): ToolOptions => ({ name, endpoint, exchange, capabilities, onError: failed });
    const noted =
      <Args>(name: string, run: (args: Args) => unknown) =>
      (args: Args) => {
        runs.push(name);
        return run(args);
      };
    tools = [
      {
        name: 'add',
        input: NUMBERS,
        handler: tcTool<{ a: number; b: number }>(
          noted('add', ({ a, b }) => ({ sum: a + b })),
          options('add'),
        ),
      },
      {
        name: 'echo',
        input: TEXT,
        handler: tcTool<{ text: string }>(
          noted('echo', ({ text }) => text),
          options('echo'),
        ),
      },
      {
        name: 'sum',
        input: NUMBERS,
        output: z.object({ sum: z.number() }),
        handler: tcTool<{ a: number; b: number }>(({ a, b }) => ({ sum: a + b }), {
          ...options('sum'),
          structured: true,
        }),
      },
      {
        name: 'now',
        handler: tcTool(
          noted('now', () => null),
          options('now'),
        ),
      },
      {
        name: 'broken',
        handler: tcTool(() => {
          throw new Error('the password is 1234');
        }, options('broken')),
      },
      {
        name: 'refusing',
        handler: tcTool(() => {
          throw new AccpError({ code: 'E4002', message: 'The archive is closed.' });
        }, options('refusing')),
      },
      {
        name: 'rounded',
        handler: tcTool(() => 0.123456789, { ...options('rounded'), onNotice: (notice) => notices.push(notice) }),
      },
      {
        name: 'secretive',
        handler: tcTool(
          () => ({
            get secret(): string {
              throw new Error('the password is 1234');
            },
          }),
          options('secretive'),
        ),
      },
      { name: 'unsayable', handler: tcTool(() => () => 0, options('unsayable')) },
    ];
    return {
      instructions: withRegistry('Adds numbers.\nAnd says what it is told.', exchange.announcement),
      tools,
      resources: [
        {
          uri: REGISTRY_URI,
          read: (uri) => {
            reads++;
            return exchange.resource(uri);
          },
        },
      ],
    };
  };
  return { serve, runs, failures, notices, exchange, endpoint, reads: () => reads };
}

/** The capabilities of a client. */
function announced(codec: Codec): ExperimentalCapabilities {
  return registryCapability(createRegistryExchange({ codec, agent: 'planner' }).full);
}

/** The capabilities of the clients of most tests: the common registry. */
export const COMMON = announced(createCodec());

/** A client that knows the server's registry, and a session of it. */
export async function toolClient(fixture: McpFixture, codec: Codec = createCodec()) {
  const exchange = createRegistryExchange({ codec, agent: 'planner' });
  const agreement = await readRegistry(fixture.client, exchange);
  const session = createSession({ agent: 'planner', sequence: 'sender' });
  agreement.apply(session);
  const call = (tool: string, args?: { [name: string]: string | number }) =>
    callTool(fixture.client, { tool, arguments: args }, { codec, session });
  return { codec, session, exchange, agreement, call };
}

/** A request to a tool, as frames. */
export const request = (codec: Codec, session: Session, tool: string, args: { [name: string]: string | number }) =>
  codec.encode(
    { intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name: tool, arguments: args } },
    session,
  );
