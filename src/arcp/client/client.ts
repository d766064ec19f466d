/** A client of a runtime: calls, what is said of them, and a session that outlives its connections. */
import { safely } from '../../bindings/safely.js';
import type { MessageType, PayloadOf } from '../protocol/catalogue.js';
import { printEnvelope } from '../protocol/codec.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import { newId, newSpanId, newTraceId } from '../protocol/ids.js';
import { timestampOf } from '../protocol/timestamp.js';
import { ARCP_VERSION } from '../protocol/version.js';
import type { CancelOptions, Client, ClientOptions, Cursor, Dial, InvokeOptions, SessionInfo } from './contract.js';
import { Link } from './link.js';
import { LiveInvocation } from './live-invocation.js';
import { Seen } from './seen.js';

/** A command that waits for its answer. */
interface Pending {
  readonly text: string;
  readonly settle: (answer?: Envelope) => void;
  readonly fail: (error: unknown) => void;
  /** Whether it belongs to this connection, and is said anew on the next. */
  readonly isPassing: boolean;
}

interface Fields {
  readonly stream_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly parent_span_id?: string | undefined;
}

const CAPABILITIES = {
  streaming: true,
  durable_jobs: true,
  checkpoints: true,
  binary_streams: true,
  agent_handoff: true,
};

/** What a runtime does not keep, so that nobody can go on behind it. */
const PASSING: ReadonlySet<MessageType> = new Set([
  'session.accepted',
  'ping',
  'pong',
  'ack',
  'nack',
  'job.heartbeat',
  'backpressure',
]);

const TIMEOUT_MS = 60_000;
const HANDSHAKE_MS = 15_000;
/** Milliseconds between two saves of the cursor. */
const SAVE_EVERY = 100;

/**
 * Connects to a runtime, and opens a session or takes one up again.
 *
 * @throws ArcpError what the runtime refuses the session with
 * @throws whatever `dial` throws, where no connection is tried again
 */
export async function openClient(dial: Dial, options: ClientOptions = {}): Promise<Client> {
  const cursor = await options.cursor?.load();
  const client = new SessionClient(dial, options, cursor);
  await client.opened;
  return client;
}

class SessionClient implements Client {
  readonly #options: ClientOptions;
  readonly #link: Link;
  readonly #seen = new Seen();
  readonly #pending = new Map<string, Pending>();
  readonly #byCommand = new Map<string, LiveInvocation>();
  readonly #byJob = new Map<string, LiveInvocation>();
  /** Jobs of other sessions, which are followed by name. */
  readonly #attached = new Set<string>();
  /** Streams whose readers cannot keep up. */
  readonly #full = new Set<string>();
  #session: SessionInfo | undefined;
  #sessionId: string | undefined;
  #resumeToken: string | undefined;
  #lastMessageId: string | undefined;
  /** The message that opens the session on this connection. */
  #opening: string | undefined;
  #isOpen = false;
  #isLeaving = false;
  /** Why there will be no connection any more. */
  #end: unknown;
  #save: ReturnType<typeof setTimeout> | undefined;
  #open!: () => void;
  #refuse!: (error: unknown) => void;
  #close!: (error: unknown) => void;
  readonly opened = new Promise<void>((resolve, reject) => {
    this.#open = resolve;
    this.#refuse = reject;
  });
  readonly closed = new Promise<unknown>((resolve) => {
    this.#close = resolve;
  });

  constructor(dial: Dial, options: ClientOptions, cursor: Cursor | undefined) {
    this.#options = options;
    this.#sessionId = cursor?.sessionId;
    this.#resumeToken = cursor?.resumeToken;
    this.#lastMessageId = cursor?.lastMessageId;
    const { reconnect = {} } = options;
    this.#link = new Link({
      ...{
        dial,
        reconnect,
        handshakeMs: options.heartbeatMs ?? HANDSHAKE_MS,
        onError: (error) => this.#tell(error),
        told: (message) => this.#told(message),
      },
      ask: () => this.#say('ping', { sent_at: timestampOf(Date.now()) }),
      opened: (send) => send(this.#openSession()),
      lost: () => {
        this.#isOpen = false;
        for (const { isPassing, settle } of [...this.#pending.values()]) if (isPassing) settle();
      },
      closed: (error) => this.#over(error),
    });
    void this.#link.connect();
  }

  get session(): SessionInfo {
    return this.#session!;
  }

  readonly invoke: Client['invoke'] = (tool, args, options = {}) => {
    const { mode, operationKey, timeoutMs, retry } = options;
    return this.#start(
      'tool.invoke',
      {
        ...{ tool, ...(args === undefined ? {} : { arguments: { ...args } }), ...(mode === undefined ? {} : { mode }) },
        ...work({ operationKey, timeoutMs, retry }),
      },
      options,
    );
  };

