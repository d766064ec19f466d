/** Calls that a model has asked for, carried out by a runtime. */
import { ArcpError, asArcpError } from '../protocol/errors.js';

/** A tool as a runtime tells of it, in `session.accepted`. */
export interface ToolShape {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly input_schema?: Readonly<Record<string, unknown>> | undefined;
}

/** As much of a client as is needed. */
export interface Caller {
  readonly session: { readonly tools?: readonly ToolShape[] | undefined };
  readonly invoke: (
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { readonly operationKey?: string | undefined; readonly signal?: AbortSignal | undefined },
  ) => { readonly result: () => Promise<unknown> };
}

export interface Outcome {
  /** What the model is told: text as it is, all else as JSON. */
  readonly text: string;
  readonly isError: boolean;
}

export interface CallingOptions {
  /**
   * Names the conversation: a call of it that is worked on again, with the same id, is carried out once.
   * @default each call is carried out
   */
  readonly conversation?: string | undefined;
  /** Aborting it cancels the work. */
  readonly signal?: AbortSignal | undefined;
}

/** Any object: what a tool takes that says nothing of it. */
export const ANY_INPUT = { type: 'object', properties: {} } as const;

/**
 * Carries one out.
 *
 * @returns also what it failed with: the model is to know
 * @throws what the signal is aborted with
 */
export async function carryOut(
  client: Caller,
  call: { readonly id: string; readonly tool: string; readonly input: () => unknown },
  { conversation, signal }: CallingOptions,
): Promise<Outcome> {
  signal?.throwIfAborted();
  try {
    const input = call.input();
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new ArcpError('INVALID_ARGUMENT', 'The arguments are no object');
    // Some models count their calls anew in each conversation.
    const operationKey = conversation === undefined ? undefined : `${conversation}:${call.id}`;
    const args = input as Readonly<Record<string, unknown>>;
    const result = await client.invoke(call.tool, args, { operationKey, signal }).result();
    if (typeof result === 'string') return { text: result, isError: false };
    const text = jsonOf(result);
    if (text !== undefined) return { text, isError: false };
    // It has run: nothing is said that asks for another run.
    const error = { code: 'INTERNAL', message: 'The tool has run, and its result has no JSON', retryable: false };
    return { text: JSON.stringify({ error }), isError: true };
  } catch (thrown) {
    signal?.throwIfAborted();
    const { code, message, retryable, details } = asArcpError(thrown);
    const error = { code, message, retryable };
    return { text: jsonOf({ error: { ...error, details } }) ?? JSON.stringify({ error }), isError: true };
  }
}

/** A value as JSON; `undefined` where it has none, as with a bigint in it. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return undefined;
  }
}

/** What the providers of models take as the name of a tool. */
const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const MOST = 64;

/**
 * For each name one that is allowed, and no two the same: what is not allowed is `_`, and where that makes two alike, a number is put behind.
 *
 * @returns the names that are told, by those that they stand for
 */
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

/** The name of a tool that was told by another name; the name itself where none was. */
export function originalName(told: string, names: readonly string[]): string {
  for (const [name, other] of allowedNames(names)) if (other === told) return name;
  return told;
}
