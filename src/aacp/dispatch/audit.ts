import * as z from 'zod';
import { type ErrorDetails, PegwireError } from '../../text/errors.js';
import { sha256Hex } from '../../text/sha256.js';

/** The event of a record. `handed-over`: a valid packet was passed to its handler. `refused`: it was not; see `reason`. `done`, `failed`: the handler returned, or threw. */
export type AuditEvent = 'handed-over' | 'refused' | 'done' | 'failed';

/** An event to record. */
export interface AuditEntry {
  /** The event: the packet was handed over, refused, done, or has failed. */
  readonly event: AuditEvent;
  /** The canonical text of a valid packet; otherwise the beginning of the input, unchanged. */
  readonly packet: string;
  /** The length of the whole text in UTF-16 code units. */
  readonly length: number;
  /** The `packetHash` of a valid packet; otherwise `null`. */
  readonly hash: string | null;
  /** `valid` if the validator found no errors. */
  readonly verdict: 'valid' | 'invalid';
  /** The codes of the errors and warnings, without duplicates. */
  readonly codes: readonly string[];
  /** The reason of a refusal, or the message of the error that the handler threw; otherwise `null`. */
  readonly reason: string | null;
  /** In a `done` or `failed` record, the `seq` of the `handed-over` record; otherwise `null`. */
  readonly attempt: number | null;
  /** The sender of the packet, as given in `DispatchContext.actor`. */
  readonly actor: string | null;
  /** The nonce of the envelope, if there was one. */
  readonly nonce: string | null;
}

/** A record of the log. Its line is its JSON in ASCII, with the members in this order. */
export interface AuditRecord extends AuditEntry {
  /** The number of the record, at least 1, without gaps. */
  readonly seq: number;
  /** The time of the record: ISO 8601, in UTC. */
  readonly time: string;
  /** The `chain` of the previous record; 64 zeros for the first one. */
  readonly previous: string;
  /** The SHA-256 of `previous` and the record without this member, as 64 hexadecimal digits. */
  readonly chain: string;
}

/** A log of records. */
export interface Audit {
  /** Appends an entry. Calls are processed in their order; the entry is in the log when the promise is fulfilled. */
  readonly append: (entry: AuditEntry) => Promise<AuditRecord>;
}

/**
 * The code of an `AuditError`.
 *
 * - `audit-in-use`: another writer, in this process or another one, holds the lock of the log.
 * - `audit-damaged`: the log does not verify. Nothing is appended to it.
 * - `audit-unavailable`: the log cannot be opened, read or written.
 * - `audit-lost`: the lock was removed, or the file changed, while the log was open.
 * - `audit-closed`: the log is closed.
 */
export type AuditErrorCode = 'audit-in-use' | 'audit-damaged' | 'audit-unavailable' | 'audit-lost' | 'audit-closed';

/** The error thrown when a log cannot be opened or a record cannot be appended. The content of the log is unchanged. */
export class AuditError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'AuditError';
  declare readonly code: AuditErrorCode;

  constructor(
    details: ErrorDetails & { readonly code: AuditErrorCode; readonly message: string },
    options: ErrorOptions = {},
  ) {
    super(details, options);
  }
}

/** The last record of a chain. */
export interface ChainEnd {
  readonly seq: number;
  readonly chain: string;
}

export const EMPTY_CHAIN: ChainEnd = { seq: 0, chain: '0'.repeat(64) };

const YEAR_ZERO = Date.parse('0000-01-01T00:00:00Z');
const YEAR_TEN_THOUSAND = Date.UTC(10_000, 0, 1);

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** The members in the order in which they are written. */
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

/** Makes the record that follows `end`. @param now milliseconds since 1970 @throws TypeError if `now` is not a time */
export function nextRecord(end: ChainEnd, entry: AuditEntry, now: number): AuditRecord {
  // Outside these years, ISO 8601 has another form.
  if (!(now >= YEAR_ZERO && now < YEAR_TEN_THOUSAND)) throw new TypeError('now must return milliseconds since 1970');
  const { event, packet, length, hash, verdict, codes, reason, attempt, actor, nonce } = entry;
  const own = { event, packet, length, hash, verdict, codes, reason, attempt, actor, nonce };
  const body = { seq: end.seq + 1, time: new Date(now).toISOString(), ...own, previous: end.chain };
  return { ...body, chain: chainOf(body) };
}

/** Parses the line of a record. Returns `null` if it is not exactly what the writer writes. */
export function readRecord(line: string): AuditRecord | null {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return null;
  }
  const read = recordSchema.safeParse(json);
  // The schema sorts the members, so any other spelling is found.
  return read.success && asciiJson(read.data) === line ? read.data : null;
}

export function isSealed({ chain, ...body }: AuditRecord): boolean {
  return chain === chainOf(body);
}

function chainOf(body: Omit<AuditRecord, 'chain'>): string {
  return sha256Hex(`${body.previous}\n${asciiJson(body)}`);
}

/** Serializes a record in ASCII, so that it contains no control sequence for terminals. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A log in memory. */
export interface MemoryAudit extends Audit {
  /** Returns all records, the oldest first. */
  readonly records: () => readonly AuditRecord[];
  /** Returns the content that a file would have: one line per record. */
  readonly text: () => string;
}

/** Options of `memoryAudit` and `fileAudit`. */
export interface AuditOptions {
  /** Returns milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** Creates a log in memory, for tests and for applications that store the records themselves. @throws TypeError if an option is invalid */
export function memoryAudit(options: AuditOptions = {}): MemoryAudit {
  const now = resolveNow(options);
  const records: AuditRecord[] = [];
  return {
    // Async, so that an error of the clock rejects, as in every other log.
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
