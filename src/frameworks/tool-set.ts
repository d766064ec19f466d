/** The parts that all frameworks share: remote tools, their errors, and messages as text for models. */
import type { Link } from '../accp/bindings/link/contract.js';
import type { FieldType, SchemaDefinition } from '../accp/message/json.js';
import type { Message } from '../accp/message/message.js';
import { PROFILE_SCHEMAS, type Registry } from '../accp/registry/registry.js';
import { renderForContext, renderJson } from '../accp/render/index.js';
import { ANY_INPUT, allowedNames } from '../arcp/bridges/calls.js';
import type { Client } from '../arcp/client/types.js';
import type { PayloadOf } from '../arcp/protocol/catalogue.js';
import { ArcpError, asArcpError } from '../arcp/protocol/errors.js';
import { PegwireError } from '../text/errors.js';
import { isRecord } from '../text/guards.js';
import { nameIn } from './stored.js';

/** The error of a framework adapter. */
export class FrameworkError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'FrameworkError';
  declare readonly code: 'duplicate-tool' | 'invalid-argument' | 'no-package' | 'no-thread' | 'unknown-tool';
}

/** The error of a remote tool. Its message begins with its code, since frameworks show models the message only. */
export class ToolError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'ToolError';
  /** The tool that was called. */
  readonly tool: string;
  /** `true` if the same call may succeed later. */
  readonly retryable: boolean;
  /** Further data of the remote side. */
  readonly details: unknown;

  constructor(tool: string, thrown: unknown) {
    const { code, message, retryable, details } = bodyOf(thrown);
    super({ code, message: `${code}: ${message}` }, { cause: thrown });
    this.tool = tool;
    this.retryable = retryable === true;
    this.details = details;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly retryable?: unknown;
  readonly details?: unknown;
}

/** Returns an error without its code in the message, which that of another adapter has. */
function bodyOf(thrown: unknown): ErrorBody {
  const { code, message, retryable, details }: ErrorBody =
    thrown instanceof PegwireError ? thrown : asArcpError(thrown);
  return {
    code,
    message: message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message,
    retryable,
    details,
  };
}

/** Progress that a job reports. */
export interface ToolProgress {
  /** The name of the tool. */
  readonly tool: string;
  /** The id of the call; `undefined` if the framework has none. */
  readonly callId: string | undefined;
  /** The progress, as the job has reported it. */
  readonly progress: PayloadOf<'job.progress'>;
}

/** Options of a tool set. */
export interface ToolSetOptions {
  /** The names of the tools to offer, as the remote side spells them. @default all */
  readonly only?: readonly string[] | undefined;
  /** If true, results are text for models, as by `renderJson`, instead of JSON. @default false */
  readonly render?: boolean | undefined;
}

