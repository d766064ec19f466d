/** The invocations of a client, and the assignment of messages to them. */
import { deferred } from '../../async/listeners.js';
import { AsyncQueue } from '../../async/queue.js';
import { describe } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import { outcomeIn } from '../protocol/outcome.js';
import type { JobState } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';
import { StreamInbox } from '../streams/reader.js';
import type { CancelOptions, Invocation } from './types.js';

/** The maximum number of ids to remember, many more than a runtime resends. */
const MAX_IDS = 20_000;

export class SeenIds {
  readonly #ids = new Set<string>();

  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > MAX_IDS) {
      const [oldest] = this.#ids;
      this.#ids.delete(oldest!);
    }
    return true;
  }
}

interface InvocationHost {
  readonly onPressure: (streamId: string, isFull: boolean) => void;
  readonly cancel: (invocation: LiveInvocation, options: CancelOptions) => Promise<void>;
  readonly upload: <K extends StreamKind>(invocation: LiveInvocation, options: StreamOptions<K>) => StreamWriter<K>;
}

/** An invocation. The caller of `invoke` asserts the type of the result; `never` fits all. */
export class LiveInvocation implements Invocation<never> {
  readonly id: string | undefined;
  readonly #host: InvocationHost;
  readonly #accepted = deferred<string | undefined>();
  readonly accepted = this.#accepted.promise;
  readonly #result = deferred<never>();
  readonly #queues = new Set<AsyncQueue<Envelope>>();
  readonly #streams: StreamInbox;
  jobId: string | undefined;
  state: JobState = 'accepted';
  isOver = false;
  /** The error with which the messages ended before the job did. */
  #lostError: unknown;
  #isAccepted = false;
  lastMessageId: string | undefined;
  /** The ids of messages received while the runtime replays earlier ones. */
  #replayedIds: SeenIds | undefined;

  constructor(host: InvocationHost, id: string | undefined, jobId?: string) {
    this.#host = host;
    this.#streams = new StreamInbox({ onPressure: host.onPressure });
    this.id = id;
    this.jobId = jobId;
  }

  readonly events = (): AsyncIterableIterator<Envelope> => {
    const queue = new AsyncQueue<Envelope>(() => this.#queues.delete(queue));
    if (this.isOver) queue.end(this.#lostError);
    else this.#queues.add(queue);
    return queue;
  };

  readonly stream = <K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> =>
    this.#streams.read<K>(which);

  readonly upload = <K extends StreamKind>(options: StreamOptions<K>): StreamWriter<K> => {
    if (this.isOver || !this.#isAccepted)
      throw new ArcpError(
        'FAILED_PRECONDITION',
        this.isOver ? 'The job has ended' : 'The call is not accepted yet; await invocation.accepted',
      );
    return this.#host.upload(this, options);
  };

  readonly result = (): Promise<never> => this.#result.promise;

  readonly cancel = (options: CancelOptions = {}): Promise<void> => this.#host.cancel(this, options);

  /** Returns the public members, for JSON. */
  toJSON(): Pick<Invocation, 'id' | 'state'> {
    return { id: this.id, state: this.state };
  }

  accept(jobId: string | undefined): void {
    this.jobId ??= jobId;
    this.#isAccepted = true;
    this.#accepted.resolve(jobId);
  }

  fail(error: unknown): void {
    this.#accepted.reject(error);
    this.#end(() => this.#result.reject(error));
  }

  /** Fails the invocation, although its job may continue. */
  lose(error: unknown): void {
    if (!this.isOver) this.#lostError = error;
    this.fail(error);
  }

  failStream(streamId: string, error: ArcpError): void {
    this.#streams.fail(streamId, error.toBody());
  }

  /** Prepares for a replay of earlier messages, some of which may arrive twice. */
  catchUp(): void {
    this.#replayedIds = new SeenIds();
  }

  endCatchUp(): void {
    this.#replayedIds = undefined;
  }

  get isCatchingUp(): boolean {
    return this.#replayedIds !== undefined;
  }

  handle(message: Envelope): void {
    if (this.isOver || this.#replayedIds?.add(message.id) === false) return;
    this.lastMessageId = message.id;
    for (const queue of this.#queues) queue.push(message);
    this.#streams.take(message);
    this.#follow(message);
  }

  #follow(message: Envelope): void {
    switch (message.type) {
      case 'job.accepted':
        this.state = message.payload.state ?? 'accepted';
        this.accept(message.payload.job_id ?? message.job_id);
        break;
      case 'job.started':
        this.state = 'running';
        break;
      case 'event.emit':
        if (message.payload.name === 'arcp.job.state') this.#move(message.payload.attributes?.['to']);
        break;
      default:
        this.#conclude(message);
    }
  }

  #conclude(message: Envelope): void {
    // The results of calls that a job makes do not end it.
    if (message.type.startsWith('tool.') && message.correlation_id !== this.id) return;
    const outcome = outcomeIn(message);
    if (outcome === undefined) return;
    this.state = outcome.state;
    this.#accepted.resolve(this.jobId);
    this.#end(() => {
      if (outcome.state === 'completed') this.#result.resolve(outcome.result as never);
      else this.#result.reject(outcome.error);
    });
  }

  #move(to: unknown): void {
    if (to === 'queued' || to === 'running' || to === 'blocked' || to === 'paused') this.state = to;
  }

