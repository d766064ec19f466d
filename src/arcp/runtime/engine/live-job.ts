/** One attempt at a job, in this process. */
import { abortable, LazyAbort } from '../../../async/abort.js';
import { after } from '../../../async/timers.js';
import { StoreError } from '../../../text/store-error.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import type { JobState } from '../../protocol/payloads/parts.js';
import type { StreamKind } from '../../protocol/payloads/streaming.js';
import type { JobRow } from '../../store/store.js';
import type { Content, StreamOptions, StreamWriter } from '../../streams/content.js';
import type { ChunkWriter } from '../../streams/writer.js';
import { contextOf } from '../context/context.js';
import { type CheckpointRequest, checkpoint, latestData } from '../context/steps.js';
import { openJobStream, silentStream } from '../context/stream.js';
import type { EventLog } from '../events/log.js';
import type { Attempt, CancelRequest, Continuation, JobHost, Pause, RequeueRequest } from '../job/attempt.js';
import { heartbeatOf, JobMessages } from '../job/messages.js';
import { JobOutbox, type OutboxEntry } from '../job/outbox.js';
import { inputOf, isTerminal, type JobSpec, type JobStatus, statusOf } from '../job/spec.js';
import { checkResult } from '../registrations.js';
import type { Registration, TelemetrySpan } from '../types.js';
import type { IncomingStreams } from '../uploads/incoming.js';
import { conclude, type Outcome } from './conclusion.js';

export class LiveJob implements Attempt {
  readonly row: JobRow;
  readonly spec: JobSpec;
  readonly messages: JobMessages;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly host: JobHost;
  readonly #abort = new LazyAbort();
  readonly #startedAt: number;
  status: JobStatus;
  state: JobState = 'running';
  #cancel: CancelRequest | undefined;
  #force: ((forced: typeof FORCED) => void) | undefined;
  #cancelForce: (() => void) | undefined;
  #requeueRequest: RequeueRequest | undefined;
  #waits = 0;
  work!: Registration;
  #span: TelemetrySpan | undefined;
  #snapshot: (() => unknown) | undefined;
  #errorBeforeStart: ArcpError | undefined;
  /** `true` once the handler has ended, while its outcome is being stored. */
  isOver = false;
  #isLost = false;
  readonly #streams = new Set<ChunkWriter<StreamKind>>();
  readonly #running = new Map<string, Promise<unknown>>();
  /** The streams of clients, once the job asks for them. */
  #incoming: IncomingStreams | undefined;
  #heartbeats = 0;
  #progressAt: number | undefined;

  constructor(row: JobRow, spec: JobSpec, host: JobHost) {
    this.row = row;
    this.spec = spec;
    this.log = host.log;
    this.messages = new JobMessages(host.log, row, this.spec);
    this.host = host;
    this.#startedAt = host.now();
    this.status = statusOf(row);
    const { jobId, attempt } = row;
    this.outbox = new JobOutbox({ log: host.log, jobId, attempt, onLost: () => this.abandon() });
  }

  readonly once = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const running = this.#running.get(key);
    if (running !== undefined) return running as Promise<T>;
    const promise = work().finally(() => this.#running.delete(key));
    this.#running.set(key, promise);
    return promise;
  };

  readonly stepPrefix = '';
  readonly isCall = false;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get telemetrySpanId(): string | undefined {
    return this.#span?.spanId;
  }

  readonly changeStatus = (change: Partial<JobStatus>): string => {
    this.status = { ...this.status, ...change };
    return JSON.stringify(this.status);
  };

  readonly noteProgress = (): void => {
    this.#progressAt = this.host.now();
  };

  readonly openStream = <K extends StreamKind>(options: StreamOptions<K>): StreamWriter<K> => {
    if (this.spec.streams === 'none') return silentStream(options.kind);
    if (this.isOver)
      throw new ArcpError(
        'FAILED_PRECONDITION',
        'The job has ended; a stream can only be opened while its handler runs',
      );
    const onEnd = (): void => void this.#streams.delete(stream as unknown as ChunkWriter<StreamKind>);
    const stream = openJobStream(this, options, onEnd);
    this.#streams.add(stream as unknown as ChunkWriter<StreamKind>);
    return stream;
  };

