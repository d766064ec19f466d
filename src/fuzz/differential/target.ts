import { within } from '../../async/abort.js';
import { assertDurations } from '../../async/durations.js';
import { PegwireError } from '../../text/errors.js';
import { anyText, quotedShort } from '../../text/visible.js';

/** JSON as an adapter writes it. Trees follow `test/conformance/README.md`: big integers are strings of digits. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** The answer of an implementation to one text: the JSON document that an adapter writes. */
export type Answer =
  | {
      /** The text was accepted. */
      readonly ok: true;
      /** The syntax tree, if the target builds one. */
      readonly ast?: Json;
      /** The canonical form, if the target prints it. */
      readonly canonical?: string;
    }
  | {
      /** The text was rejected. */
      readonly ok: false;
      /** The code of the error. */
      readonly code?: string;
      /** The kind of error in one word, such as `duplicate-key` or `limit`. */
      readonly reason?: string;
      /** The offset of the error in UTF-16 code units. */
      readonly offset?: number;
      /** The message of the error, for reports. */
      readonly message?: string;
    };

/** The outcome of a request. All kinds but `answer` are findings by themselves. */
export type Outcome =
  | {
      /** The target answered in time. */
      readonly kind: 'answer';
      /** The answer of the target. */
      readonly answer: Answer;
    }
  | {
      /** The program ended, or the function threw. */
      readonly kind: 'crash';
      /** The exit code or signal and the end of stderr, or the name and message of the error. */
      readonly detail: string;
      /** More about the circumstances. */
      readonly note?: string;
    }
  | {
      /** The target did not answer within the time limit. */
      readonly kind: 'hang';
      /** The time limit in milliseconds. */
      readonly timeoutMs: number;
      /** More about the circumstances. */
      readonly note?: string;
    }
  | {
      /** The program exceeded the memory limit. */
      readonly kind: 'memory';
      /** The memory limit in bytes. */
      readonly maxBytes: number;
      /** More about the circumstances. */
      readonly note?: string;
    }
  | {
      /** The output was not an answer of the adapter protocol. */
      readonly kind: 'garbage';
      /** The reason that it is not an answer. */
      readonly detail: string;
      /** More about the circumstances. */
      readonly note?: string;
    };

export type Failure = Exclude<Outcome, { readonly kind: 'answer' }>;

/** A request to read one text. */
export interface Request {
  /** The text. It may contain any UTF-16 code units. */
  readonly input: string;
  /** The dialect to read it in. @default the target's own */
  readonly dialect?: string;
}

/** An implementation under test. Calls may overlap; a target that cannot process several requests at once queues them. */
export interface Target {
  /** The name for reports. */
  readonly name: string;
  /** The shell command that starts the target, if it is a program. */
  readonly command?: string | undefined;
  /**
   * Reads one text. Rejects with a {@link TargetError} only if the target cannot be tested at all; all that the implementation does
   * with the text, a crash included, is an outcome.
   */
  readonly read: (request: Request) => Promise<Outcome>;
  /** Ends the target and releases its resources. Requests without an answer reject. */
  readonly close: () => Promise<void>;
}

/**
 * The error thrown if an implementation cannot be tested: it does not start, does not follow the adapter protocol, or was closed. A fault in
 * reading a text is an {@link Outcome} instead.
 */
export class TargetError extends PegwireError {
  /** Always `TargetError`. */
  override readonly name: string = 'TargetError';
  /** Always `target`. */
  declare readonly code: 'target';

  constructor(message: string) {
    super({ code: 'target', message });
  }
}

interface FunctionOptions {
  /** Milliseconds that a returned promise may take; `Infinity` for no limit. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/**
 * Makes a target of a function. The function returns an answer, or a boolean for an answer without details. An error that it throws
 * is a `crash`, a value that is not an answer is `garbage`, and a promise that takes longer than the time limit is a `hang`. A
 * function that never returns cannot be stopped; test it as a program with `processTarget`.
 *
 * @throws TypeError if `fn` is not a function, or the time limit is invalid
 * @example
 * functionTarget('split', ({ input }) => input.split('|').length > 1)
 */
export function functionTarget(
  name: string,
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
  { timeoutMs = 5_000 }: FunctionOptions = {},
): Target {
  if (typeof fn !== 'function') throw new TypeError(`fn must be a function; got ${typeof fn} for the target ${name}`);
  assertDurations({ timeoutMs });
  const read = async (request: Request): Promise<Outcome> => {
    const outcome = outcomeOf(fn, request);
    return (await within(timeoutMs, outcome)) ? outcome : { kind: 'hang', timeoutMs: timeoutMs };
  };
  return { name, read, close: async () => {} };
}

async function outcomeOf(
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
  request: Request,
): Promise<Outcome> {
  let result: unknown;
  try {
    result = await fn(request);
  } catch (thrown) {
    return { kind: 'crash', detail: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : anyText(thrown) };
  }
  const reading = checkAnswer(typeof result === 'boolean' ? { ok: result } : result);
  if ('problem' in reading) return { kind: 'garbage', detail: reading.problem };
  return { kind: 'answer', answer: reading.answer };
}

type AnswerReading = { readonly answer: Answer } | { readonly problem: string };

/** Formats a request as one line of ASCII, without the line end. Lone surrogates are escaped like all other characters beyond ASCII. */
export function requestLine({ input, dialect }: Request): string {
  const json = JSON.stringify(dialect === undefined ? { input } : { input, dialect });
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function readAnswer(line: string): AnswerReading {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { problem: `not JSON: ${quotedShort(line)}` };
  }
  const reading = checkAnswer(value);
  return 'problem' in reading ? { problem: `${reading.problem}: ${quotedShort(line)}` } : reading;
}

/** The optional members of an answer by the value of `ok`, with the problem to report for a value of another type. */
const MEMBERS = {
  // The result of JSON.parse is JSON; checking a deep tree again would only cost time.
  true: { ast: null, canonical: 'not a string' },
  false: { code: 'not a string', offset: 'not a non-negative integer', message: 'not a string' },
} as const;

/** Checks the shape of an answer. Drops unknown members, and nulls, which many languages write for absent values. */
function checkAnswer(value: unknown): AnswerReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem: 'not a JSON object' };
  if (!('ok' in value)) return { problem: 'the member "ok" is missing' };
  if (typeof value.ok !== 'boolean') return { problem: '"ok" is neither true nor false' };
  const given = value as Readonly<Record<string, unknown>>;
  const answer: Record<string, unknown> = { ok: value.ok };
  const problems: string[] = [];
  for (const [name, problem] of Object.entries(MEMBERS[`${value.ok}`])) {
    const member = given[name];
    if (member === null || member === undefined) continue;
    if (problem === null || isMember(name, member)) answer[name] = member;
    else problems.push(`"${name}" is ${problem}`);
  }
  return problems.length > 0 ? { problem: problems.join(', ') } : { answer: answer as Answer };
}

function isMember(name: string, member: unknown): boolean {
  return name === 'offset' ? Number.isSafeInteger(member) && (member as number) >= 0 : typeof member === 'string';
}
