/** Audit logs: what a record holds, and where records go. */

/**
 * `handed-over`: the packet was valid and went to its handler. `refused`: it did not, see `reason`. `done`, `failed`: how the
 * handler ended.
 */
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
