/** What a client has asked for and follows: which message is about which of it. */
import { describe } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import type { ArcpError } from '../protocol/errors.js';
import { type InvocationHost, LiveInvocation } from './live-invocation.js';

/** Messages that answer something, and say nothing of what becomes of it. */
const ANSWERS: ReadonlySet<string> = new Set(['ack', 'nack', 'pong']);

/** Messages that end a direct call. */
const ENDS_CALL: ReadonlySet<string> = new Set(['tool.result', 'tool.error', 'workflow.complete']);

/** Identifiers of a message that cannot be read; `type` is empty if it is not known. */
interface Refused {
  readonly type: string;
  readonly correlation_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly stream_id?: string | undefined;
}

export class Invocations {
  readonly #host: InvocationHost;
  readonly #byCommand = new Map<string, LiveInvocation>();
  readonly #byJob = new Map<string, Set<LiveInvocation>>();
  /** Those whose jobs were begun elsewhere, or before: they are followed by name. */
  readonly #attached = new Set<LiveInvocation>();

  constructor(host: InvocationHost) {
    this.#host = host;
  }

  begin<R>(commandId: string): LiveInvocation<R> {
    const invocation = new LiveInvocation<R>(this.#host, commandId);
    this.#byCommand.set(commandId, invocation as LiveInvocation);
    return invocation;
  }

  /** A job that was begun elsewhere, or before: what was said of it is told again. */
  attach<R>(jobId: string): LiveInvocation<R> {
    const invocation = new LiveInvocation<R>(this.#host, undefined, jobId);
    this.follow(invocation as LiveInvocation, jobId);
    return invocation;
  }

  /** What an invocation has asked for was begun before. */
  follow(invocation: LiveInvocation, jobId: string): void {
    this.#of(jobId).add(invocation);
    this.#attached.add(invocation);
    invocation.catchUp();
    invocation.result().then(
      () => this.leave(invocation, jobId),
      () => this.leave(invocation, jobId),
    );
  }

  /** The invocation that waits for this command's answer. */
  ofCommand(id: string | undefined): LiveInvocation | undefined {
    return id === undefined ? undefined : this.#byCommand.get(id);
  }

  leave(invocation: LiveInvocation, jobId = invocation.jobId): void {
    if (invocation.id !== undefined) this.#byCommand.delete(invocation.id);
    this.#attached.delete(invocation);
    if (jobId === undefined) return;
    const all = this.#byJob.get(jobId);
    if (all?.delete(invocation) === true && all.size === 0) this.#byJob.delete(jobId);
  }

  /** @param isNew whether it was not seen before: else it is for those alone who are told again what was said */
  take(message: Envelope, isNew: boolean): void {
    const { type, correlation_id, job_id } = message;
    if (ANSWERS.has(type)) return;
    const asked = this.ofCommand(correlation_id);
    if (isNew && asked !== undefined && message.type === 'job.accepted' && message.payload.duplicate !== true) {
      const jobId = message.payload.job_id ?? job_id;
      if (jobId !== undefined) this.#of(jobId).add(asked);
    }
    const ofJob = job_id === undefined ? undefined : this.#byJob.get(job_id);
    const all = asked === undefined ? (ofJob ?? []) : new Set([asked, ...(ofJob ?? [])]);
    for (const invocation of [...all]) if (isNew || invocation.isCatchingUp) invocation.take(message);
  }

  /** A message that cannot be read. Where it was the last one of some work, or may have been, the work's result is not known. */
  refuse({ type, correlation_id, job_id, stream_id }: Refused, error: ArcpError): void {
    const asked = this.ofCommand(correlation_id);
    const all = new Set([...(asked === undefined ? [] : [asked]), ...(this.#byJob.get(job_id ?? '') ?? [])]);
    for (const invocation of all) {
      const isLast = type === '' || describe(type)?.endsJob === true || (ENDS_CALL.has(type) && invocation === asked);
      if (isLast) invocation.lose(error);
      else if (stream_id !== undefined) invocation.failStream(stream_id, error);
    }
  }

  /** Jobs that are followed by name, and the last message of each that was seen. */
  attached(): { readonly jobId: string; readonly after: string }[] {
    return [...this.#attached].flatMap(({ jobId, lastMessageId, isCatchingUp }) =>
      jobId === undefined || lastMessageId === undefined || isCatchingUp ? [] : [{ jobId, after: lastMessageId }],
    );
  }

  /** The connection has ended, and none is made again. */
  lose(error: unknown): void {
    const ofJobs = [...this.#byJob.values()].flatMap((all) => [...all]);
    for (const invocation of new Set([...this.#byCommand.values(), ...ofJobs])) invocation.lose(error);
  }

  #of(jobId: string): Set<LiveInvocation> {
    const all = this.#byJob.get(jobId) ?? new Set();
    this.#byJob.set(jobId, all);
    return all;
  }
}
