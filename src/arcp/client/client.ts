/** A client of a runtime: its calls, and its session, which outlives connections. */

import { assertDurations } from '../../async/durations.js';
import { deferred, notifyListener } from '../../async/listeners.js';
import type { MessageType, PayloadOf } from '../protocol/catalogue.js';
import { assertReadable, type EnvelopeError, MAX_DEPTH, type MessageLimits, printEnvelope } from '../protocol/codec.js';
import { storableMs } from '../protocol/durations.js';
import { ARCP_VERSION, type Envelope, SUPPORTED_VERSIONS } from '../protocol/envelope.js';
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { formatTimestamp, newId, newSpanId, newTraceId } from '../protocol/ids.js';
import { assertJson } from '../protocol/json.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { StreamOptions, StreamWriter } from '../streams/content.js';
import { backpressureOf } from '../streams/writer.js';
import { answeredId, Commands, type Fields } from './commands.js';
import { Connection } from './connection.js';
import { CursorWriter } from './cursor.js';
import { Invocations, type LiveInvocation, SeenIds } from './invocations.js';
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
const HANDSHAKE_HEARTBEAT_MS = 15_000;

/**
 * Opens a connection and a session, or resumes one.
 *
 * @throws ArcpError the refusal of the session; `DEADLINE_EXCEEDED` with the last error as cause if no session is open after `timeoutMs`
 * @throws TypeError if an option is invalid
 * @throws the error of `dial` if `reconnect` is `false` or its attempts are used up
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
  readonly #connection: Connection;
  readonly #seen = new SeenIds();
  readonly #commands: Commands;
  readonly #invocations: Invocations;
  readonly #cursor: CursorWriter;
  readonly #uploads = new ClientUploads({
    send: (type, payload, fields) => this.#sendIfOpen(type, payload, fields),
    drained: () => this.#connection.drained(),
  });
  readonly #pausedStreams = new Set<string>();
  #session: SessionInfo | undefined;
  #openId: string | undefined;
  #limits: MessageLimits = UNLIMITED;
  #isOpen = false;
  #isClosing = false;
  /** `true` if the runtime ended the connection, and with it the session, instead of answering `session.close`. */
  #hasSessionEnded = false;
  readonly #opened = deferred();
  readonly opened = this.#opened.promise;
  readonly #closed = deferred<unknown>();
  readonly closed = this.#closed.promise;

  constructor(dial: Dial, options: ClientOptions, cursor: Cursor | undefined) {
    this.#options = options;
    const { reconnect = {}, timeoutMs = TIMEOUT_MS } = options;
    this.#cursor = new CursorWriter(options.cursor, cursor, (error) => this.#report(error));
    this.#commands = new Commands({ timeoutMs, print: this.#print, send: (text) => this.#send(text) });
    this.#invocations = new Invocations({
      cancel: this.#cancel,
      onPressure: this.#sendBackpressure,
      upload: this.#upload,
    });
    this.#connection = new Connection({
      dial,
      reconnect,
      handshakeHeartbeatMs: options.heartbeatMs ?? HANDSHAKE_HEARTBEAT_MS,
      openTimeoutMs: timeoutMs,
      onMessage: (message) => this.#receive(message),
      onUnreadable: (error) => this.#onInvalid(error),
      ping: () => this.#sendIfOpen('ping', { sent_at: formatTimestamp(Date.now()) }),
      opened: (send) => send(this.#openSession()),
      lost: () => {
        this.#isOpen = false;
        this.#commands.disconnect();
        this.#uploads.disconnect();
        // A session that cannot be resumed ends with its connection.
        if (!this.#isClosing || this.#cursor.position.resumeToken !== undefined) return;
        this.#hasSessionEnded = true;
        void this.#connection.close();
      },
      closed: (error) => this.#onClosed(error),
    });
    void this.#connection.connect();
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
    await this.#commands.send('ping', { sent_at: formatTimestamp(Date.now()) });
    return performance.now() - from;
  };

  readonly close: Client['close'] = async ({ jobs, reason } = {}) => {
    this.#isClosing = true;
    try {
      if (this.#session !== undefined) await this.#commands.send('session.close', { jobs, reason });
    } catch (error) {
      if (!this.#hasSessionEnded) throw error;
    } finally {
      await this.disconnect();
    }
  };

  readonly disconnect = async (): Promise<void> => {
    this.#isClosing = true;
    await this.#connection.close();
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
    this.#commands.send(type, payload, { trace_id: traceId, parent_span_id: parentSpanId }, id).then(
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
      await this.#commands.send('resume', {}, { job_id: jobId });
      invocation.accept(jobId);
      invocation.endCatchUp();
    } catch (error) {
      invocation.fail(error);
    }
  }

  readonly #cancel = async (invocation: LiveInvocation, { reason, deadlineMs }: CancelOptions): Promise<void> => {
    assertDurations({ deadlineMs }, 0);
    const jobId = await invocation.accepted;
    const target_id = jobId === undefined ? invocation.id : undefined;
    await this.#commands.send('cancel', { reason, deadline_ms: storableMs(deadlineMs), target_id }, { job_id: jobId });
  };

  readonly #sendBackpressure = (streamId: string, isFull: boolean): void => {
    if (isFull) this.#pausedStreams.add(streamId);
    else this.#pausedStreams.delete(streamId);
    this.#sendIfOpen('backpressure', backpressureOf(isFull), { stream_id: streamId });
  };

  readonly #upload = <K extends StreamKind>(invocation: LiveInvocation, options: StreamOptions<K>): StreamWriter<K> => {
    if (!this.#isOpen)
      throw new ArcpError('UNAVAILABLE', 'The client is not connected; open the stream after it has reconnected');
    const { jobId, id } = invocation;
    return this.#uploads.open(jobId === undefined ? { correlation_id: id } : { job_id: jobId }, options);
  };

  readonly #print = <T extends MessageType>(
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
    if (this.#isOpen) this.#connection.send(text);
  }

  #sendIfOpen<T extends MessageType>(type: T, payload: PayloadOf<T>, fields: Fields = {}): void {
    if (this.#isOpen) this.#send(this.#print(type, payload, fields));
  }

  #openSession(): string {
    const { capabilities = CAPABILITIES, auth, mode, trust, client } = this.#options;
    this.#openId = newId('msg');
    const payload = {
      versions: [...SUPPORTED_VERSIONS],
      capabilities: { ...capabilities },
      client: client ?? { kind: 'pegwire', version: ARCP_VERSION },
      auth: auth && { ...auth },
      mode,
      trust_level: trust,
      resume_token: this.#cursor.position.resumeToken,
      limits: { max_message_bytes: this.#connection.maxTextBytes, max_depth: MAX_DEPTH },
    };
    return this.#print('session.open', payload, {}, this.#openId);
  }

  #receive(message: Envelope): void {
    const { type, id } = message;
    const answered = answeredId(message);
    if (type === 'ping')
      this.#sendIfOpen('pong', { ack_for: id, received_at: formatTimestamp(Date.now()) }, { correlation_id: id });
    else if (answered !== undefined && answered === this.#openId) this.#onSessionAnswer(message);
    else this.#handle(message, this.#seen.add(id));
  }

  /** Handles an invalid message: calls that wait for it fail, and the runtime receives a refusal if the message has an id. */
  #onInvalid(error: EnvelopeError): void {
    this.#report(error);
    const { id, type = '', correlation_id, job_id, stream_id } = error.header;
    if (correlation_id !== undefined && correlation_id === this.#openId) return void this.#connection.close(error);
    if (correlation_id !== undefined) this.#commands.refuse(correlation_id, error);
    this.#invocations.refuse({ type, correlation_id, job_id, stream_id }, error);
    if (id === undefined || type === 'nack' || type === 'ack') return;
    const { code, message } = error;
    const fields = { job_id, correlation_id: id };
    if (type === 'permission.request') void this.#deny(`The permission request is invalid: ${message}`, fields);
    else this.#sendIfOpen('nack', { nack_for: id, code, message }, fields);
  }

  #onSessionAnswer(message: Envelope): void {
    if (message.type === 'nack') {
      const error = ArcpError.fromBody(message.payload);
      // After a retryable error, the client tries again on another connection.
      if (error.retryable && this.#options.reconnect !== false) this.#connection.drop();
      else void this.#connection.close(error);
      return;
    }
    if (message.type !== 'session.accepted') return;
    const { session_id: sessionId, resume_token: resumeToken } = message.payload;
    const isResumed = this.#cursor.position.sessionId === sessionId;
    this.#session = message.payload;
    this.#cursor.update({ sessionId, resumeToken });
    this.#limit(message.payload.limits);
    this.#isOpen = true;
    const { heartbeat_interval_seconds: interval } = message.payload;
    this.#connection.sessionOpened(
      this.#options.heartbeatMs ?? (interval === undefined ? HANDSHAKE_HEARTBEAT_MS : interval * 1000),
    );
    if (isResumed) this.#resume(this.#cursor.position.lastMessageId);
    this.#commands.resend();
    // The runtime has forgotten the backpressure with the connection.
    for (const streamId of this.#pausedStreams) this.#sendBackpressure(streamId, true);
    this.#opened.resolve();
  }

  #limit({ max_message_bytes, max_depth }: NonNullable<SessionInfo['limits']> = {}): void {
    const { maxMessageBytes, maxDepth } = UNLIMITED;
    this.#limits = { maxMessageBytes: max_message_bytes ?? maxMessageBytes, maxDepth: max_depth ?? maxDepth };
    this.#commands.recheck((text) => assertReadable(text, 'command', this.#limits));
  }

  #resume(after: string | undefined): void {
    this.#commands.once('resume', { after_message_id: after }, {}, (error) => {
      // The runtime may not store the message. The client drops messages that it has already received.
      if (after !== undefined && (error.code === 'NOT_FOUND' || error.code === 'DATA_LOSS')) this.#resume(undefined);
      if (error.code !== 'NOT_FOUND') this.#onNotResumed(error);
    });
    for (const { jobId, after: seen } of this.#invocations.attached())
      this.#commands.once('resume', { after_message_id: seen }, { job_id: jobId }, (error) =>
        this.#onNotResumed(error),
      );
  }

  /** Handles the refusal of a resumption, without which the runtime sends nothing. After a retryable error, the client resumes on another connection. */
  #onNotResumed(error: ArcpError): void {
    this.#report(error);
    if (error.retryable && this.#options.reconnect !== false) this.#connection.drop();
  }

  #handle(message: Envelope, isNew: boolean): void {
    if (this.#uploads.handle(message)) return;
    if (isNew) {
      if (message.type === 'nack' && message.payload.nack_for === undefined)
        this.#onUnnamedRefusal(message.payload.details);
      this.#cursor.advance(message);
      if (message.type === 'permission.request') void this.#answerPermission(message);
      this.#commands.handle(message);
    }
    this.#invocations.handle(message, isNew);
    if (isNew) notifyListener(() => this.#options.onMessage?.(message));
  }

  /** Handles a refusal without an id. It may mean that a command is too long, which must not be resent. */
  #onUnnamedRefusal(details: Readonly<Record<string, unknown>> | undefined): void {
    const limit = details?.['max_message_bytes'];
    if (typeof limit === 'number')
      this.#limit({ max_message_bytes: limit, max_depth: this.#session?.limits?.max_depth });
  }

  async #answerPermission(request: Envelope<'permission.request'>): Promise<void> {
    const fields = { job_id: request.job_id, correlation_id: request.id };
    let answer: PermissionAnswer = { decision: 'deny', reason: 'The client has no onPermission handler' };
    try {
      answer = (await this.#options.onPermission?.(request)) ?? answer;
    } catch (error) {
      this.#report(error);
      answer = { decision: 'deny', reason: 'The onPermission handler of the client failed' };
    }
    const { decision, ...payload } = answer;
    const type = decision === 'grant' ? 'permission.grant' : 'permission.deny';
    try {
      assertJson(payload, `the ${type}`);
      await this.#commands.send(type, payload, fields);
    } catch (error) {
      this.#report(error);
      const { code, message } = asArcpError(error);
      // Without an answer, the job would wait until the request expires.
      if (code === 'INVALID_ARGUMENT' || code === 'PAYLOAD_TOO_LARGE')
        await this.#deny(`The answer of the client is invalid: ${message}`, fields);
    }
  }

  async #deny(reason: string, fields: Fields): Promise<void> {
    await this.#commands.send('permission.deny', { reason }, fields).catch((thrown) => this.#report(thrown));
  }

  #onClosed(error: unknown): void {
    this.#isOpen = false;
    const reason =
      error ?? new ArcpError('UNAVAILABLE', this.#isClosing ? 'The client was closed' : 'The connection has ended');
    this.#commands.end(reason);
    this.#invocations.lose(reason);
    this.#opened.reject(reason);
    this.#closed.resolve(error);
  }

  #report(error: unknown): void {
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
