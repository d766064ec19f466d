/** What must hold in every log of a runtime (spec 003, "Invocation Flow", "Delivery Semantics", "Jobs", "Streams"). */
import { describe } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';

/** A broken rule. */
export interface Violation {
  readonly rule: LogRule;
  /** The index of the message; `undefined` for one that is missing. */
  readonly index: number | undefined;
  readonly message: string;
}

/**
 * - `unique-id`: no two different messages have one id
 * - `accepted-first`: the first message of a job is `job.accepted`
 * - `started-before`: a job tells nothing of its work before it was started
 * - `one-end`: a job ends once
 * - `end-is-last`: nothing comes behind the end of a job
 * - `ends`: a job ends at all
 * - `attempts-rise`: each attempt has a greater number than the one before
 * - `opened-first`, `contiguous`, `closed-last`, `closes`: the chunks of a stream stand between its opening and its end, without a gap or repeat
 * - `answered`: a command is answered
 * - `asked-before`: an answer to a request comes behind the request
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
  | 'asked-before';

export interface CheckOptions {
  /** Requires that all commands are answered and all jobs and streams have ended. @default false */
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

/** Checks a log in the order in which one side sent or received it. Repeated messages count once. */
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
  readonly #asked = new Set<string>();

  take(message: Envelope, at: number): void {
    const text = JSON.stringify(message);
    const known = this.#texts.get(message.id);
    if (known === text) return;
    if (known !== undefined) this.#violated('unique-id', at, `${message.id} stands for two messages`);
    this.#texts.set(message.id, text);
    this.#command(message, at);
    if (message.job_id !== undefined && isOfJob(message)) this.#job(message.job_id, message, at);
    if (message.stream_id !== undefined && message.type.startsWith('stream.'))
      this.#stream(message.stream_id, message, at);
  }

  unfinished(): Violation[] {
    const missing = (rule: LogRule, message: string): Violation => ({ rule, index: undefined, message });
    return [
      ...[...this.#jobs].filter(([, { hasEnded }]) => !hasEnded).map(([id]) => missing('ends', `${id} has not ended`)),
      ...[...this.#streams]
        .filter(([, { hasEnded }]) => !hasEnded)
        .map(([id]) => missing('closes', `${id} was not closed`)),
      ...[...this.#unanswered].map(([id, type]) => missing('answered', `${type} ${id} was not answered`)),
    ];
  }

  #command(message: Envelope, at: number): void {
    const { type, id, correlation_id: answers } = message;
    if (answers !== undefined) this.#unanswered.delete(answers);
    // What a runtime sends are not commands to answer, but calls that a job makes.
    if (describe(type)?.isCommand === true && message.source !== 'runtime' && type !== 'session.close')
      this.#unanswered.set(id, type);
    if (type === 'permission.request') this.#asked.add(id);
    if ((type === 'permission.grant' || type === 'permission.deny') && !this.#asked.has(answers ?? ''))
      this.#violated('asked-before', at, `${type} answers ${answers ?? 'nothing'}, which was not asked`);
  }

  #job(id: string, message: Envelope, at: number): void {
    const isEnd = describe(message.type)?.endsJob === true;
    let job = this.#jobs.get(id);
    if (job === undefined) {
      if (message.type !== 'job.accepted')
        this.#violated('accepted-first', at, `${message.type} of ${id} comes before job.accepted`);
      job = { hasStarted: false, hasEnded: false, attempt: 0 };
      this.#jobs.set(id, job);
    }
    if (job.hasEnded) {
      if (isEnd) this.#violated('one-end', at, `${id} ends once more, by ${message.type}`);
      else this.#violated('end-is-last', at, `${message.type} of ${id} comes behind its end`);
    }
    if (message.type === 'job.started') {
      const { attempt = job.attempt + 1 } = message.payload;
      if (attempt <= job.attempt)
        this.#violated('attempts-rise', at, `${id}: attempt ${attempt} behind ${job.attempt}`);
      job.attempt = attempt;
      job.hasStarted = true;
    } else if (!job.hasStarted && !BEFORE_START.has(message.type))
      this.#violated('started-before', at, `${message.type} of ${id} comes before job.started`);
    if (isEnd) job.hasEnded = true;
  }

  #stream(id: string, message: Envelope, at: number): void {
    let stream = this.#streams.get(id);
    if (stream === undefined) {
      if (message.type !== 'stream.open')
        this.#violated('opened-first', at, `${message.type} of ${id} comes before stream.open`);
      stream = { next: 0, hasEnded: false };
      this.#streams.set(id, stream);
    }
    if (stream.hasEnded) this.#violated('closed-last', at, `${message.type} of ${id} comes behind its end`);
    if (message.type === 'stream.chunk') {
      const { sequence = stream.next, last_sequence: last = sequence } = message.payload;
      if (sequence !== stream.next)
        this.#violated('contiguous', at, `chunk ${sequence} of ${id} comes where ${stream.next} is due`);
      stream.next = last + 1;
    }
    if (message.type === 'stream.close' || message.type === 'stream.error') stream.hasEnded = true;
  }

  #violated(rule: LogRule, at: number | undefined, message: string): void {
    this.violations.push({ rule, index: at, message });
  }
}

/** Tells a message about the work from what a client says to it, and from the answer to that. */
function isOfJob({ type, source, payload }: Envelope): boolean {
  if (source === 'client' || type === 'ack' || type === 'nack' || type === 'job.heartbeat') return false;
  if (describe(type)?.from === 'client') return false;
  return !(type === 'job.accepted' && (payload as { readonly duplicate?: boolean }).duplicate === true);
}