/** Options of a tool set of a runtime. */
export interface ArcpToolSetOptions extends ToolSetOptions {
  /** Identifies the conversation, in which calls with the same id are executed once. @default none; each call is executed */
  readonly conversation?: string | undefined;
  /** Called with the progress of jobs. Errors that it throws are ignored. @default none */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** A call of a framework. */
export interface ToolCall {
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

/** A tool that a framework can wrap. */
export interface RemoteTool {
  /** The name, of at most 64 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments, an object. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Calls the tool. @throws ToolError the error of the remote side; the reason of the signal if it aborts */
  readonly call: (args: unknown, call: ToolCall) => Promise<unknown>;
}

/** The part of an ARCP client that tool sets use. */
export type ToolRuntime = Pick<Client, 'session' | 'invoke'>;

/** Returns the tools that a runtime offers in this session. @throws FrameworkError as {@link chosen}, and `invalid-argument` without a session */
export function arcpToolSet(client: ToolRuntime, options: ArcpToolSetOptions): readonly RemoteTool[] {
  if (!isRecord(client?.session)) throw invalidArgument('client', 'a client, such as that of openClient');
  const { conversation } = options;
  // Calls of two users must not have one key.
  if (conversation !== undefined && (typeof conversation !== 'string' || conversation === ''))
    throw invalidArgument('conversation', 'a text that is not empty');
  const tools = chosen(client.session.tools ?? [], options.only);
  // All names, so that a tool keeps its name when others are left out.
  const names = allowedNames((client.session.tools ?? []).map(({ name }) => name));
  return tools.map(({ name, description = '', input_schema: schema = ANY_INPUT }) => ({
    ...{ name: names.get(name)!, description, schema },
    call: (args, call) =>
      guarded(name, call.signal, async () => plain(await invoke(client, name, objectOf(args), call, options), options)),
  }));
}

async function invoke(
  client: ToolRuntime,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  { callId, signal, onProgress }: ToolCall,
  options: ArcpToolSetOptions,
): Promise<unknown> {
  const operationKey =
    options.conversation === undefined || callId === undefined ? undefined : nameIn(options.conversation, callId);
  const invocation = client.invoke(tool, args, { operationKey, signal });
  const listeners = [options.onProgress, onProgress].filter((listener) => listener !== undefined);
  if (listeners.length > 0) {
    const notify = (progress: PayloadOf<'job.progress'>): void => {
      for (const listener of listeners) {
        try {
          listener({ tool, callId, progress });
        } catch {
          // A listener must not fail the call.
        }
      }
    };
    void followProgress(invocation.events(), notify);
  }
  return invocation.result();
}

async function followProgress(
  events: ReturnType<ReturnType<ToolRuntime['invoke']>['events']>,
  notify: (progress: PayloadOf<'job.progress'>) => void,
): Promise<void> {
  try {
    for await (const { type, payload } of events)
      if (type === 'job.progress') notify(payload as PayloadOf<'job.progress'>);
  } catch {
    // The result rejects with the same error.
  }
}

/** The part of a link to an ACCP peer that tool sets use. */
export type ToolPeer = Pick<Link, 'request'>;

/** Options of a tool set of an ACCP peer. */
export interface AccpToolSetOptions extends ToolSetOptions {
  /** The registry, such as `codec.registry`: each operation of each of its schemas is a tool. The schemas of the profiles are left out. */
  readonly registry: Registry;
  /** Descriptions for the model, by tool. @default the schema, the operation and its fields */
  readonly descriptions?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns one tool for each operation of a schema: `sales_report_analyze`.
 *
 * @throws FrameworkError as {@link chosen}, and `invalid-argument` without a link or a registry
 */
export function accpToolSet(peer: ToolPeer, options: AccpToolSetOptions): readonly RemoteTool[] {
  const { registry, descriptions = {}, only } = options ?? {};
  if (typeof peer?.request !== 'function') throw invalidArgument('peer', 'a link, such as that of connectHttp');
  if (!isRecord(registry?.schemas)) throw invalidArgument('registry', 'a registry, such as codec.registry');
  const all = Object.entries(registry.schemas)
    .filter(([name]) => !Object.hasOwn(PROFILE_SCHEMAS, name))
    .flatMap(([schema, definition]) =>
      (definition.operations ?? []).map((operation) => ({
        name: `${schema}_${operation}`,
        schema,
        operation,
        definition,
      })),
    );
  const names = allowedNames(all.map(({ name }) => name));
  return chosen(all, only).map(({ name, schema, operation, definition }) => ({
    name: names.get(name)!,
    description: Object.hasOwn(descriptions, name)
      ? descriptions[name]!
      : `Requests "${operation}" with the schema ${schema}: ${definition.fields.join(', ')}.`,
    schema: schemaOf(definition),
    call: (args, { signal }) =>
      guarded(name, signal, async () => {
        const payload = objectOf(args) as Message['payload'];
        const answer = await peer.request({ intent: 'req', operation, schema: definition.code, payload }, { signal });
        return plain(answer.payload, options);
      }),
  }));
}

const TYPES: Readonly<Record<FieldType, object>> = {
  ...{
    string: { type: 'string' },
    integer: { type: 'integer' },
    decimal: { type: 'number' },
    number: { type: 'number' },
  },
  ...{ boolean: { type: 'boolean' }, array: { type: 'array', items: {} }, map: { type: 'object' }, any: {} },
};

/** Returns the JSON Schema of a payload. No field is required: ACCP has defaults, but no required fields (section 6.2). */
function schemaOf({ fields, types, defaults }: SchemaDefinition): Readonly<Record<string, unknown>> {
  const properties = fields.map((field) => {
    const own = defaults?.[field];
    return [field, { ...TYPES[types?.[field] ?? 'any'], ...(own === undefined ? {} : { default: own }) }] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
}

/** Returns the chosen tools. @throws FrameworkError `unknown-tool`, `duplicate-tool`; `invalid-argument` if `only` is not a list */
function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  only: readonly string[] = all.map(({ name }) => name),
): readonly T[] {
  if (!Array.isArray(only)) throw invalidArgument('only', 'a list of names');
  const repeated = only.find((name, index) => only.indexOf(name) < index);
  if (repeated !== undefined) {
    const message = `Two tools have the name ${JSON.stringify(repeated)}; name each tool once`;
    throw new FrameworkError({ code: 'duplicate-tool', message });
  }
  return only.map((name) => {
    const found = all.find((tool) => tool.name === name);
    if (found !== undefined) return found;
    const known = all.map((tool) => tool.name).join(', ') || 'none';
    throw new FrameworkError({
      code: 'unknown-tool',
      message: `There is no tool ${JSON.stringify(name)}; the tools are: ${known}`,
    });
  });
}

function invalidArgument(name: string, what: string): FrameworkError {
  return new FrameworkError({ code: 'invalid-argument', message: `${name} must be ${what}` });
}

/** Returns arguments as an object. Models write other JSON at times. @throws ArcpError `INVALID_ARGUMENT` */
function objectOf(args: unknown = {}): Readonly<Record<string, unknown>> {
  if (args === null) return {};
  if (!isRecord(args)) throw new ArcpError('INVALID_ARGUMENT', 'The arguments must be a JSON object');
  return args;
}

async function guarded<T>(tool: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (thrown) {
    // Frameworks recognise their own reason, and do not show it to the model.
    signal?.throwIfAborted();
    throw new ToolError(tool, thrown);
  }
}

/**
 * Returns a result as plain JSON, or as text. ACCP has integers of any size: those beyond 2^53 become strings of their digits, since JSON readers would
 * round them. ARCP results are JSON: a runtime refuses a `bigint` there, and its tools return the digits as strings.
 */
function plain(value: unknown, { render = false }: ToolSetOptions): unknown {
  if (render) return renderJson(value ?? null).text;
  return JSON.parse(
    JSON.stringify(value ?? null, (_, member) => (typeof member === 'bigint' ? String(member) : member)),
  );
}

/** Returns a result as the text of a tool message. */
export function textOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** Returns the error of a tool as JSON for a model. */
export function errorText(thrown: unknown): string {
  const { code, message, retryable, details } = bodyOf(thrown);
  return JSON.stringify({ error: { code, message, retryable: retryable === true, details } });
}

/** A message of the user, in the form that all three frameworks accept. A type, since LangGraph requires an index signature, which interfaces do not have. */
export type ContextMessage = {
  /** `user`. */
  readonly role: 'user';
  /** The text. */
  readonly content: string;
};

/**
 * Renders a conversation of agents as one message of the user, in a fence. Add `CONTEXT_RULE` to the instructions of the model: it declares
 * fenced text to be data.
 *
 * @param args those of `renderForContext`
 */
export function contextMessage(...args: Parameters<typeof renderForContext>): ContextMessage {
  return { role: 'user', content: renderForContext(...args).text };
}

/** Imports the package of a framework. @throws FrameworkError `no-package` if it is not installed */
export async function framework<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
    // The package of a broken installation has another code, or the name of another package.
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(message).includes(`'${name}'`)) throw cause;
    const text = `The package ${name} is not installed; run npm install ${name}`;
    throw new FrameworkError({ code: 'no-package', message: text }, { cause });
  }
}
