/** A client of a runtime: calls, what is said of them, and a session that outlives its connections. */
import { deferred, notifyListener } from '../../async/listeners.js';
import type { MessageType, PayloadOf } from '../protocol/catalogue.js';
import { assertReadable, type EnvelopeError, MAX_DEPTH, type MessageLimits, printEnvelope } from '../protocol/codec.js';
import { assertDurations, storableMs } from '../protocol/durations.js';
import { ARCP_VERSION, type Envelope, SUPPORTED_VERSIONS } from '../protocol/envelope.js';
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { formatTimestamp, newId, newSpanId, newTraceId } from '../protocol/ids.js';
import { assertJson } from '../protocol/json.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { StreamOptions, StreamWriter } from '../streams/content.js';
import { pressureOf } from '../streams/writer.js';
import { answeredId, Commands, type Fields } from './commands.js';
import { CursorWriter } from './cursor.js';
import { Invocations, type LiveInvocation, SeenIds } from './invocations.js';
import { Link } from './link.js';
import type {
  CancelOptions,
  Client,
  ClientOptions,
  Cursor,
  Dial,
  InvokeOptions,
  PermissionAnswer,
  SessionInfo,
} from './types.js';
import { ClientUploads } from './uploads.js';

const CAPABILITIES = {
  streaming: true,
  durable_jobs: true,
  checkpoints: true,
  binary_streams: true,
  agent_handoff: true,
};

const UNLIMITED = { maxMessageBytes: Number.POSITIVE_INFINITY, maxDepth: Number.POSITIVE_INFINITY };

const TIMEOUT_MS = 60_000;
const HANDSHAKE_MS = 15_000;

/**
 * Opens a connection and a session, or resumes one.
 *
 * @throws ArcpError the refusal of the session; `DEADLINE_EXCEEDED` with the last error as cause if there is none after `timeoutMs`
 * @throws the error of `dial` if it does not reconnect
 */
export async function openClient(dial: Dial, options: ClientOptions = {}): Promise<Client> {
  if (typeof dial !== 'function') throw new TypeError(`dial must be a function; got ${String(dial)}`);
  assertOptions(options);
  const cursor = await options.cursor?.load();
  const client = new SessionClient(dial, options, cursor);
  await client.opened;
  return client;
}

function assertOptions({ timeoutMs, heartbeatMs, reconnect }: ClientOptions): void {
  assertDurations({ timeoutMs, heartbeatMs });
  if (reconnect === undefined || reconnect === false) return;
  const { minDelayMs, maxDelayMs, maxAttempts } = reconnect;
  assertDurations({ minDelayMs, maxDelayMs }, 0);
  if (maxAttempts !== undefined && !(maxAttempts >= 0))
    throw new TypeError(`maxAttempts must be a non-negative number or Infinity; got ${maxAttempts}`);
}

