/** What is checked of a runtime, and how that went. */
import type { Dial } from '../client/types.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Probe } from './probe.js';
/** A call that may be made as often as wanted. */
export interface Call {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

export type Auth = PayloadOf<'session.open'>['auth'];

/** The runtime that is checked. Nothing is known of it but how to reach it. */
export interface Subject {
  readonly dial: Dial;
  readonly auth?: Auth | undefined;
  /** Somebody else, who must not get at what is not theirs. */
  readonly otherAuth?: Auth | undefined;
  /** Whether all connections reach the same runtime; a program that is started for each does not. @default true */
  readonly isShared?: boolean | undefined;
  /** Ends at once. Without it, what needs one is skipped. */
  readonly quick?: Call | undefined;
  /** Becomes a job that goes on for a while, and says something meanwhile. Without it, what needs one is skipped. */
  readonly slow?: Call | undefined;
  /** Milliseconds to wait for an answer. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/** What a check cannot do without. */
export type Need = 'quick' | 'slow' | 'connections' | 'other';

/** What a check works with: connections to the runtime. */
export interface Bench {
  readonly subject: Subject;
  /** Another connection, on which nothing was said. */
  readonly connect: () => Promise<Probe>;
  /** Another connection, with a session. @param payload beside what every session is opened with */
  readonly open: (
    payload?: Readonly<Record<string, unknown>>,
    more?: Readonly<Record<string, unknown>>,
  ) => Promise<Probe>;
}

export interface Check {
  /** Its own name. */
  readonly id: string;
  /** The numbers of the requirements that it is for. */
  readonly requirements: readonly string[];
  readonly title: string;
  /** `should`: a runtime that is otherwise is still one. @default 'must' */
  readonly level?: 'must' | 'should' | undefined;
  readonly needs?: readonly Need[] | undefined;
  /** @throws Mismatch where the runtime is not so */
  readonly run: (bench: Bench) => Promise<void>;
}

type Run = Check['run'];

/** Makes a check. @param requirements their numbers, with spaces between */
export function check(id: string, requirements: string, title: string, run: Run): Check;
export function check(
  id: string,
  requirements: string,
  title: string,
  options: Pick<Check, 'level' | 'needs'>,
  run: Run,
): Check;
export function check(
  id: string,
  requirements: string,
  title: string,
  options: Pick<Check, 'level' | 'needs'> | Run,
  run?: Run,
): Check {
  const named = { id, requirements: requirements.split(' '), title };
  return typeof options === 'function' ? { ...named, run: options } : { ...named, ...options, run: run! };
}

/**
 * - `passed`
 * - `failed`: the runtime is not as it must be
 * - `warned`: it is not as it should be
 * - `skipped`: it could not be looked at
 */
export type CheckOutcome = 'passed' | 'failed' | 'warned' | 'skipped';

export interface CheckResult extends Pick<Check, 'id' | 'requirements' | 'title'> {
  readonly outcome: CheckOutcome;
  /** Why, where it has not passed. */
  readonly reason?: string | undefined;
  /** What was said meanwhile, where it has failed: `>` by us, `<` by the runtime. */
  readonly transcript?: readonly string[] | undefined;
}
