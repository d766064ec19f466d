/** Commands that wait in NATS JetStream until a runtime executes them. */
import { assertDurations } from '../../async/durations.js';
import { deferred, notifyListener } from '../../async/listeners.js';
import { ConnectionError } from '../../channels/errors.js';
import type { NatsOptions } from '../../channels/node/nats.js';
import { sha256Hex } from '../../text/sha256.js';
import { systemReason } from '../../text/system-reason.js';
import { parseEnvelope, tryParseEnvelope } from '../protocol/codec.js';
import { ARCP_VERSION, type Envelope } from '../protocol/envelope.js';
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { formatTimestamp, newId } from '../protocol/ids.js';
import type { Runtime } from '../runtime/runtime.js';
import { type JetStream, type JsManager, type JsMessage, openJetStream } from './jetstream.js';
import { type QueueName, subjectOf } from './listen.js';
import { type Answer, type Submission, submit } from './submit.js';

/** The types of the commands that can wait. */
const TYPES = ['tool.invoke', 'workflow.start', 'agent.delegate'] as const;
const CONSUMER = 'runtimes';
const NANOSECONDS_PER_MS = 1e6;
/** Milliseconds for which NATS recognizes a repeated id; the runtime recognizes it as long as the command is stored. */
const DEDUPLICATION_MS = 120_000;
/** The number of messages that one runtime executes at the same time. */
const CONCURRENCY = 32;
/** Ids that can be part of a subject. */
const ANSWERABLE = /^[A-Za-z0-9_-]+$/;

/** A command that starts a tool, a workflow or an agent. */
export interface WaitingCommand {
  /** The type of the command. */
  readonly type: (typeof TYPES)[number];
  /** Its payload, as in the message of this type. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The id, by which NATS and the runtime recognize a repetition. @default a new one */
  readonly id?: string | undefined;
}

/** Options of {@link openNatsOutbox}. */
export interface NatsOutboxOptions extends NatsOptions, QueueName {
  /** The bearer token, with which the runtime identifies the sender. It is stored with the command. @default none */
  readonly token?: string | undefined;
}

/** A sender of commands that wait. */
export interface NatsOutbox {
  /**
   * Stores a command. Resolves with its id when NATS has stored it.
   *
   * @throws ArcpError `INVALID_ARGUMENT` if it is not such a command; `UNAVAILABLE` if NATS does not store it
   */
  readonly enqueue: (command: WaitingCommand) => Promise<string>;
  /** Closes the connection. */
  readonly close: () => Promise<void>;
}