class SessionClient implements Client {
  readonly #options: ClientOptions;
  readonly #link: Link;
  readonly #seen = new SeenIds();
  readonly #commands: Commands;
  readonly #invocations: Invocations;
  readonly #cursor: CursorWriter;
  readonly #uploads = new ClientUploads({
    say: (type, payload, fields) => this.#say(type, payload, fields),
    drained: () => this.#link.drained(),
  });
  readonly #full = new Set<string>();
  #session: SessionInfo | undefined;
  #opening: string | undefined;
  #limits: MessageLimits = UNLIMITED;
  #isOpen = false;
  #isLeaving = false;
  /** The runtime ended the connection, and the session with it, instead of answering `session.close`. */
  #hasEndedBoth = false;
  readonly #opened = deferred();
  readonly opened = this.#opened.promise;
  readonly #closed = deferred<unknown>();
  readonly closed = this.#closed.promise;

  constructor(dial: Dial, options: ClientOptions, cursor: Cursor | undefined) {
    this.#options = options;
    const { reconnect = {}, timeoutMs = TIMEOUT_MS } = options;
    this.#cursor = new CursorWriter(options.cursor, cursor, (error) => this.#tell(error));
    this.#commands = new Commands({ timeoutMs, print: this.#text, send: (text) => this.#send(text) });
    this.#invocations = new Invocations({ cancel: this.#cancel, pressure: this.#pressure, upload: this.#upload });
    this.#link = new Link({
      dial,
      reconnect,
      handshakeMs: options.heartbeatMs ?? HANDSHAKE_MS,
      openWithinMs: timeoutMs,
      onMessage: (message) => this.#told(message),
      onUnreadable: (error) => this.#refused(error),
      ask: () => this.#say('ping', { sent_at: formatTimestamp(Date.now()) }),
      opened: (send) => send(this.#openSession()),
      lost: () => {
        this.#isOpen = false;
        this.#commands.lost();
        this.#uploads.lost();
        // A session that cannot be resumed has ended with its connection.
        if (!this.#isLeaving || this.#cursor.position.resumeToken !== undefined) return;
        this.#hasEndedBoth = true;
        void this.#link.close();
      },
      closed: (error) => this.#over(error),
    });
    void this.#link.connect();
  }

  get session(): SessionInfo {
    return this.#session!;
  }

  readonly invoke: Client['invoke'] = (tool, args, options = {}) => {
    const payload = { tool, arguments: args && { ...args }, mode: options.mode, ...limitsOf(options) };
    return this.#start('tool.invoke', payload, options);
  };

  readonly startWorkflow: Client['startWorkflow'] = (workflow, inputs, options = {}) => {
    const payload = { workflow, inputs: inputs && { ...inputs }, ...limitsOf(options), steps: options.steps };
    return this.#start('workflow.start', payload, options);
  };

  readonly delegate: Client['delegate'] = (target, task, options = {}) => {
    const { arguments: args, context } = options;
    const payload = { target, task, arguments: args && { ...args }, context, ...limitsOf(options) };
    return this.#start('agent.delegate', payload, options);
  };

  readonly job: Client['job'] = (jobId) => {
    const invocation = this.#invocations.attach(jobId);
    void this.#catchUp(invocation, jobId);
    return invocation;
  };

  readonly ping = async (): Promise<number> => {
    const from = performance.now();
    await this.#commands.ask('ping', { sent_at: formatTimestamp(Date.now()) });
    return performance.now() - from;
  };

  readonly close: Client['close'] = async ({ jobs, reason } = {}) => {
    this.#isLeaving = true;
    try {
      if (this.#session !== undefined) await this.#commands.ask('session.close', { jobs, reason });
    } catch (error) {
      if (!this.#hasEndedBoth) throw error;
    } finally {
      await this.disconnect();
    }
  };

  readonly disconnect = async (): Promise<void> => {
    this.#isLeaving = true;
    await this.#link.close();
    await this.#cursor.saveNow();
  };

  #start<T extends 'tool.invoke' | 'workflow.start' | 'agent.delegate'>(
    type: T,
    payload: PayloadOf<T>,
    { traceId, parentSpanId, signal }: Pick<InvokeOptions, 'traceId' | 'parentSpanId' | 'signal'>,
  ): LiveInvocation {
    const id = newId('msg');
    const invocation = this.#invocations.begin(id);
    try {
      signal?.throwIfAborted();
      assertJson(payload, `the ${type}`);
    } catch (error) {
      invocation.fail(error);
      this.#invocations.leave(invocation);
      return invocation;
    }
    const stop = (): void => void invocation.cancel({ reason: 'aborted' }).catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    const leave = (): void => {
      signal?.removeEventListener('abort', stop);
      this.#invocations.leave(invocation);
    };
    invocation.result().then(leave, leave);
    this.#commands.ask(type, payload, { trace_id: traceId, parent_span_id: parentSpanId }, id).then(
      (answer) => {
        if (answer.type !== 'job.accepted') return invocation.accept(undefined);
        const { job_id: jobId = answer.job_id, duplicate } = answer.payload;
        invocation.accept(jobId);
        if (jobId === undefined || duplicate !== true) return;
        this.#invocations.follow(invocation, jobId);
        void this.#catchUp(invocation, jobId);
      },
      (error: unknown) => invocation.fail(error),
    );
    return invocation;
  }

  async #catchUp(invocation: LiveInvocation, jobId: string): Promise<void> {
    try {
      await this.#commands.ask('resume', {}, { job_id: jobId });
      invocation.accept(jobId);
      invocation.caughtUp();
    } catch (error) {
      invocation.fail(error);
    }
  }

  readonly #cancel = async (invocation: LiveInvocation, { reason, deadlineMs }: CancelOptions): Promise<void> => {
    assertDurations({ deadlineMs }, 0);
    const jobId = await invocation.accepted;
    const target_id = jobId === undefined ? invocation.id : undefined;
    await this.#commands.ask('cancel', { reason, deadline_ms: storableMs(deadlineMs), target_id }, { job_id: jobId });
  };

  readonly #pressure = (streamId: string, isFull: boolean): void => {
    if (isFull) this.#full.add(streamId);
    else this.#full.delete(streamId);
    this.#say('backpressure', pressureOf(isFull), { stream_id: streamId });
  };

  readonly #upload = <K extends StreamKind>(invocation: LiveInvocation, options: StreamOptions<K>): StreamWriter<K> => {
    if (!this.#isOpen) throw new ArcpError('UNAVAILABLE', 'There is no connection at the moment');
    const { jobId, id } = invocation;
    return this.#uploads.open(jobId === undefined ? { correlation_id: id } : { job_id: jobId }, options);
  };

  readonly #text = <T extends MessageType>(
    type: T,
    payload: PayloadOf<T>,
    fields: Fields,
    id: string = newId('msg'),
  ): string => {
    const { job_id, stream_id, correlation_id, trace_id = newTraceId(), parent_span_id } = fields;
    const session_id = type === 'session.open' ? this.#cursor.position.sessionId : this.#session?.session_id;
    const text = printEnvelope({
      arcp: ARCP_VERSION,
      id,
      type,
      timestamp: formatTimestamp(Date.now()),
      source: 'client',
      session_id,
      job_id,
      stream_id,
      trace_id,
      span_id: newSpanId(),
      parent_span_id,
      correlation_id,
      payload: payload as Record<string, unknown>,
    });
    assertReadable(text, type, this.#limits);
    return text;
  };

  #send(text: string): void {
    if (this.#isOpen) this.#link.send(text);
  }

  #say<T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields = {}): void {
    if (this.#isOpen) this.#send(this.#text(type, payload, fields));
  }

  #openSession(): string {
    const { capabilities = CAPABILITIES, auth, mode, trust, client } = this.#options;
    this.#opening = newId('msg');
    const payload = {
      versions: [...SUPPORTED_VERSIONS],
      capabilities: { ...capabilities },
      client: client ?? { kind: 'pegwire', version: ARCP_VERSION },
      auth: auth && { ...auth },
      mode,
      trust_level: trust,
      resume_token: this.#cursor.position.resumeToken,
      limits: { max_message_bytes: this.#link.maxTextBytes, max_depth: MAX_DEPTH },
    };
    return this.#text('session.open', payload, {}, this.#opening);
  }

  #told(message: Envelope): void {
    const { type, id } = message;
    const answered = answeredId(message);
    if (type === 'ping')
      this.#say('pong', { ack_for: id, received_at: formatTimestamp(Date.now()) }, { correlation_id: id });
    else if (answered !== undefined && answered === this.#opening) this.#answered(message);
    else this.#take(message, this.#seen.add(id));
  }

  /** Handles a message that cannot be read: what waits for it fails, and the runtime gets an answer if the message has an id. */
  #refused(error: EnvelopeError): void {
    this.#tell(error);
    const { id, type = '', correlation_id, job_id, stream_id } = error.header;
    if (correlation_id !== undefined && correlation_id === this.#opening) return void this.#link.close(error);
    if (correlation_id !== undefined) this.#commands.refuse(correlation_id, error);
    this.#invocations.refuse({ type, correlation_id, job_id, stream_id }, error);
    if (id === undefined || type === 'nack' || type === 'ack') return;
    const { code, message } = error;
    const fields = { job_id, correlation_id: id };
    if (type === 'permission.request') void this.#deny(`The request could not be read: ${message}`, fields);
    else this.#say('nack', { nack_for: id, code, message }, fields);
  }

  #answered(message: Envelope): void {
    if (message.type === 'nack') {
      const error = ArcpError.fromBody(message.payload);
      // A retryable error is retried with the next connection.
      if (error.retryable && this.#options.reconnect !== false) this.#link.drop();
      else void this.#link.close(error);
      return;
    }
    if (message.type !== 'session.accepted') return;
    const { session_id: sessionId, resume_token: resumeToken } = message.payload;
    const isTakenUp = this.#cursor.position.sessionId === sessionId;
    this.#session = message.payload;
    this.#cursor.update({ sessionId, resumeToken });
    this.#limit(message.payload.limits);
    this.#isOpen = true;
    const { heartbeat_interval_seconds: interval } = message.payload;
    this.#link.sessionOpened(this.#options.heartbeatMs ?? (interval === undefined ? HANDSHAKE_MS : interval * 1000));
    if (isTakenUp) this.#resume(this.#cursor.position.lastMessageId);
    this.#commands.sendAgain();
    // The runtime forgets it with the connection.
    for (const streamId of this.#full) this.#pressure(streamId, true);
    this.#opened.resolve();
  }

  #limit({ max_message_bytes, max_depth }: NonNullable<SessionInfo['limits']> = {}): void {
    const { maxMessageBytes, maxDepth } = UNLIMITED;
    this.#limits = { maxMessageBytes: max_message_bytes ?? maxMessageBytes, maxDepth: max_depth ?? maxDepth };
    this.#commands.recheck((text) => assertReadable(text, 'command', this.#limits));
  }

  #resume(after: string | undefined): void {
    this.#commands.once('resume', { after_message_id: after }, {}, (error) => {
      // It may be a message that the runtime does not store; the client filters what it has seen.
      if (after !== undefined && (error.code === 'NOT_FOUND' || error.code === 'DATA_LOSS')) this.#resume(undefined);
      if (error.code !== 'NOT_FOUND') this.#tell(error);
    });
    for (const { jobId, after: seen } of this.#invocations.attached())
      this.#commands.once('resume', { after_message_id: seen }, { job_id: jobId }, (error) => this.#tell(error));
  }

  #take(message: Envelope, isNew: boolean): void {
    if (this.#uploads.take(message)) return;
    if (isNew) {
      if (message.type === 'nack' && message.payload.nack_for === undefined) this.#unnamed(message.payload.details);
      this.#cursor.passed(message);
      if (message.type === 'permission.request') void this.#permit(message);
      this.#commands.take(message);
    }
    this.#invocations.take(message, isNew);
    if (isNew) notifyListener(() => this.#options.onMessage?.(message));
  }

  /** The runtime refused a message whose id it could not read: a command that is too long must not be sent again. */
  #unnamed(details: Readonly<Record<string, unknown>> | undefined): void {
    const limit = details?.['max_message_bytes'];
    if (typeof limit === 'number')
      this.#limit({ max_message_bytes: limit, max_depth: this.#session?.limits?.max_depth });
  }

  async #permit(request: Envelope<'permission.request'>): Promise<void> {
    const fields = { job_id: request.job_id, correlation_id: request.id };
    let answer: PermissionAnswer = { decision: 'deny', reason: 'Nobody answers requests here' };
    try {
      answer = (await this.#options.onPermission?.(request)) ?? answer;
    } catch (error) {
      this.#tell(error);
      answer = { decision: 'deny', reason: 'The request could not be judged' };
    }
    const { decision, ...payload } = answer;
    const type = decision === 'grant' ? 'permission.grant' : 'permission.deny';
    try {
      assertJson(payload, `the ${type}`);
      await this.#commands.ask(type, payload, fields);
    } catch (error) {
      this.#tell(error);
      const { code, message } = asArcpError(error);
      // Without an answer, the work would wait until the request expires.
      if (code === 'INVALID_ARGUMENT' || code === 'PAYLOAD_TOO_LARGE')
        await this.#deny(`The answer to the request is not valid: ${message}`, fields);
    }
  }

  async #deny(reason: string, fields: Fields): Promise<void> {
    await this.#commands.ask('permission.deny', { reason }, fields).catch((thrown) => this.#tell(thrown));
  }

  #over(error: unknown): void {
    this.#isOpen = false;
    const why =
      error ?? new ArcpError('UNAVAILABLE', this.#isLeaving ? 'The client was closed' : 'The connection has ended');
    this.#commands.end(why);
    this.#invocations.lose(why);
    this.#opened.reject(why);
    this.#closed.resolve(error);
  }

  #tell(error: unknown): void {
    notifyListener(() => this.#options.onError?.(error));
  }
}

function limitsOf({ operationKey, timeoutMs, retry }: Pick<InvokeOptions, 'operationKey' | 'timeoutMs' | 'retry'>) {
  return {
    operation_key: operationKey,
    timeout_ms: timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs,
    retry,
  };
}
