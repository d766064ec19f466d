/** Execution of the tool calls of a model by a runtime. */
import { ArcpError, asArcpError } from '../protocol/errors.js';

/** A tool, as described in `session.accepted`. */
export interface ToolInfo {
  /** The name of the tool. */
  readonly name: string;
  /** A description for the model. */
  readonly description?: string | undefined;
  /** The JSON Schema of the arguments. */
  readonly input_schema?: Readonly<Record<string, unknown>> | undefined;
}

/** The part of a client that the bridges use. */
export interface ToolClient {
  /** The session, with its tools. */
  readonly session: { readonly tools?: readonly ToolInfo[] | undefined };
  /** Calls a tool. */
  readonly invoke: (
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { readonly operationKey?: string | undefined; readonly signal?: AbortSignal | undefined },
  ) => { readonly result: () => Promise<unknown> };
}

export interface Outcome {
  readonly text: string;
  readonly isError: boolean;
}

/** Options of tool calls. */
export interface ToolCallOptions {
  /** Identifies the conversation, in which calls with the same id are executed once. @default none; each call is executed */
  readonly conversation?: string | undefined;
  /** Cancels the calls when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** A JSON Schema that accepts any object. */
export const ANY_INPUT = { type: 'object', properties: {} } as const;

/** Executes a call of a model. The outcome of a failed call is its error, for the model. @throws the abort reason */
export async function runCall(
  client: ToolClient,
  call: { readonly id: string; readonly name: string; readonly input: () => unknown },
  { conversation, signal }: ToolCallOptions,
): Promise<Outcome> {
  signal?.throwIfAborted();
  try {
    const input = call.input();
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new ArcpError('INVALID_ARGUMENT', 'The arguments must be a JSON object');
    // Some models reuse call ids in other conversations.
    const operationKey = conversation === undefined ? undefined : `${conversation}:${call.id}`;
    const args = input as Readonly<Record<string, unknown>>;
    const result = await client.invoke(originalName(client, call.name), args, { operationKey, signal }).result();
    if (typeof result === 'string') return { text: result, isError: false };
    const text = jsonOf(result);
    if (text !== undefined) return { text, isError: false };
    // The tool was executed, so the error must not suggest a retry.
    const error = { code: 'INTERNAL', message: 'The tool was executed, but its result is not JSON', retryable: false };
    return { text: JSON.stringify({ error }), isError: true };
  } catch (thrown) {
    signal?.throwIfAborted();
    const { code, message, retryable, details } = asArcpError(thrown);
    const error = { code, message, retryable };
    return { text: jsonOf({ error: { ...error, details } }) ?? JSON.stringify({ error }), isError: true };
  }
}

/** Returns the JSON of a value; `undefined` if JSON cannot represent it. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return undefined;
  }
}

/** The tool names that model providers accept. */
const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_NAME_LENGTH = 64;

/** Maps names to allowed and unique ones: other characters become `_`, and duplicates receive a number. */
export function allowedNames(names: readonly string[]): ReadonlyMap<string, string> {
  const mapped = new Map<string, string>();
  const taken = new Set(names.filter((name) => ALLOWED.test(name)));
  for (const name of names) {
    if (mapped.has(name)) continue;
    mapped.set(name, ALLOWED.test(name) ? name : free(name.replace(/[^A-Za-z0-9_-]/g, '_') || '_', taken));
  }
  return mapped;
}

function free(name: string, taken: Set<string>): string {
  for (let n = 1; ; n++) {
    const ending = n === 1 ? '' : `_${n}`;
    const candidate = `${name.slice(0, MAX_NAME_LENGTH - ending.length)}${ending}`;
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

/** Returns the tool name that was changed to an allowed one. */
function originalName({ session }: ToolClient, changed: string): string {
  const names = (session.tools ?? []).map(({ name }) => name);
  for (const [name, other] of allowedNames(names)) if (other === changed) return name;
  return changed;
}