  readonly startWorkflow: Client['startWorkflow'] = (workflow, inputs, options = {}) => {
    const { steps } = options;
    const payload = { workflow, ...(inputs === undefined ? {} : { inputs: { ...inputs } }), ...work(options) };
    return this.#start('workflow.start', { ...payload, ...(steps === undefined ? {} : { steps }) }, options);
  };

  readonly delegate: Client['delegate'] = (target, task, options = {}) => {
    const { arguments: args, context } = options;
    const more = {
      ...(args === undefined ? {} : { arguments: { ...args } }),
      ...(context === undefined ? {} : { context }),
    };
    return this.#start('agent.delegate', { target, task, ...more, ...work(options) }, options);
  };

  readonly job: Client['job'] = <R>(jobId: string) => {
    const known = this.#byJob.get(jobId);
    if (known !== undefined) return known as LiveInvocation<R>;
    const invocation = new LiveInvocation<R>(this.#host, undefined, jobId);
    this.#byJob.set(jobId, invocation as LiveInvocation);
    this.#attached.add(jobId);
    this.#command('resume', {}, { job_id: jobId }).then(
      () => invocation.accept(jobId),
      (error: unknown) => invocation.fail(error),
    );
    return invocation;
  };

  readonly ping = async (): Promise<number> => {
    const from = performance.now();
    await this.#command('ping', { sent_at: timestampOf(Date.now()) });
    return performance.now() - from;
  };

  readonly close: Client['close'] = async ({ jobs, reason } = {}) => {
    this.#isLeaving = true;
    const payload = { ...(jobs === undefined ? {} : { jobs }), ...(reason === undefined ? {} : { reason }) };
    try {
      if (this.#session !== undefined) await this.#command('session.close', payload);
    } finally {
      await this.disconnect();
    }
  };

  readonly disconnect = async (): Promise<void> => {
    this.#isLeaving = true;
    await this.#link.close();
    await this.#saveNow();
  };

  #start<R, T extends 'tool.invoke' | 'workflow.start' | 'agent.delegate'>(
    type: T,
    payload: PayloadOf<T>,
    { traceId, parentSpanId, signal }: Pick<InvokeOptions, 'traceId' | 'parentSpanId' | 'signal'>,
  ): LiveInvocation<R> {
    const id = newId('msg');
    const invocation = new LiveInvocation<R>(this.#host, id);
    this.#byCommand.set(id, invocation as LiveInvocation);
    if (signal?.aborted === true) {
      invocation.fail(signal.reason);
      this.#byCommand.delete(id);
      return invocation;
    }
    const stop = (): void => void invocation.cancel({ reason: 'aborted' }).catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    const leave = (): void => {
      signal?.removeEventListener('abort', stop);
      this.#byCommand.delete(id);
      if (invocation.jobId !== undefined) this.#byJob.delete(invocation.jobId);
    };
    invocation.result().then(leave, leave);
    this.#command(type, payload, { trace_id: traceId, parent_span_id: parentSpanId }, id).then(
      (answer) => invocation.accept(answer.type === 'job.accepted' ? answer.payload.job_id : undefined),
      (error: unknown) => invocation.fail(error),
    );
    return invocation;
  }

