/** Sessions as they are kept, and what both sides of one can do (spec 003, "Sessions", "Capability Negotiation"). */
import { sha256Hex } from '../../../text/sha256.js';
import type { MessageLimits } from '../../protocol/codec.js';
import type { SessionMode, TrustLevel } from '../../protocol/payloads/parts.js';
import type { RecordChange, StoredRecord } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import type { Identity } from './auth.js';

/** Where sessions stand in the store. */
export const SESSIONS = 'session';

/** What a session is, to whoever carries its connection. */
export interface KeptSession {
  readonly principal: string;
  readonly mode: SessionMode;
  readonly trust: TrustLevel;
  readonly capabilities: Capabilities;
  /** Limits of the messages that its client reads. */
  readonly limits?: MessageLimits | undefined;
  /** Its client has named no versions, and may speak revision 2 of the specification, which looks for results in `value`. */
  readonly wantsValue: boolean;
  /**
   * The digest of the token with which it is taken up again, and that of the one before: it holds until the newer one is used, which may
   * have been lost on its way.
   */
  readonly tokenDigest: string;
  readonly formerDigest?: string | undefined;
  /** The message that accepted it, and what had been committed before: a client may have seen no more. */
  readonly acceptedId: string;
  readonly acceptedAfter: number;
  /** The message that opened it: sent again, it opens no second one. */
  readonly openedBy: string;
  /** The runtime that knows it, where it ends with that; sessions that are durable do not. */
  readonly boot?: string | undefined;
  /** Milliseconds since 1970: when it was opened, when it last had a connection, and when it was closed for good. */
  readonly openedAt: number;
  readonly seenAt: number;
  readonly closedAt?: number | undefined;
  /** The last message that a connection has sent: a client that has it has missed nothing before, even where the message is not kept any more. */
  readonly sent?: Sent | undefined;
}

/** A message, and where it stands among all events. */
export interface Sent {
  readonly id: string;
  readonly sequence: number;
}

/** A session with the connection that it has now. */
export interface Session extends KeptSession {
  readonly id: string;
  readonly identity: Identity;
}

export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Tokens are not kept, and digests are compared: how long that takes tells nothing of the token. */
export function digestOf(text: string): string {
  return sha256Hex(text);
}

export function sessionOf(record: StoredRecord): KeptSession {
  return JSON.parse(record.value) as KeptSession;
}

/**
 * Makes the record of a session. It is its own owner: it is removed with the session, and not by its age.
 *
 * @param expect the version that the record has; 0 for none
 */
export function sessionRecord(id: string, session: KeptSession, expect: number): RecordChange {
  return { scope: SESSIONS, key: id, value: JSON.stringify(session), expect, owner: id };
}

/** Changes what is kept of a session, from what it is now, whoever else changes it at the same time. A session that is not kept any more stays so. */
export async function changeSession(log: EventLog, id: string, change: Partial<KeptSession>): Promise<void> {
  for (;;) {
    const record = await log.store.readRecord(SESSIONS, id);
    if (record === undefined) return;
    const records = [sessionRecord(id, { ...sessionOf(record), ...change }, record.version)];
    if ((await log.commit({ records })).outcome === 'done') return;
  }
}

export type Capabilities = Readonly<Record<string, unknown>>;

/** Names of capabilities that the protocol gives a meaning. */
export const CAPABILITIES = {
  streaming: 'streaming',
  durableJobs: 'durable_jobs',
  checkpoints: 'checkpoints',
  binaryStreams: 'binary_streams',
  agentHandoff: 'agent_handoff',
} as const;

const KNOWN: ReadonlySet<string> = new Set(Object.values(CAPABILITIES));

/**
 * What both can do: of booleans both, of lists what is in both, in the order of the first, of numbers the smaller; of anything
 * else what is the same on both sides. What only one side names, neither can do: it is left out, or `false` where the protocol knows it.
 */
export function negotiate(ours: Capabilities, theirs: Capabilities): Capabilities {
  const agreed: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const isShared = Object.hasOwn(ours, name) && Object.hasOwn(theirs, name);
    const value = isShared ? both(ours[name], theirs[name]) : KNOWN.has(name) ? false : undefined;
    if (value !== undefined) agreed.push([name, value]);
  }
  // A member may be called anything, `__proto__` included.
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

export function can(capabilities: Capabilities, name: string): boolean {
  return Object.hasOwn(capabilities, name) && capabilities[name] === true;
}