  /** Runs the attempt. Resolves when its end is stored or the attempt was lost; never rejects. */
  async run(work: Registration | undefined): Promise<void> {
    try {
      this.#startSpan();
      const outcome = await this.#attempt(work);
      const error = outcome.kind === 'failed' ? outcome.error : undefined;
      this.#span?.end({ endedAt: this.host.now(), attributes: {}, error });
      if (this.#isLost) return;
      this.isOver = true;
      this.#incoming?.end();
      await this.#endStreams(outcome);
      await this.#conclude(outcome);
      if (isTerminal(this.state)) await this.#incoming?.remove();
    } catch (error) {
      // The end could not be stored; the next attempt continues.
      this.#abort.abort(error);
    } finally {
      this.#incoming?.end();
      // Those of a lost attempt have not ended.
      for (const { id } of this.#streams) this.host.streams.remove(id);
      this.#cancelForce?.();
    }
  }

  /** Aborts the signal of the handler, and abandons the handler after the deadline. Only the first request counts. */
  cancel(request: CancelRequest): void {
    if (this.#cancel !== undefined || this.isOver) return;
    this.#cancel = request;
    const code = request.cause === 'timeout' ? 'DEADLINE_EXCEEDED' : 'CANCELLED';
    this.#abort.abort(
      new ArcpError(code, request.reason ?? 'The job was cancelled', { details: { cause: request.cause } }),
    );
    this.#cancelForce?.();
    this.#forceAfter(request.deadlineMs);
  }

  #forceAfter(ms = this.host.cancelGraceMs): void {
    this.#cancelForce = after(ms, () => this.#force?.(FORCED));
  }

  failBeforeStart(error: ArcpError): void {
    this.#errorBeforeStart = error;
  }

  readonly requeue = (request: RequeueRequest): void => {
    if (this.#cancel !== undefined || this.#requeueRequest !== undefined || this.isOver) return;
    this.#requeueRequest = request;
    this.#abort.abort(new ArcpError('ABORTED', `The attempt was stopped: ${request.reason}`));
    this.#forceAfter();
  };

  /** Stores a change and starts another attempt. @returns `false` if a record conflicted; then nothing was done */
  async restart(change: Partial<JobStatus>, entry: OutboxEntry, request: RequeueRequest): Promise<boolean> {
    const previous = this.status;
    const status = this.changeStatus(change);
    const changed = this.status;
    const isDone = await this.outbox.tryAdd({ ...entry, set: { status } });
    if (isDone) this.requeue(request);
    else if (this.status === changed) this.status = previous;
    return isDone;
  }

  /** Stores a requested checkpoint. @returns `false` if it was requested before; then nothing was done */
  async checkpointFor(request: CheckpointRequest, label: string | undefined): Promise<boolean> {
    const data = this.#snapshot === undefined ? await latestData(this.log.store, this.status) : this.#snapshot();
    const previous = this.status;
    const storing = checkpoint(this, data, { label }, request);
    const changed = this.status;
    const isDone = (await storing) !== undefined;
    if (!isDone && this.status === changed) this.status = previous;
    return isDone;
  }

  readonly onCheckpoint = (snapshot: () => unknown): void => {
    this.#snapshot = snapshot;
  };

  /** Ends this attempt, since another one has started elsewhere. */
  abandon(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.outbox.stop();
    this.#abort.abort(new ArcpError('ABORTED', 'Another attempt at the job has started'));
    this.#force?.(FORCED);
    this.#cancelForce?.();
  }

  heartbeat(deadlineMs: number): string {
    const { state } = this;
    const fields = { sequence: this.#heartbeats++, state, deadlineMs, progressAt: this.#progressAt };
    return heartbeatOf(this.log, this.row, this.spec, fields);
  }

  readonly readUpload = <K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> => {
    this.#incoming ??= this.host.uploads.incoming(this.row.jobId);
    if (this.isOver || this.#isLost) this.#incoming.end();
    return this.#incoming.read<K>(which);
  };

  readonly wait = async <T>(
    { reason, events = [], records = [], continuedBy }: Pause<T>,
    until: () => Promise<T>,
  ): Promise<T> => {
    this.#abort.throwIfAborted();
    const isFirst = this.#waits++ === 0;
    let continued: Continuation = {};
    try {
      if (isFirst) await this.#move('blocked', reason, { events, records });
      else if (events.length + records.length > 0) await this.outbox.add({ events, records });
      this.host.onSlotFree();
      const result = await abortable(until(), this.signal);
      continued = continuedBy?.(result) ?? {};
      return result;
    } finally {
      if (--this.#waits === 0 && !this.isOver) await this.#move('running', reason, continued);
    }
  };

  async #move(
    to: 'running' | 'blocked',
    reason: string,
    { events = [], records = [], causedBy, attributes }: Pick<OutboxEntry, 'events' | 'records'> & Continuation,
  ): Promise<void> {
    const from = this.state;
    this.state = to;
    const moved = this.spec.isDurable ? [this.messages.moved(from, to, reason, attributes, causedBy)] : [];
    await this.outbox.add({ set: { state: to }, records, events: [...events, ...moved] });
  }

  #startSpan(): void {
    const { jobId, attempt, sessionId, principal } = this.row;
    const { kind, target, trace } = this.spec;
    const name = this.status.agent ?? target;
    this.#span = this.host.telemetry?.startSpan(`${kind} ${name}`, {
      traceId: trace.traceId,
      parentSpanId: trace.parentSpanId,
      kind: 'server',
      startedAt: this.#startedAt,
      attributes: {
        'arcp.job.id': jobId,
        'arcp.job.attempt': attempt,
        'arcp.session.id': sessionId,
        'arcp.principal': principal,
        [`arcp.${kind}`]: name,
      },
    });
  }

  async #attempt(work: Registration | undefined): Promise<Outcome> {
    try {
      if (this.#errorBeforeStart !== undefined) throw this.#errorBeforeStart;
      this.#abort.throwIfAborted();
      if (work === undefined) {
        const { kind, target } = this.spec;
        throw new ArcpError('NOT_FOUND', `The ${kind} ${JSON.stringify(target)} is no longer registered`);
      }
      const forced = new Promise<typeof FORCED>((resolve) => {
        this.#force = resolve;
      });
      const restored = await this.#readCheckpoint();
      // A handler that was abandoned must not crash the process when it fails.
      this.work = work;
      const handling = this.#runHandler(work, restored);
      handling.catch(() => {});
      const result = await Promise.race([handling, forced]);
      return result === FORCED ? { kind: 'forced' } : { kind: 'completed', result };
    } catch (thrown) {
      // Without the store, the attempt cannot continue. It is lost, and the next one finds what was stored.
      if (isOutage(thrown)) this.abandon();
      return { kind: 'failed', error: asArcpError(thrown) };
    }
  }

  /** Reads the latest checkpoint. It takes a turn of the event loop, in which the start of the job is stored before its handler runs. */
  async #readCheckpoint(): Promise<unknown> {
    return latestData(this.log.store, this.status);
  }

