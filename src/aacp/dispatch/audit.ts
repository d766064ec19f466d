import * as z from 'zod';
import { type ErrorDetails, PegwireError } from '../../text/errors.js';
import { sha256Hex } from '../../text/sha256.js';

/** `handed-over`: a valid packet went to its handler. `refused`: it did not; see `reason`. `done`, `failed`: how it ended. */
export type AuditEvent = 'handed-over' | 'refused' | 'done' | 'failed';

/** What is to be recorded. */
export interface AuditEntry {
  readonly event: AuditEvent;
  /** The canonical text of a valid packet; the beginning of anything else, as it was given. */
  readonly packet: string;
  /** UTF-16 code units of the whole text. */
  readonly length: number;
  /** `packetHash` of a valid packet; else `null`. */
  readonly hash: string | null;
  readonly verdict: 'valid' | 'invalid';
  /** The codes of errors and warnings, each once. */
  readonly codes: readonly string[];
  /** Why it was refused, or how the handler failed. */
  readonly reason: string | null;
  /** Of an outcome: the number of the record of the attempt. */
  readonly attempt: number | null;
  /** Who sent the packet, as the host says. */
  readonly actor: string | null;
  /** The nonce of the envelope. */
  readonly nonce: string | null;
}

/** A record of the log. Its line is its JSON, in this order, in ASCII. */
export interface AuditRecord extends AuditEntry {
  /** From 1 on, without gaps. */
  readonly seq: number;
  /** ISO 8601, in UTC. */
  readonly time: string;
  /** `chain` of the record before; 64 zeros for the first one. */
  readonly previous: string;
  /** SHA-256 over `previous` and the record without this member. */
  readonly chain: string;
}

/** Where records go. Calls are served in their order; an entry is in the log when its promise is fulfilled. */
export interface Audit {
  readonly append: (entry: AuditEntry) => Promise<AuditRecord>;
}

/**
 * - `audit-in-use`: another holder, of this process or another one, writes to the log.
 * - `audit-damaged`: the log does not verify; nothing is appended to it.
 * - `audit-unavailable`: it cannot be opened, read or written.
 * - `audit-lost`: the lock was taken, or the file changed, under our hands.
 * - `audit-closed`: it was closed.
 */
export type AuditErrorCode = 'audit-in-use' | 'audit-damaged' | 'audit-unavailable' | 'audit-lost' | 'audit-closed';

/** A record cannot be appended. What is in the log is left as it was. */
export class AuditError extends PegwireError {
  override readonly name: string = 'AuditError';
  declare readonly code: AuditErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: AuditErrorCode; readonly message: string },
    options: ErrorOptions = {},
  ) {
    super(details, options);
  }
}

export interface ChainEnd {
  readonly seq: number;
  readonly chain: string;
}

export const EMPTY_CHAIN: ChainEnd = { seq: 0, chain: '0'.repeat(64) };

const YEAR_ZERO = Date.parse('0000-01-01T00:00:00Z');
const YEAR_TEN_THOUSAND = Date.UTC(10_000, 0, 1);

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Members in the order of writing. */
const recordSchema = z.strictObject({
  seq: z.int().min(1),
  time: z.iso.datetime(),
  event: z.enum(['handed-over', 'refused', 'done', 'failed']),
  packet: z.string(),
  length: z.int().min(0),
  hash: hash.nullable(),
  verdict: z.enum(['valid', 'invalid']),
  codes: z.array(z.string()),
  reason: z.string().nullable(),
  attempt: z.int().min(1).nullable(),
  actor: z.string().nullable(),
  nonce: z.string().nullable(),
  previous: hash,
  chain: hash,
}) satisfies z.ZodType<AuditRecord>;

/** @param now milliseconds since 1970 */
export function nextRecord(end: ChainEnd, entry: AuditEntry, now: number): AuditRecord {
  // Outside of these years, ISO 8601 has other forms.
  if (!(now >= YEAR_ZERO && now < YEAR_TEN_THOUSAND)) throw new TypeError('now must return milliseconds since 1970');
  const { event, packet, length, hash, verdict, codes, reason, attempt, actor, nonce } = entry;
  const own = { event, packet, length, hash, verdict, codes, reason, attempt, actor, nonce };
  const body = { seq: end.seq + 1, time: new Date(now).toISOString(), ...own, previous: end.chain };
  return { ...body, chain: chainOf(body) };
}

/** Returns `null` if the line is not exactly the JSON of a record. */
export function readRecord(line: string): AuditRecord | null {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return null;
  }
  const read = recordSchema.safeParse(json);
  // The schema orders the members, so any other spelling shows.
  return read.success && asciiJson(read.data) === line ? read.data : null;
}

export function isSealed({ chain, ...body }: AuditRecord): boolean {
  return chain === chainOf(body);
}

function chainOf(body: Omit<AuditRecord, 'chain'>): string {
  return sha256Hex(`${body.previous}\n${asciiJson(body)}`);
}

/** Writes the line of a record in ASCII, so that a terminal acts on nothing in it. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export interface MemoryAudit extends Audit {
  /** All records, the oldest first. */
  readonly records: () => readonly AuditRecord[];
  /** The log as a file would have it: a line for each record. */
  readonly text: () => string;
}

export interface AuditOptions {
  /** Milliseconds since 1970. @default the system's clock */
  readonly now?: (() => number) | undefined;
}

/** Creates a log in memory, for tests and for hosts that store records themselves. @throws TypeError if an option is invalid */
export function memoryAudit(options: AuditOptions = {}): MemoryAudit {
  const now = resolveNow(options);
  const records: AuditRecord[] = [];
  return {
    // Async, so that what the clock throws is a rejection, as with every other log.
    async append(entry) {
      const record = nextRecord(records.at(-1) ?? EMPTY_CHAIN, entry, now());
      records.push(record);
      return record;
    },
    records: () => [...records],
    text: () => records.map((record) => `${asciiJson(record)}\n`).join(''),
  };
}

export function resolveNow({ now = Date.now }: AuditOptions): () => number {
  if (typeof now !== 'function') throw new TypeError('now must be a function that returns milliseconds since 1970');
  return now;
}
