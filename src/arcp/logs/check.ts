/** Rules for logs of runtimes (spec 003, "Invocation Flow", "Delivery Semantics", "Jobs", "Streams"). */
import { describe } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';

/** A violation of a rule. */
export interface Violation {
  /** The violated rule. */
  readonly rule: LogRule;
  /** The index of the message; `undefined` if a message is missing. */
  readonly index: number | undefined;
  /** A description of the violation. */
  readonly message: string;
}

/**
 * A rule for logs.
 *
 * - `unique-id`: different messages have different ids
 * - `accepted-first`: the first message of a job is `job.accepted`
 * - `started-before`: a job reports nothing before `job.started`
 * - `one-end`: a job ends once
 * - `end-is-last`: no message of a job follows its end
 * - `ends`: each job ends
 * - `attempts-rise`: the numbers of the attempts of a job increase
 * - `opened-first`: the first message of a stream is `stream.open`
 * - `contiguous`: the sequence numbers of the chunks of a stream have no gaps and no repetitions
 * - `closed-last`: no message of a stream follows its end
 * - `closes`: each stream ends
 * - `answered`: each command is answered
 * - `request-first`: the answer to a permission request follows the request
 */
export type LogRule =
  | 'unique-id'
  | 'accepted-first'
  | 'started-before'
  | 'one-end'
  | 'end-is-last'
  | 'ends'
  | 'attempts-rise'
  | 'opened-first'
  | 'contiguous'
  | 'closed-last'
  | 'closes'
  | 'answered'
  | 'request-first';

/** Options of a check. */
export interface CheckOptions {
  /** If true, all commands must be answered, and all jobs and streams must end (`answered`, `ends`, `closes`). @default false */
  readonly isComplete?: boolean | undefined;
}

interface Job {
  hasStarted: boolean;
  hasEnded: boolean;
  attempt: number;
}

interface Stream {
  next: number;
  hasEnded: boolean;
}

/** Messages that a job may send before its first attempt starts. */
const BEFORE_START: ReadonlySet<string> = new Set([
  'job.accepted',
  'job.started',
  'job.cancelled',
  'job.failed',
  'job.checkpoint',
  'event.emit',
  'job.heartbeat',
]);

/** Checks a log, in the order in which one side sent or received its messages. Repeated messages count once. @returns the violations */
export function checkLog(messages: Iterable<Envelope>, { isComplete = false }: CheckOptions = {}): Violation[] {
  const checker = new Checker();
  let at = 0;
  for (const message of messages) checker.take(message, at++);
  return isComplete ? [...checker.violations, ...checker.unfinished()] : checker.violations;
}

class Checker {
  readonly violations: Violation[] = [];
  readonly #texts = new Map<string, string>();
  readonly #jobs = new Map<string, Job>();
  readonly #streams = new Map<string, Stream>();
  readonly #unanswered = new Map<string, string>();
  readonly #requests = new Set<string>();

  take(message: Envelope, at: number): void {
    const text = JSON.stringify(message);
    const known = this.#texts.get(message.id);
    if (known === text) return;
    if (known !== undefined) this.#report('unique-id', at, `${message.id} is the id of two different messages`);
    this.#texts.set(message.id, text);
    this.#command(message, at);
    if (message.job_id !== undefined && isOfJob(message)) this.#job(message.job_id, message, at);
    if (message.stream_id !== undefined && message.type.startsWith('stream.'))
      this.#stream(message.stream_id, message, at);
  }

  unfinished(): Violation[] {
    const missing = (rule: LogRule, message: string): Violation => ({ rule, index: undefined, message });
    return [
      ...[...this.#jobs].filter(([, { hasEnded }]) => !hasEnded).map(([id]) => missing('ends', `${id} does not end`)),
      ...[...this.#streams]
        .filter(([, { hasEnded }]) => !hasEnded)
        .map(([id]) => missing('closes', `${id} does not end`)),
      ...[...this.#unanswered].map(([id, type]) => missing('answered', `${type} ${id} is not answered`)),
    ];
  }

  #command(message: Envelope, at: number): void {
    const { type, id, correlation_id: answers } = message;
    if (answers !== undefined) this.#unanswered.delete(answers);
    // A command that a runtime sends reports a call of a job, and is not answered.
    if (describe(type)?.isCommand === true && message.source !== 'runtime' && type !== 'session.close')
      this.#unanswered.set(id, type);
    if (type === 'permission.request') this.#requests.add(id);
    if ((type === 'permission.grant' || type === 'permission.deny') && !this.#requests.has(answers ?? ''))
      this.#report(
        'request-first',
        at,
        `${type} answers ${answers ?? 'no message'}, which is not an earlier permission.request`,
      );
  }

  #job(id: string, message: Envelope, at: number): void {
    const isEnd = describe(message.type)?.endsJob === true;
    let job = this.#jobs.get(id);
    if (job === undefined) {
      if (message.type !== 'job.accepted')
        this.#report('accepted-first', at, `${message.type} of ${id} precedes job.accepted`);
      job = { hasStarted: false, hasEnded: false, attempt: 0 };
      this.#jobs.set(id, job);
    }
    if (job.hasEnded) {
      if (isEnd) this.#report('one-end', at, `${id} ends again with ${message.type}`);
      else this.#report('end-is-last', at, `${message.type} of ${id} follows its end`);
    }
    if (message.type === 'job.started') {
      const { attempt = job.attempt + 1 } = message.payload;
      if (attempt <= job.attempt)
        this.#report('attempts-rise', at, `attempt ${attempt} of ${id} follows attempt ${job.attempt}`);
      job.attempt = attempt;
      job.hasStarted = true;
    } else if (!job.hasStarted && !BEFORE_START.has(message.type))
      this.#report('started-before', at, `${message.type} of ${id} precedes job.started`);
    if (isEnd) job.hasEnded = true;
  }

  #stream(id: string, message: Envelope, at: number): void {
    let stream = this.#streams.get(id);
    if (stream === undefined) {
      if (message.type !== 'stream.open')
        this.#report('opened-first', at, `${message.type} of ${id} precedes stream.open`);
      stream = { next: 0, hasEnded: false };
      this.#streams.set(id, stream);
    }
    if (stream.hasEnded) this.#report('closed-last', at, `${message.type} of ${id} follows its end`);
    if (message.type === 'stream.chunk') {
      const { sequence = stream.next, last_sequence: last = sequence } = message.payload;
      if (sequence !== stream.next)
        this.#report('contiguous', at, `chunk ${sequence} of ${id} follows chunk ${stream.next - 1}`);
      stream.next = last + 1;
    }
    if (message.type === 'stream.close' || message.type === 'stream.error') stream.hasEnded = true;
  }

  #report(rule: LogRule, at: number | undefined, message: string): void {
    this.violations.push({ rule, index: at, message });
  }
}

/** Returns whether a message reports on a job, and is neither a command of a client nor its answer. */
function isOfJob({ type, source, payload }: Envelope): boolean {
  if (source === 'client' || type === 'ack' || type === 'nack' || type === 'job.heartbeat') return false;
  if (describe(type)?.from === 'client') return false;
  return !(type === 'job.accepted' && (payload as { readonly duplicate?: boolean }).duplicate === true);
}