  async #runHandler(work: Registration, restored: unknown): Promise<unknown> {
    const { options, handler } = work;
    const { follows } = this.spec;
    if (follows !== undefined) return this.wait({ reason: 'operation' }, () => this.host.outcomeOf(follows));
    const input = inputOf(this.spec.command);
    const parsed = options.input === undefined ? input : await options.input.parseAsync(input);
    // A handler that was cancelled before it began must not begin.
    this.#abort.throwIfAborted();
    const result: unknown = await handler(parsed, contextOf(this, restored));
    return checkResult(work, result);
  }

  async #endStreams(outcome: Outcome): Promise<void> {
    const error = outcome.kind === 'failed' ? outcome.error : this.#abort.reason;
    const ending = [...this.#streams].map((stream) => {
      stream.flush();
      return outcome.kind === 'completed' ? stream.close() : stream.fail(error);
    });
    await Promise.all(ending);
  }

  async #conclude(outcome: Outcome): Promise<void> {
    const { state, entry } = conclude(this, outcome, {
      startedAt: this.#startedAt,
      now: this.host.now(),
      state: this.state,
      cancel: this.#cancel,
      requeue: this.#requeueRequest,
      isFinal: this.#errorBeforeStart !== undefined,
    });
    this.state = state;
    await this.outbox.add(entry);
    if (state === 'cancelled') await this.host.cancelChildren(this.row.jobId);
  }
}

const FORCED = Symbol('forced');

/** Returns whether a store cannot be used for some time. */
function isOutage(thrown: unknown): boolean {
  return thrown instanceof StoreError && ['busy', 'full', 'unavailable'].includes(thrown.reason);
}