  readonly #cancel = async (invocation: LiveInvocation, { reason, deadlineMs }: CancelOptions): Promise<void> => {
    const jobId = await invocation.accepted;
    const payload = {
      ...(reason === undefined ? {} : { reason }),
      ...(deadlineMs === undefined ? {} : { deadline_ms: deadlineMs }),
      ...(jobId === undefined && invocation.id !== undefined ? { target_id: invocation.id } : {}),
    };
    await this.#command('cancel', payload, { job_id: jobId });
  };

  /** A reader cannot keep up: the sender is to wait, until it is told that it need not. */
  readonly #pressure = (streamId: string, isFull: boolean): void => {
    if (isFull) this.#full.add(streamId);
    else this.#full.delete(streamId);
    const payload = isFull ? { desired_rate_per_second: 0, buffer_remaining_bytes: 0, reason: 'slow_reader' } : {};
    this.#say('backpressure', payload, { stream_id: streamId });
  };

  readonly #host = { cancel: this.#cancel, pressure: this.#pressure };

  /** Sends a command, and sends it again on each new connection until it is answered. */
  #command<T extends MessageType>(
    type: T,
    payload: PayloadOf<T>,
    fields: Fields = {},
    id = newId('msg'),
  ): Promise<Envelope> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      const text = this.#text(type, payload, fields, id);
      const timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS;
      const fail = (error: unknown): void => {
        clearTimeout(late);
        this.#pending.delete(id);
        reject(error);
      };
      const late = setTimeout(
        () => fail(new ArcpError('DEADLINE_EXCEEDED', `The runtime did not answer the ${type} in ${timeoutMs} ms`)),
        timeoutMs,
      );
      const settle = (answer?: Envelope): void => {
        clearTimeout(late);
        this.#pending.delete(id);
        if (answer !== undefined) resolve(answer);
      };
      this.#pending.set(id, { text, settle, fail, isPassing: false });
      if (this.#isOpen) this.#link.send(text);
    });
  }

  #text<T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields, id = newId('msg')): string {
    const { job_id, stream_id, correlation_id, trace_id = newTraceId(), parent_span_id } = fields;
    const session_id = type === 'session.open' ? this.#sessionId : this.#session?.session_id;
    return printEnvelope({
      ...{ arcp: ARCP_VERSION, id, type, timestamp: timestampOf(Date.now()), source: 'client' },
      ...{ session_id, job_id, stream_id, trace_id, span_id: newSpanId(), parent_span_id, correlation_id },
      payload: payload as Record<string, unknown>,
    });
  }

  /** Says something that nobody answers. */
  #say<T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields = {}): void {
    if (this.#isOpen) this.#link.send(this.#text(type, payload, fields));
  }

  #openSession(): string {
    const { capabilities = CAPABILITIES, auth, mode, trust, client } = this.#options;
    this.#opening = newId('msg');
    const payload = {
      ...{ capabilities: { ...capabilities }, client: client ?? { kind: 'pegwire', version: ARCP_VERSION } },
      ...(auth === undefined ? {} : { auth: { ...auth } }),
      ...(mode === undefined ? {} : { mode }),
      ...(trust === undefined ? {} : { trust_level: trust }),
      ...(this.#resumeToken === undefined ? {} : { resume_token: this.#resumeToken }),
    };
    return this.#text('session.open', payload, {}, this.#opening);
  }

  #told(message: Envelope): void {
    const { type, id, correlation_id } = message;
    if (type === 'ping') {
      this.#say('pong', { ack_for: id, received_at: timestampOf(Date.now()) }, { correlation_id: id });
      return;
    }
    if (correlation_id !== undefined && correlation_id === this.#opening) this.#answered(message);
    else if (this.#seen.add(id)) this.#take(message);
  }

  /** What came of the wish to open a session. */
  #answered(message: Envelope): void {
    if (message.type === 'nack') {
      const error = ArcpError.fromBody(message.payload);
      // What passes is tried again, with the next connection.
      if (error.retryable && this.#options.reconnect !== false) this.#link.drop();
      else void this.#link.close(error);
      return;
    }
    if (message.type !== 'session.accepted') return;
    const isTakenUp = this.#sessionId === message.payload.session_id;
    this.#session = message.payload;
    this.#sessionId = message.payload.session_id;
    this.#resumeToken = message.payload.resume_token;
    this.#isOpen = true;
    this.#link.settle(this.#options.heartbeatMs ?? message.payload.heartbeat_interval_seconds * 1000);
    if (isTakenUp) this.#resume(this.#lastMessageId);
    for (const { text, isPassing } of this.#pending.values()) if (!isPassing) this.#link.send(text);
    // The runtime has forgotten it with the connection.
    for (const streamId of this.#full) this.#pressure(streamId, true);
    this.#changed();
    this.#open();
  }

  #resume(after: string | undefined): void {
    const payload = after === undefined ? {} : { after_message_id: after };
    this.#once('resume', payload, {}, (error) => {
      // It may have been no message that the runtime keeps: what was seen is known here, too.
      if (after !== undefined && (error.code === 'NOT_FOUND' || error.code === 'DATA_LOSS')) this.#resume(undefined);
      if (error.code !== 'NOT_FOUND') this.#tell(error);
    });
    for (const jobId of this.#attached) {
      const seen = this.#byJob.get(jobId)?.lastMessageId;
      if (seen !== undefined)
        this.#once('resume', { after_message_id: seen }, { job_id: jobId }, (error) => this.#tell(error));
    }
  }

  /** A command of this connection alone: on another one it is said anew. */
  #once<T extends MessageType>(
    type: T,
    payload: PayloadOf<T>,
    fields: Fields,
    failed: (error: ArcpError) => void,
  ): void {
    const id = newId('msg');
    const text = this.#text(type, payload, fields, id);
    const forget = (): void => void this.#pending.delete(id);
    const late = setTimeout(forget, TIMEOUT_MS);
    const settle = (): void => {
      clearTimeout(late);
      forget();
    };
    this.#pending.set(id, {
      ...{ text, settle, isPassing: true },
      fail: (error) => {
        settle();
        if (error instanceof ArcpError) failed(error);
      },
    });
    this.#link.send(text);
  }

  #take(message: Envelope): void {
    const { type, correlation_id, job_id } = message;
    if (!PASSING.has(type)) {
      this.#lastMessageId = message.id;
      this.#changed();
    }
    if (message.type === 'permission.request') void this.#permit(message);
    if (message.type === 'job.accepted') this.#begun(message);
    const pending = correlation_id === undefined ? undefined : this.#pending.get(correlation_id);
    if (pending !== undefined && message.type === 'nack') pending.fail(ArcpError.fromBody(message.payload));
    else pending?.settle(message);
    const ofJob = job_id === undefined ? undefined : this.#byJob.get(job_id);
    const ofCommand = correlation_id === undefined ? undefined : this.#byCommand.get(correlation_id);
    if (type !== 'ack' && type !== 'nack' && type !== 'pong') (ofCommand ?? ofJob)?.take(message);
    safely(() => this.#options.onMessage?.(message));
  }

  #begun({ correlation_id, payload }: Envelope<'job.accepted'>): void {
    const invocation = correlation_id === undefined ? undefined : this.#byCommand.get(correlation_id);
    if (invocation !== undefined) this.#byJob.set(payload.job_id, invocation);
  }

  async #permit(request: Envelope<'permission.request'>): Promise<void> {
    const fields = { job_id: request.job_id, correlation_id: request.id };
    try {
      const answer = await this.#options.onPermission?.(request);
      const { decision = 'deny', ...payload } = answer ?? { reason: 'Nobody answers requests here' };
      if (decision === 'grant') this.#say('permission.grant', payload, fields);
      else this.#say('permission.deny', payload, fields);
    } catch (error) {
      this.#tell(error);
      this.#say('permission.deny', { reason: 'The request could not be judged' }, fields);
    }
  }

  #over(error: unknown): void {
    this.#isOpen = false;
    const why =
      error ?? new ArcpError('UNAVAILABLE', this.#isLeaving ? 'The client was closed' : 'The connection has ended');
    this.#end = why;
    for (const { fail } of [...this.#pending.values()]) fail(why);
    for (const invocation of [...this.#byCommand.values(), ...this.#byJob.values()]) invocation.fail(why);
    this.#refuse(why);
    this.#close(error);
  }

  #tell(error: unknown): void {
    safely(() => this.#options.onError?.(error));
  }

  /** The cursor has moved: it is kept soon. */
  #changed(): void {
    if (this.#options.cursor === undefined || this.#save !== undefined) return;
    this.#save = setTimeout(() => void this.#saveNow(), SAVE_EVERY);
  }

  async #saveNow(): Promise<void> {
    clearTimeout(this.#save);
    this.#save = undefined;
    if (this.#options.cursor === undefined || this.#sessionId === undefined) return;
    const cursor = { sessionId: this.#sessionId, resumeToken: this.#resumeToken, lastMessageId: this.#lastMessageId };
    try {
      await this.#options.cursor.save(cursor);
    } catch (error) {
      this.#tell(error);
    }
  }
}

/** What all that is started may say of how it is carried out. */
function work({ operationKey, timeoutMs, retry }: Pick<InvokeOptions, 'operationKey' | 'timeoutMs' | 'retry'>) {
  return {
    ...(operationKey === undefined ? {} : { operation_key: operationKey }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
  };
}
