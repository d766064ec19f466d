/** Calls that a model has asked for, carried out by a runtime. */
import { ArcpError, asArcpError } from '../protocol/errors.js';

/** A tool as in `session.accepted`. */
export interface ToolInfo {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly input_schema?: Readonly<Record<string, unknown>> | undefined;
}

/** The part of a client that is used. */
export interface ToolClient {
  readonly session: { readonly tools?: readonly ToolInfo[] | undefined };
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

export interface ToolCallOptions {
  /** Names the conversation: in it, a repeated call with the same id is carried out once. @default every call is carried out */
  readonly conversation?: string | undefined;
  /** Aborting it cancels the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Accepts any object. */
export const ANY_INPUT = { type: 'object', properties: {} } as const;

/** Carries out a call of a model. A failed call is an outcome, too: the model reads the error. @throws the abort reason */
export async function carryOut(
  client: ToolClient,
  call: { readonly id: string; readonly name: string; readonly input: () => unknown },
  { conversation, signal }: ToolCallOptions,
): Promise<Outcome> {
  signal?.throwIfAborted();
  try {
    const input = call.input();
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new ArcpError('INVALID_ARGUMENT', 'The arguments are no object');
    // Some models restart their call ids in each conversation.
    const operationKey = conversation === undefined ? undefined : `${conversation}:${call.id}`;
    const args = input as Readonly<Record<string, unknown>>;
    const result = await client.invoke(originalName(client, call.name), args, { operationKey, signal }).result();
    if (typeof result === 'string') return { text: result, isError: false };
    const text = jsonOf(result);
    if (text !== undefined) return { text, isError: false };
    // The tool has run, so the error must not suggest a retry.
    const error = { code: 'INTERNAL', message: 'The tool has run, and its result has no JSON', retryable: false };
    return { text: JSON.stringify({ error }), isError: true };
  } catch (thrown) {
    signal?.throwIfAborted();
    const { code, message, retryable, details } = asArcpError(thrown);
    const error = { code, message, retryable };
    return { text: jsonOf({ error: { ...error, details } }) ?? JSON.stringify({ error }), isError: true };
  }
}

/** Returns the JSON of a value; `undefined` if it has none. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return undefined;
  }
}

/** The tool names that model providers accept. */
const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const MOST = 64;

/** Maps names to allowed and unique ones: other characters become `_`, and duplicates get a number. */
export function allowedNames(names: readonly string[]): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  const taken = new Set(names.filter((name) => ALLOWED.test(name)));
  for (const name of names) {
    if (told.has(name)) continue;
    told.set(name, ALLOWED.test(name) ? name : free(name.replace(/[^A-Za-z0-9_-]/g, '_') || '_', taken));
  }
  return told;
}

function free(name: string, taken: Set<string>): string {
  for (let n = 1; ; n++) {
    const ending = n === 1 ? '' : `_${n}`;
    const candidate = `${name.slice(0, MOST - ending.length)}${ending}`;
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

/** Finds the tool of a changed name. */
function originalName({ session }: ToolClient, told: string): string {
  const names = (session.tools ?? []).map(({ name }) => name);
  for (const [name, other] of allowedNames(names)) if (other === told) return name;
  return told;
}
