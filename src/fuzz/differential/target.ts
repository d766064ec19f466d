import { within } from '../../async/abort.js';
import { PegwireError } from '../../text/errors.js';
import { anyText, quotedShort } from '../../text/visible.js';

/** JSON as an adapter writes it. Trees follow `conformance/README.md`: big integers are strings of digits. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** What an implementation says of one text: the line of JSON that an adapter answers with. */
export type Answer =
  | { readonly ok: true; readonly ast?: Json; readonly canonical?: string }
  | {
      readonly ok: false;
      readonly code?: string;
      /** Why a well-formed text is refused all the same, in a word: `duplicate-key`, `limit`. */
      readonly reason?: string;
      /** In UTF-16 code units. */
      readonly offset?: number;
      readonly message?: string;
    };

/**
 * What came of asking. All but `answer` are findings by themselves; a `note` says what else is known of how they came about.
 */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The program ended, or the function threw. `detail`: the exit code or signal, and the end of what it wrote to stderr. */
  | { readonly kind: 'crash'; readonly detail: string; readonly note?: string }
  /** No answer within the time limit, in milliseconds. */
  | { readonly kind: 'hang'; readonly limitMs: number; readonly note?: string }
  /** The program took more memory than the limit, in bytes. */
  | { readonly kind: 'memory'; readonly limitBytes: number; readonly note?: string }
  /** An answer that is not of the protocol. */
  | { readonly kind: 'garbage'; readonly detail: string; readonly note?: string };

export type Failure = Exclude<Outcome, { readonly kind: 'answer' }>;

/** One text to read. Members beyond `input` are for those who can use them. */
export interface Request {
  readonly input: string;
  readonly dialect?: string;
}

/** An implementation under test. Calls may overlap: what cannot do many at once queues them. */
export interface Target {
  readonly name: string;
  /** Of a program: what starts it, for the shell. */
  readonly command?: string | undefined;
  /**
   * Never rejects for what the implementation does with a text: that is an outcome. Rejects with a `TargetError` when the
   * implementation cannot be asked at all.
   */
  readonly read: (request: Request) => Promise<Outcome>;
  readonly close: () => Promise<void>;
}

/**
 * The implementation under test cannot be tested: it does not start, does not speak the adapter protocol, or was closed. What
 * it does wrong with a text is no error but an outcome.
 */
export class TargetError extends PegwireError {
  override readonly name: string = 'TargetError';
  declare readonly code: 'target';

  constructor(message: string) {
    super({ code: 'target', message });
  }
}

interface FunctionOptions {
  /** Milliseconds for an answer that is promised. @default 5000 */
  readonly timeLimitMs?: number | undefined;
}

/**
 * A function as an implementation under test. `true` and `false` stand for answers that say no more than that. What it throws
 * is a crash, what is no answer is garbage. A promise that is not kept within
 * the time limit is a hang; a function that does not return is not stopped: that takes a program of its own.
 *
 * @example
 * functionTarget('split', ({ input }) => input.split('|').length > 1)
 */
export function functionTarget(
  name: string,
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
  { timeLimitMs = 5_000 }: FunctionOptions = {},
): Target {
  if (typeof fn !== 'function') throw new TypeError(`The target ${name} is no function`);
  const read = async (request: Request): Promise<Outcome> => {
    const outcome = outcomeOf(fn, request);
    return (await within(timeLimitMs, outcome)) ? outcome : { kind: 'hang', limitMs: timeLimitMs };
  };
  return { name, read, close: async () => {} };
}

async function outcomeOf(
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
  request: Request,
): Promise<Outcome> {
  let given: unknown;
  try {
    given = await fn(request);
  } catch (thrown) {
    return { kind: 'crash', detail: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : anyText(thrown) };
  }
  const reading = checkAnswer(typeof given === 'boolean' ? { ok: given } : given);
  if ('problem' in reading) return { kind: 'garbage', detail: reading.problem };
  return { kind: 'answer', answer: reading.answer };
}

type AnswerReading = { readonly answer: Answer } | { readonly problem: string };

/** A request as one line of ASCII, without the line end. Lone surrogates are escaped like all else beyond ASCII. */
export function requestLine({ input, dialect }: Request): string {
  const json = JSON.stringify(dialect === undefined ? { input } : { input, dialect });
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function readAnswer(line: string): AnswerReading {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { problem: `no JSON: ${quotedShort(line)}` };
  }
  const reading = checkAnswer(value);
  return 'problem' in reading ? { problem: `${reading.problem}: ${quotedShort(line)}` } : reading;
}

/** The members of an answer by `ok`, beside it, with what is wrong with a value of another type. */
const MEMBERS = {
  // What comes from JSON.parse is JSON: going through a deep tree once more would only cost time.
  true: { ast: null, canonical: 'no string' },
  false: { code: 'no string', offset: 'no whole number from 0 on', message: 'no string' },
} as const;

/** Checks the shape of an answer. Unknown members and nulls are dropped: many languages write absent values as null. */
function checkAnswer(value: unknown): AnswerReading {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem: 'no JSON object' };
  if (!('ok' in value)) return { problem: 'no member "ok"' };
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
