/** The types of conformance checks: targets, checks and results. */
import type { Dial } from '../client/types.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Probe } from './probe.js';

/** A call that the checks may repeat any number of times. */
export interface Call {
  /** The name of the tool. */
  readonly tool: string;
  /** Its arguments. @default {} */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** Credentials for `session.open`. */
export type Auth = PayloadOf<'session.open'>['auth'];

/** The runtime to check. */
export interface CheckTarget {
  /** Opens a connection. */
  readonly dial: Dial;
  /** Credentials. @default none */
  readonly auth?: Auth | undefined;
  /** Credentials of another principal. Without them, the checks that need some are skipped. */
  readonly otherAuth?: Auth | undefined;
  /** If true, all connections reach the same runtime. Set it to `false` for a program that is started for each connection. @default true */
  readonly isShared?: boolean | undefined;
  /** A call that ends at once. Without it, the checks that need it are skipped. */
  readonly tool?: Call | undefined;
  /** A call that becomes a job, which runs for some seconds and sends messages. Without it, the checks that need it are skipped. */
  readonly job?: Call | undefined;
  /** Milliseconds to wait for each expected message. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/** A prerequisite of a check: a member of the target. `connections` needs `isShared`, and `other` needs `otherAuth`. */
export type CheckPrerequisite = 'tool' | 'job' | 'connections' | 'other';

export interface CheckContext {
  readonly target: CheckTarget;
  readonly connect: () => Promise<Probe>;
  readonly open: (
    payload?: Readonly<Record<string, unknown>>,
    more?: Readonly<Record<string, unknown>>,
  ) => Promise<Probe>;
}

/** A check of a runtime against requirements. */
export interface Check {
  /** The id of the check. */
  readonly id: string;
  /** The numbers of the requirements that it tests. */
  readonly requirements: readonly string[];
  /** A description of the expected behaviour. */
  readonly title: string;
  /** A failed `should` check is a warning. @default 'must' */
  readonly level?: 'must' | 'should' | undefined;
  /** The prerequisites. @default none */
  readonly needs?: readonly CheckPrerequisite[] | undefined;
  /** Runs the check. */
  readonly run: (bench: CheckContext) => Promise<void>;
}

type Shared = Pick<Check, 'level' | 'needs'>;

/** Returns a function that creates checks with this level and these prerequisites. */
export function checking(shared: Shared) {
  return (id: string, requirements: string, title: string, run: Check['run']): Check => ({
    id,
    requirements: requirements.split(' '),
    title,
    ...shared,
    run,
  });
}

/** Returns a function that creates checks that start with an open session. */
export function checkingSession(shared: Shared) {
  const make = checking(shared);
  return (
    id: string,
    requirements: string,
    title: string,
    run: (probe: Probe, bench: CheckContext) => Promise<void>,
  ): Check => make(id, requirements, title, async (bench) => run(await bench.open(), bench));
}

export const check = checking({});
export const checkSession = checkingSession({});

/**
 * The outcome of a check.
 *
 * - `passed`: the runtime meets the requirement
 * - `failed`: the runtime violates a "must" requirement
 * - `warned`: the runtime violates a "should" requirement
 * - `skipped`: a prerequisite is missing
 */
export type CheckOutcome = 'passed' | 'failed' | 'warned' | 'skipped';

/** The result of a check. */
export interface CheckResult extends Pick<Check, 'id' | 'requirements' | 'title'> {
  /** The outcome: passed, failed, warned or skipped. */
  readonly outcome: CheckOutcome;
  /** The reason, unless the check passed. */
  readonly reason?: string | undefined;
  /** The messages of a check that did not pass: `>` marks sent ones, `<` received ones. */
  readonly transcript?: readonly string[] | undefined;
}