  #end(settle: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    settle();
    this.#streams.end(this.#lostError);
    for (const queue of this.#queues) queue.end(this.#lostError);
    this.#queues.clear();
  }
}

const ANSWERS: ReadonlySet<string> = new Set(['ack', 'nack', 'pong']);

const ENDS_CALL: ReadonlySet<string> = new Set(['tool.result', 'tool.error', 'workflow.complete']);

interface RefusedMessage {
  readonly type: string;
  readonly correlation_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly stream_id?: string | undefined;
}

export class Invocations {
  readonly #host: InvocationHost;
  readonly #byCommand = new Map<string, LiveInvocation>();
  readonly #byJob = new Map<string, Set<LiveInvocation>>();
  /** Invocations of jobs that were started by another client or earlier. */
  readonly #attached = new Set<LiveInvocation>();

  constructor(host: InvocationHost) {
    this.#host = host;
  }

  begin(commandId: string): LiveInvocation {
    const invocation = new LiveInvocation(this.#host, commandId);
    this.#byCommand.set(commandId, invocation);
    return invocation;
  }

  attach(jobId: string): LiveInvocation {
    const invocation = new LiveInvocation(this.#host, undefined, jobId);
    this.follow(invocation, jobId);
    return invocation;
  }

  follow(invocation: LiveInvocation, jobId: string): void {
    this.#of(jobId).add(invocation);
    this.#attached.add(invocation);
    invocation.catchUp();
    const remove = (): void => this.leave(invocation, jobId);
    invocation.result().then(remove, remove);
  }

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

  /** Assigns a message to invocations. A repeated message concerns only those that receive a replay. */
  handle(message: Envelope, isNew: boolean): void {
    const { type, correlation_id, job_id } = message;
    if (ANSWERS.has(type)) return;
    const byCommand = this.ofCommand(correlation_id);
    if (isNew && byCommand !== undefined && message.type === 'job.accepted' && message.payload.duplicate !== true) {
      const jobId = message.payload.job_id ?? job_id;
      if (jobId !== undefined) this.#of(jobId).add(byCommand);
    }
    const ofJob = job_id === undefined ? undefined : this.#byJob.get(job_id);
    const all = byCommand === undefined ? (ofJob ?? []) : new Set([byCommand, ...(ofJob ?? [])]);
    for (const invocation of [...all]) if (isNew || invocation.isCatchingUp) invocation.handle(message);
  }

  /** Handles an invalid message. If it may be the last of a job, the outcome of the job is unknown. */
  refuse({ type, correlation_id, job_id, stream_id }: RefusedMessage, error: ArcpError): void {
    const byCommand = this.ofCommand(correlation_id);
    const all = new Set([...(byCommand === undefined ? [] : [byCommand]), ...(this.#byJob.get(job_id ?? '') ?? [])]);
    for (const invocation of all) {
      const isLast =
        type === '' || describe(type)?.endsJob === true || (ENDS_CALL.has(type) && invocation === byCommand);
      if (isLast) invocation.lose(error);
      else if (stream_id !== undefined) invocation.failStream(stream_id, error);
    }
  }

  attached(): { readonly jobId: string; readonly after: string }[] {
    return [...this.#attached].flatMap(({ jobId, lastMessageId, isCatchingUp }) =>
      jobId === undefined || lastMessageId === undefined || isCatchingUp ? [] : [{ jobId, after: lastMessageId }],
    );
  }

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