/** Options of {@link serveNatsInbox}. */
export interface NatsInboxOptions extends NatsOptions, QueueName {
  /** The number of deliveries after which a command that was not accepted becomes a dead letter. @default 5 */
  readonly maxDeliveries?: number | undefined;
  /** Milliseconds before a command is delivered again after a retryable refusal. @default 1000 */
  readonly retryDelayMs?: number | undefined;
  /** Milliseconds in which a runtime must accept a command; then it is delivered again, perhaps to another one. @default 30000 */
  readonly ackWaitMs?: number | undefined;
  /** Receives errors of the connection, and refusals that make a command a dead letter. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A runtime that executes commands that waited. */
export interface NatsInbox {
  /** Takes no more commands. Resolves when those that were taken are answered. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a sender of commands that wait while no runtime is up. A runtime that calls {@link serveNatsInbox} executes each as a durable job of the
 * principal that its `auth` option finds for the token. The answer is also published to `PREFIX.NAME.answers.ID`, once and without a guarantee;
 * the same command with the same id in a session returns it as well.
 *
 * @throws ConnectionError `no-package` without `@nats-io/transport-node` or `@nats-io/jetstream`; `closed` if NATS cannot be reached
 * @throws TypeError if the name is invalid
 */
export async function openNatsOutbox(options: NatsOutboxOptions = {}): Promise<NatsOutbox> {
  const subject = subjectOf(options);
  const stream = await openJetStream(options);
  await defined(stream, () => defineStreams(stream.manager, subject));
  const { token } = options;
  const auth = token === undefined ? undefined : { scheme: 'bearer', token };
  return {
    enqueue: async ({ type, payload, id = newId('msg') }) => {
      const text = JSON.stringify({ arcp: ARCP_VERSION, id, type, timestamp: formatTimestamp(Date.now()), payload });
      assertCommand(parseEnvelope(text));
      try {
        await stream.client.publish(`${subject}.inbox`, JSON.stringify({ auth, command: JSON.parse(text) }), {
          // Commands of other principals may have the same id.
          msgID: sha256Hex(JSON.stringify([id, token])),
        });
      } catch (cause) {
        throw new ArcpError('UNAVAILABLE', `NATS has not stored the command: ${systemReason(cause)}`, { cause });
      }
      return id;
    },
    close: stream.close,
  };
}

/**
 * Executes the commands that wait for runtimes of a name, each once: NATS delivers a command until a runtime has stored its job, and runtimes
 * recognize its id. A command that is refused, or was not accepted after `maxDeliveries`, is moved to the subject `PREFIX.NAME.dead` as
 * `{ reason, deliveries, message }`, with `truncated: true` if only the beginning of the message fits.
 *
 * @throws ConnectionError `no-package` without `@nats-io/transport-node` or `@nats-io/jetstream`; `closed` if NATS cannot be reached
 * @throws TypeError if an option is invalid
 */
export async function serveNatsInbox(runtime: Runtime, options: NatsInboxOptions = {}): Promise<NatsInbox> {
  const { ackWaitMs = 30_000, maxDeliveries = 5, retryDelayMs = 1000 } = options;
  assertDurations({ ackWaitMs });
  assertDurations({ retryDelayMs }, 0);
  if (!(maxDeliveries >= 1)) throw new TypeError(`maxDeliveries must be at least 1; got ${maxDeliveries}`);
  const subject = subjectOf(options);
  const stream = await openJetStream(options);
  const inbox = streamOf(subject, 'inbox');
  const messages = await defined(stream, async () => {
    await defineStreams(stream.manager, subject);
    await stream.manager.consumers.add(inbox, {
      durable_name: CONSUMER,
      ack_policy: 'explicit',
      ack_wait: ackWaitMs * NANOSECONDS_PER_MS,
    });
    return (await stream.client.consumers.get(inbox, CONSUMER)).consume({ max_messages: CONCURRENCY });
  });
  const report = (error: unknown): void => notifyListener(() => options.onError?.(error));

  const bury = async (message: JsMessage, error: ArcpError): Promise<void> => {
    const { deliveryCount: deliveries } = message.info;
    const letter = deadLetter(
      message.data,
      { reason: error.toBody(), deliveries },
      stream.connection.info?.max_payload,
    );
    // Stored before the message is removed; a repetition has the same id.
    await stream.client.publish(`${subject}.dead`, letter, { msgID: `dead:${message.seq}` });
    await message.ackAck();
    report(error);
  };
  const execute = async (message: JsMessage): Promise<void> => {
    let submission: Submission;
    try {
      submission = submissionOf(message.data);
    } catch (error) {
      await bury(message, asArcpError(error));
      return;
    }
    const { id } = submission.command;
    let answer: Answer;
    try {
      // A command that ends the process each time does not come to an answer.
      if (message.info.deliveryCount > maxDeliveries)
        throw new ArcpError('ABORTED', `No runtime has accepted the command in ${maxDeliveries} deliveries`);
      answer = await submit(runtime, submission, { kind: 'nats', timeoutMs: ackWaitMs / 2 });
      if (answer.type === 'nack') throw ArcpError.fromBody((answer as Envelope<'nack'>).payload);
    } catch (thrown) {
      const error = asArcpError(thrown);
      if (error.retryable && message.info.deliveryCount < maxDeliveries) message.nak(retryDelayMs);
      else await bury(message, error);
      return;
    }
    if (ANSWERABLE.test(id))
      stream.connection.publish(`${subject}.answers.${id}`, new TextEncoder().encode(JSON.stringify(answer)));
    await message.ackAck();
  };

  const executing = new Set<Promise<void>>();
  const taken = deferred();
  const take = async (): Promise<void> => {
    for await (const message of messages) {
      if (executing.size >= CONCURRENCY) await Promise.race(executing);
      const one = execute(message)
        .catch(report)
        .finally(() => executing.delete(one));
      executing.add(one);
    }
  };
  take().then(taken.resolve, (error: unknown) => {
    report(error);
    taken.resolve();
  });
  return {
    close: async () => {
      await messages.close();
      await taken.promise;
      await Promise.all(executing);
      await stream.close();
    },
  };
}

/** The default limit of NATS, in bytes. */
const MAX_PAYLOAD = 1024 * 1024;

/** Returns the text of a dead letter, without the token of the sender. A message that would be too long is truncated. */
function deadLetter(data: Uint8Array, head: object, maxPayload = MAX_PAYLOAD): string {
  let message = new TextDecoder().decode(data);
  try {
    message = JSON.stringify({ ...(JSON.parse(message) as object), auth: undefined });
  } catch {
    // It is not JSON, and is kept as it is.
  }
  const letter = JSON.stringify({ ...head, message });
  if (new TextEncoder().encode(letter).length <= maxPayload) return letter;
  // Each character takes at most six bytes, as an escape.
  return JSON.stringify({ ...head, message: message.slice(0, Math.floor(maxPayload / 12)), truncated: true });
}

/** Prepares the streams, and closes the connection if that fails. */
async function defined<T>({ close }: JetStream, prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare();
  } catch (cause) {
    await close();
    throw new ConnectionError('closed', `The inbox cannot be opened in NATS: ${systemReason(cause)}`, { cause });
  }
}

/** Creates the streams of waiting commands and of dead letters, if they do not exist. Their limits are those that the operator sets. */
async function defineStreams({ streams }: JsManager, subject: string): Promise<void> {
  for (const [suffix, retention] of [
    ['inbox', 'workqueue'],
    ['dead', 'limits'],
  ] as const) {
    const name = streamOf(subject, suffix);
    const own = `${subject}.${suffix}`;
    const known = await streams.info(name).catch(() => undefined);
    if (known === undefined)
      await streams.add({
        ...{ name, subjects: [own], retention, storage: 'file' },
        duplicate_window: DEDUPLICATION_MS * NANOSECONDS_PER_MS,
      });
    else if (!known.config.subjects?.includes(own))
      throw new Error(`the stream ${name} exists, but without the subject ${own}; add it, or use another name`);
    else if (suffix === 'inbox' && known.config.retention !== retention)
      throw new Error(
        `the stream ${name} exists, but its retention is not "workqueue"; remove it, or use another name`,
      );
  }
}

/** Names of streams have no dots. */
function streamOf(subject: string, suffix: string): string {
  return `${subject.replaceAll('.', '_')}_${suffix}`;
}

/** Reads a waiting command. The sender is identified by `auth`, and by nothing else in it. @throws ArcpError `INVALID_ARGUMENT` */
function submissionOf(data: Uint8Array): Submission {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch {
    // Reported below.
  }
  const { auth, command } = (parsed ?? {}) as { readonly auth?: Submission['auth']; readonly command?: unknown };
  const result = tryParseEnvelope(JSON.stringify(command ?? null));
  if (!result.ok) throw new ArcpError('INVALID_ARGUMENT', `The message contains no command: ${result.error.message}`);
  const { id, type, payload } = assertCommand(result.value);
  return { auth, command: { id, type, payload: asJob(type, payload) } };
}

/** @throws ArcpError `INVALID_ARGUMENT` if the message does not start a tool, a workflow or an agent, or asks for a direct result */
function assertCommand(message: Envelope): Envelope {
  const { type, payload } = message;
  if (!(TYPES as readonly string[]).includes(type))
    throw new ArcpError('INVALID_ARGUMENT', `type must be one of ${TYPES.join(', ')}; got "${type}"`);
  if ((payload as { readonly mode?: unknown }).mode === 'direct')
    throw new ArcpError('INVALID_ARGUMENT', 'A command that waits starts a job; omit mode: "direct"');
  return message;
}

/** A direct call would be lost with its session. */
function asJob(type: string, payload: Envelope['payload']): Readonly<Record<string, unknown>> {
  return type === 'tool.invoke' ? { ...payload, mode: 'job' } : { ...payload };
}
