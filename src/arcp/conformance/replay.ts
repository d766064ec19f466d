/** Replay of a recorded conversation: sends the messages of the client again, and compares the answers of the runtime. */
import { assertDurations } from '../../async/durations.js';
import { isRecord } from '../../text/guards.js';
import type { Dial } from '../client/types.js';
import { CATALOGUE } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { newId } from '../protocol/ids.js';
import type { Auth } from './check.js';
import { Mismatch, Probe } from './probe.js';

/** Options of a replay. */
export interface ReplayOptions {
  /** Credentials, since logs do not contain secrets. @default those of the log */
  readonly auth?: Auth | undefined;
  /** Milliseconds to wait for each message. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/**
 * A step of a replay. Identifiers and times may differ from the recorded ones.
 *
 * - `sent`: a message of the client was sent again
 * - `same`: the runtime sent the recorded message
 * - `different`: the runtime sent a different message of the same type
 * - `missing`: the runtime did not send the recorded message
 * - `new`: the runtime sent a message that was not recorded
 */
export type ReplayStep =
  | {
      /** The kind of step. */
      readonly kind: 'sent' | 'missing';
      /** The recorded message. */
      readonly recorded: Envelope;
      /** The reason why the message is missing. */
      readonly reason?: string | undefined;
    }
  | {
      /** The kind of step. */
      readonly kind: 'same';
      /** The recorded message. */
      readonly recorded: Envelope;
      /** The message that the runtime sent. */
      readonly message: Envelope;
    }
  | {
      /** The kind of step. */
      readonly kind: 'different';
      /** The recorded message. */
      readonly recorded: Envelope;
      /** The message that the runtime sent. */
      readonly message: Envelope;
      /** The first difference. */
      readonly reason: string;
    }
  | {
      /** The kind of step. */
      readonly kind: 'new';
      /** The message that the runtime sent. */
      readonly message: Envelope;
    };

/** Messages that only keep a connection alive. */
const KEEP_ALIVE: ReadonlySet<string> = new Set(['ping', 'pong', 'job.heartbeat']);

/**
 * Replays a conversation. Each message of the client is sent after all earlier messages of the runtime have arrived.
 *
 * @param log the messages of both sides, in order
 * @throws TypeError if the log has no message of a client, or an option is invalid
 * @throws the error of `dial`
 */
export async function* replayLog(
  dial: Dial,
  log: readonly Envelope[],
  options: ReplayOptions = {},
): AsyncGenerator<ReplayStep> {
  assertDurations({ timeoutMs: options.timeoutMs });
  if (!log.some(isFromClient)) throw new TypeError('log must contain a message of a client');
  const replay = new Replay(dial, options);
  try {
    for (const recorded of log) {
      if (KEEP_ALIVE.has(recorded.type)) continue;
      if (!isFromClient(recorded)) {
        const step = await replay.expect(recorded);
        yield step;
        if (step.kind === 'missing' && replay.hasEnded) return;
        continue;
      }
      // Messages of the previous connection that were not recorded.
      if (recorded.type === 'session.open') yield* replay.rest();
      await replay.send(recorded);
      yield { kind: 'sent', recorded };
    }
    await replay.settle();
    yield* replay.rest();
  } finally {
    replay.end();
  }
}

/** Returns whether the client sent a message. For types that both sides send, `source` determines the sender. */
export function isFromClient({ type, source }: Envelope): boolean {
  const { from } = CATALOGUE[type];
  return from === 'client' || (from === 'either' && source === 'client');
}

class Replay {
  readonly #dial: Dial;
  readonly #options: ReplayOptions;
  readonly #names = new Names();
  readonly #known = new Set<Envelope>();
  #probe: Probe | undefined;
  #token: string | undefined;

  constructor(dial: Dial, options: ReplayOptions) {
    this.#dial = dial;
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#probe?.hasEnded !== false;
  }

