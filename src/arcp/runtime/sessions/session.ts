/** Stored sessions, and negotiation of capabilities (spec 003, "Sessions", "Capability Negotiation"). */
import { sha256Hex } from '../../../text/sha256.js';
import type { MessageLimits } from '../../protocol/codec.js';
import type { SessionMode, TrustLevel } from '../../protocol/payloads/parts.js';
import type { RecordChange, StoredRecord } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import type { Identity } from './auth.js';

export const SESSIONS = 'session';

export interface StoredSession {
  readonly principal: string;
  readonly mode: SessionMode;
  readonly trust: TrustLevel;
  readonly capabilities: Capabilities;
  readonly limits?: MessageLimits | undefined;
  /** `true` if the client names no versions: it may follow revision 2 of the specification, which has results in `value`. */
  readonly wantsValue: boolean;
  /** The digests of the resume token and of its predecessor, which is valid until the newer one is used. */
  readonly tokenDigest: string;
  readonly formerDigest?: string | undefined;
  /** The id of the accepting message, before which the session has no events. */
  readonly acceptedId: string;
  /** The id of the opening message. Repeated, that does not open a second session. */
  readonly openedBy: string;
  /** The run of the runtime with which the session ends; absent if it is durable. */
  readonly boot?: string | undefined;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  readonly seenAt: number;
  readonly closedAt?: number | undefined;
  /** The last message sent. A client that has received it has missed nothing, even if the message was trimmed. */
  readonly sent?: Sent | undefined;
}

export interface Sent {
  readonly id: string;
  readonly sequence: number;
}

export interface Session extends StoredSession {
  readonly id: string;
  /** The number of connections that the session has had, which fences off earlier ones; 0 if it is stateless. */
  readonly epoch: number;
  readonly identity: Identity;
}

export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the digest of a token. Tokens are not stored, and comparing digests leaks no timing. */
export function digestOf(text: string): string {
  return sha256Hex(text);
}

export function sessionOf(record: StoredRecord): StoredSession {
  return JSON.parse(record.value) as StoredSession;
}

/** Returns the record of a session. The session owns it, so that age alone does not remove it. */
export function sessionRecord(id: string, session: StoredSession, expect: number): RecordChange {
  return { scope: SESSIONS, key: id, value: JSON.stringify(session), expect, owner: id };
}

/** The scope of the workers that serve the sessions. The version of a record is the epoch of the session. */
export const CARRIERS = 'carrier';

/** Returns the change with which a worker begins to serve a session. It conflicts if another connection was faster. */
export function carrierRecord(id: string, worker: string, epoch: number): RecordChange {
  return { scope: CARRIERS, key: id, value: worker, expect: epoch - 1, owner: id };
}

/** Returns the change that conflicts once a later connection serves the session. */
export function epochCheck({ id, epoch }: Pick<Session, 'id' | 'epoch'>): RecordChange {
  return { scope: CARRIERS, key: id, expect: epoch };
}

/** Changes the record of a session, and retries conflicts. An expired session stays expired. */
export async function changeSession(
  log: EventLog,
  id: string,
  change: Partial<StoredSession>,
  sent?: Sent,
): Promise<void> {
  for (;;) {
    const record = await log.store.readRecord(SESSIONS, id);
    if (record === undefined) return;
    const session = sessionOf(record);
    const changed = { ...session, sent: sent ?? session.sent, ...change };
    const records = [sessionRecord(id, changed, record.version)];
    if ((await log.commit({ records })).outcome === 'done') return;
  }
}

/** Capabilities by name. */
export type Capabilities = Readonly<Record<string, unknown>>;

/** The capabilities that the protocol defines. */
export const CAPABILITIES = ['streaming', 'durable_jobs', 'checkpoints', 'binary_streams', 'agent_handoff'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/**
 * Combines the capabilities of both sides: conjunction of booleans, intersection of lists, minimum of numbers, otherwise equal values. A name
 * of one side only is dropped, or `false` if the protocol defines it.
 */
export function negotiate(ours: Capabilities, theirs: Capabilities): Capabilities {
  const agreed: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const isShared = Object.hasOwn(ours, name) && Object.hasOwn(theirs, name);
    const value = isShared
      ? both(ours[name], theirs[name])
      : (CAPABILITIES as readonly string[]).includes(name)
        ? false
        : undefined;
    if (value !== undefined) agreed.push([name, value]);
  }
  // A name may be anything, `__proto__` included.
  return Object.fromEntries(agreed);
}

function both(own: unknown, other: unknown): unknown {
  if (typeof own === 'boolean' || typeof other === 'boolean') return own === true && other === true;
  if (Array.isArray(own) && Array.isArray(other)) {
    const known = new Set(other.map((item) => JSON.stringify(item)));
    return own.filter((item) => known.has(JSON.stringify(item)));
  }
  if (typeof own === 'number' && typeof other === 'number') return Math.min(own, other);
  return JSON.stringify(own) === JSON.stringify(other) ? own : undefined;
}

export function can(capabilities: Capabilities, name: Capability): boolean {
  return Object.hasOwn(capabilities, name) && capabilities[name] === true;
}
