/** What is checked of a runtime, and how that went. */
import type { Dial } from '../client/types.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Probe } from './probe.js';

/** A call that may be made any number of times. */
export interface Call {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

export type Auth = PayloadOf<'session.open'>['auth'];

/** The runtime to check. */
export interface CheckTarget {
  readonly dial: Dial;
  readonly auth?: Auth | undefined;
  /** Credentials of another principal. */
  readonly otherAuth?: Auth | undefined;
  /** Whether all connections reach the same runtime; a program that is started for each does not. @default true */
  readonly isShared?: boolean | undefined;
  /** A call that ends at once. Without it, the checks that need one are skipped. */
  readonly quick?: Call | undefined;
  /** A call that becomes a job that runs for a while and sends messages. Without it, the checks that need one are skipped. */
  readonly slow?: Call | undefined;
  /** Milliseconds to wait for an answer. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

export type CheckPrerequisite = 'quick' | 'slow' | 'connections' | 'other';

export interface Bench {
  readonly subject: CheckTarget;
  readonly connect: () => Promise<Probe>;
  readonly open: (
    payload?: Readonly<Record<string, unknown>>,
    more?: Readonly<Record<string, unknown>>,
  ) => Promise<Probe>;
}

export interface Check {
  readonly id: string;
  readonly requirements: readonly string[];
  readonly title: string;
  /** A `should` check that does not pass is a warning. @default 'must' */
  readonly level?: 'must' | 'should' | undefined;
  readonly needs?: readonly CheckPrerequisite[] | undefined;
  readonly run: (bench: Bench) => Promise<void>;
}

type Shared = Pick<Check, 'level' | 'needs'>;

/** Makes checks that share their level and needs. */
export function checking(shared: Shared) {
  return (id: string, requirements: string, title: string, run: Check['run']): Check => ({
    id,
    requirements: requirements.split(' '),
    title,
    ...shared,
    run,
  });
}

/** Makes checks that begin with an open session. */
export function checkingSession(shared: Shared) {
  const make = checking(shared);
  return (id: string, requirements: string, title: string, run: (probe: Probe, bench: Bench) => Promise<void>): Check =>
    make(id, requirements, title, async (bench) => run(await bench.open(), bench));
}

export const check = checking({});
export const checkSession = checkingSession({});

/**
 * - `passed`
 * - `failed`: the runtime is not as it must be
 * - `warned`: it is not as it should be
 * - `skipped`: it could not be looked at
 */
export type CheckOutcome = 'passed' | 'failed' | 'warned' | 'skipped';

export interface CheckResult extends Pick<Check, 'id' | 'requirements' | 'title'> {
  readonly outcome: CheckOutcome;
  readonly reason?: string | undefined;
  /** The messages, if the check has failed: `>` sent, `<` received. */
  readonly transcript?: readonly string[] | undefined;
}