  async send(recorded: Envelope): Promise<void> {
    if (recorded.type === 'session.open') {
      this.#probe?.disconnect();
      this.#probe = new Probe(await this.#dial(), this.#options.timeoutMs ?? 5000);
    }
    if (this.#probe === undefined) throw new Mismatch('The log does not start with session.open');
    const { arcp: _, id, type, timestamp: __, payload, session_id, ...more } = this.#names.renamed(recorded);
    const now = newId('msg');
    this.#names.set(recorded.id, now);
    this.#probe.sessionId = undefined;
    this.#probe.send(type, this.#opened(recorded, payload as object), { ...more, session_id, id: now });
  }

  async expect(recorded: Envelope): Promise<ReplayStep> {
    const probe = this.#probe;
    if (probe === undefined) return { kind: 'missing', recorded, reason: 'No session was opened before' };
    let message: Envelope;
    try {
      message = await probe.until((one) => this.#matches(recorded, one), `${recorded.type}`);
    } catch (thrown) {
      return { kind: 'missing', recorded, reason: (thrown as Error).message };
    }
    this.#known.add(message);
    if (message.type === 'session.accepted') this.#token = message.payload.resume_token;
    const reason = difference(comparable(recorded), comparable(message), this.#names);
    return reason === undefined
      ? { kind: 'same', recorded, message }
      : { kind: 'different', recorded, message, reason };
  }

  *rest(): Generator<ReplayStep> {
    for (const message of this.#probe?.received ?? []) {
      if (KEEP_ALIVE.has(message.type) || this.#known.has(message)) continue;
      this.#known.add(message);
      yield { kind: 'new', message };
    }
  }

  async settle(): Promise<void> {
    await this.#probe?.settle();
  }

  end(): void {
    this.#probe?.disconnect();
  }

  #matches(recorded: Envelope, message: Envelope): boolean {
    if (message.type !== recorded.type || this.#known.has(message)) return false;
    return (['correlation_id', 'job_id', 'stream_id'] as const).every((name) => {
      const [then, now] = [recorded[name], message[name]];
      if (then === undefined || now === undefined) return then === now;
      return (this.#names.get(then) ?? now) === now;
    });
  }

  #opened({ type }: Envelope, payload: object): Readonly<Record<string, unknown>> {
    if (type !== 'session.open') return { ...payload };
    const { auth } = this.#options;
    return {
      ...payload,
      ...(auth === undefined ? {} : { auth }),
      ...('resume_token' in payload ? { resume_token: this.#token } : {}),
    };
  }
}

/** Members that differ in each conversation. */
const IGNORED: ReadonlySet<string> = new Set(['arcp', 'timestamp', 'source', 'trace_id', 'span_id', 'parent_span_id']);

function comparable(message: Envelope): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(message).filter(([name]) => !IGNORED.has(name)));
}

/** Members whose values depend on the time or the machine. */
const VOLATILE =
  /(?:^|_)(?:at|timestamp|token|duration_ms|start_time|end_time|deadline_ms|queue_position|digest|sha256)$|^version$/;
const ID_MEMBER = /(?:^id$|_id$|_for$|^worker$|^up_to$|^version$)/;
const ID_TEXT = /^[a-z]+_[0-9A-Za-z]+$/;

/** Maps the identifiers of the log to those of this conversation. */
export class Names {
  readonly #now = new Map<string, string>();
  readonly #taken = new Set<string>();

  set(then: string, now: string): void {
    this.#now.set(then, now);
    this.#taken.add(now);
  }

  get(then: string): string | undefined {
    return this.#now.get(then);
  }

  bind(then: string, now: string): boolean {
    const known = this.#now.get(then);
    if (known !== undefined) return known === now;
    if (this.#taken.has(now)) return then === now;
    this.set(then, now);
    return true;
  }

  renamed<T>(value: T): T {
    if (typeof value === 'string') return this.#inText(value) as T;
    if (Array.isArray(value)) return value.map((item) => this.renamed(item)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.renamed(item)])) as T;
  }

  #inText(text: string): string {
    return this.#now.get(text) ?? text.replace(/[a-z]+_[0-9A-Za-z]+/g, (part) => this.#now.get(part) ?? part);
  }
}

/** Returns the first difference between two values, except identifiers. Unknown identifiers are mapped to each other. */
export function difference(then: unknown, now: unknown, names: Names, path = ''): string | undefined {
  const member = path.slice(path.lastIndexOf('.') + 1);
  if (VOLATILE.test(member)) return undefined;
  if (typeof then === 'string' && typeof now === 'string') return differentText(then, now, names, path, member);
  if (Array.isArray(then) && Array.isArray(now)) {
    if (then.length !== now.length) return `${path} has ${now.length} items instead of ${then.length}`;
    return first(then.keys(), (at) => difference(then[at], now[at], names, `${path}[${at}]`));
  }
  if (isRecord(then) && isRecord(now)) {
    const members = new Set([...Object.keys(then), ...Object.keys(now)]);
    return first(members, (name) => difference(then[name], now[name], names, path === '' ? name : `${path}.${name}`));
  }
  return then === now ? undefined : `${path} is ${shown(now)} instead of ${shown(then)}`;
}

function differentText(then: string, now: string, names: Names, path: string, member: string): string | undefined {
  if (names.renamed(then) === now) return undefined;
  const isName = ID_MEMBER.test(member) || (ID_TEXT.test(then) && ID_TEXT.test(now));
  return isName && names.bind(then, now)
    ? undefined
    : `${path} is ${shown(now)} instead of ${shown(names.renamed(then))}`;
}

function first<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
