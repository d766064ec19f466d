/** A conversation that was written down, held with a runtime once more: what the client said is said again, and the answers are compared. */
import { isRecord } from '../../text/guards.js';
import type { Dial } from '../client/types.js';
import { CATALOGUE } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { newId } from '../protocol/ids.js';
import type { Auth } from './check.js';
import { Mismatch, Probe } from './probe.js';

export interface ReplayOptions {
  /** Instead of how the sessions of the log were opened: what is secret does not stand in logs. */
  readonly auth?: Auth | undefined;
  /** Milliseconds to wait for each message. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/**
 * - `sent`: what the client has said, said again
 * - `same`: the runtime says what it said, but for names and times
 * - `different`: it says something else
 * - `missing`: it does not say it
 * - `new`: it says something that it did not say
 */
export type ReplayStep =
  | { readonly kind: 'sent' | 'missing'; readonly recorded: Envelope; readonly reason?: string | undefined }
  | { readonly kind: 'same'; readonly recorded: Envelope; readonly message: Envelope }
  | { readonly kind: 'different'; readonly recorded: Envelope; readonly message: Envelope; readonly reason: string }
  | { readonly kind: 'new'; readonly message: Envelope };

/** Messages that only keep a connection alive. */
const SMALL_TALK: ReadonlySet<string> = new Set(['ping', 'pong', 'job.heartbeat']);

/**
 * Repeats a conversation. The client's next message is sent when all earlier messages of the runtime have come.
 *
 * @param log the messages of both sides in order
 * @throws TypeError if the log has no message of a client
 * @throws the error of `dial`
 */
export async function* replayLog(
  dial: Dial,
  log: readonly Envelope[],
  options: ReplayOptions = {},
): AsyncGenerator<ReplayStep> {
  if (!log.some(isFromClient)) throw new TypeError('Nothing in the log was said by a client');
  const replay = new Replay(dial, options);
  try {
    for (const recorded of log) {
      if (SMALL_TALK.has(recorded.type)) continue;
      if (!isFromClient(recorded)) {
        const step = await replay.hear(recorded);
        yield step;
        if (step.kind === 'missing' && replay.hasEnded) return;
        continue;
      }
      // Messages to the former connection that are not in the log.
      if (recorded.type === 'session.open') yield* replay.rest();
      await replay.say(recorded);
      yield { kind: 'sent', recorded };
    }
    await replay.quiet();
    yield* replay.rest();
  } finally {
    replay.end();
  }
}

/** Tells the sides apart; for types that both sides send, `source` names the sender. */
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

  async say(recorded: Envelope): Promise<void> {
    if (recorded.type === 'session.open') {
      this.#probe?.cut();
      this.#probe = new Probe(await this.#dial(), this.#options.timeoutMs ?? 5000);
    }
    if (this.#probe === undefined) throw new Mismatch('The log does not begin with session.open');
    const { arcp: _, id, type, timestamp: __, payload, session_id, ...more } = this.#names.renamed(recorded);
    const now = newId('msg');
    this.#names.set(recorded.id, now);
    this.#probe.sessionId = undefined;
    this.#probe.send(type, this.#opened(recorded, payload as object), { ...more, session_id, id: now });
  }

  async hear(recorded: Envelope): Promise<ReplayStep> {
    const probe = this.#probe;
    if (probe === undefined) return { kind: 'missing', recorded, reason: 'Nobody was asked yet' };
    let message: Envelope;
    try {
      message = await probe.until((one) => this.#isMeant(recorded, one), `${recorded.type}`);
    } catch (thrown) {
      return { kind: 'missing', recorded, reason: (thrown as Error).message };
    }
    this.#known.add(message);
    if (message.type === 'session.accepted') this.#token = message.payload.resume_token;
    const reason = difference(bare(recorded), bare(message), this.#names);
    return reason === undefined
      ? { kind: 'same', recorded, message }
      : { kind: 'different', recorded, message, reason };
  }

  *rest(): Generator<ReplayStep> {
    for (const message of this.#probe?.heard ?? []) {
      if (SMALL_TALK.has(message.type) || this.#known.has(message)) continue;
      this.#known.add(message);
      yield { kind: 'new', message };
    }
  }

  async quiet(): Promise<void> {
    await this.#probe?.quiet();
  }

  end(): void {
    this.#probe?.cut();
  }

  #isMeant(recorded: Envelope, message: Envelope): boolean {
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

/** Members that differ in every conversation. */
const ASIDE: ReadonlySet<string> = new Set(['arcp', 'timestamp', 'source', 'trace_id', 'span_id', 'parent_span_id']);

function bare(message: Envelope): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(message).filter(([name]) => !ASIDE.has(name)));
}

/** Members whose values depend on time and place. */
const PASSING =
  /(?:^|_)(?:at|timestamp|token|duration_ms|start_time|end_time|deadline_ms|queue_position|digest|sha256)$|^version$/;
const NAMING = /(?:^id$|_id$|_for$|^worker$|^up_to$|^version$)/;
const NAME = /^[a-z]+_[0-9A-Za-z]+$/;

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

/** Returns the first difference between two values, identifiers aside; new identifiers are bound. */
export function difference(then: unknown, now: unknown, names: Names, path = ''): string | undefined {
  const member = path.slice(path.lastIndexOf('.') + 1);
  if (PASSING.test(member)) return undefined;
  if (typeof then === 'string' && typeof now === 'string') return differentText(then, now, names, path, member);
  if (Array.isArray(then) && Array.isArray(now)) {
    if (then.length !== now.length) return `${path} has ${now.length} items, and had ${then.length}`;
    return first(then.keys(), (at) => difference(then[at], now[at], names, `${path}[${at}]`));
  }
  if (isRecord(then) && isRecord(now)) {
    const members = new Set([...Object.keys(then), ...Object.keys(now)]);
    return first(members, (name) => difference(then[name], now[name], names, path === '' ? name : `${path}.${name}`));
  }
  return then === now ? undefined : `${path} is ${shown(now)}, and was ${shown(then)}`;
}

function differentText(then: string, now: string, names: Names, path: string, member: string): string | undefined {
  if (names.renamed(then) === now) return undefined;
  const isName = NAMING.test(member) || (NAME.test(then) && NAME.test(now));
  return isName && names.bind(then, now)
    ? undefined
    : `${path} is ${shown(now)}, and was ${shown(names.renamed(then))}`;
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
