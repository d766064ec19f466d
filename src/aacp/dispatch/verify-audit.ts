import { type ChainEnd, EMPTY_CHAIN, isSealed, readRecord } from './audit.js';

/**
 * The first fault of a log.
 *
 * - `torn-end`: the last line is incomplete, as after a crash. It was never acknowledged.
 * - `not-a-record`: a line is not a record, or not as the writer writes it.
 * - `sequence`: records were removed, inserted or moved.
 * - `previous`: a record does not follow the one before it.
 * - `chain`: a record was changed after it was written.
 * - `head`: the record with the given head is missing: the end was cut off, or the log was rewritten.
 */
export type AuditFaultReason = 'torn-end' | 'not-a-record' | 'sequence' | 'previous' | 'chain' | 'head';

/** A fault of a log. */
export interface AuditFault {
  /** The number of the line, at least 1; for `head`, the line after the last one. */
  readonly line: number;
  /** The kind of the fault. */
  readonly reason: AuditFaultReason;
}

/** The result of a verification. */
export interface AuditVerification {
  /** `true` if there is no fault. A torn end is a fault. */
  readonly ok: boolean;
  /** The number of intact records before the first fault. */
  readonly records: number;
  /** The first fault; `null` if there is none. */
  readonly firstFault: AuditFault | null;
  /** The `chain` of the last intact record, or 64 zeros for an empty log. Keep it elsewhere, and pass it as `head` the next time. */
  readonly head: string;
}

/** Options of `verifyAudit` and `verifyAuditFile`. */
export interface VerifyOptions {
  /** The `head` of an earlier verification: the log must contain that record. @default none */
  readonly head?: string | undefined;
}

/** Creates a verifier, which takes the lines of a log one by one. `line` returns `true` until it finds a fault. */
export function createVerifier({ head }: VerifyOptions = {}) {
  if (head !== undefined && !(typeof head === 'string' && /^[0-9a-f]{64}$/.test(head))) {
    throw new TypeError('head must be the head of an earlier verification: 64 hexadecimal digits');
  }
  let end: ChainEnd = EMPTY_CHAIN;
  let fault: AuditFault | null = null;
  let headFound = head === undefined || head === EMPTY_CHAIN.chain;
  return {
    line(text: string, whole: boolean): boolean {
      if (fault !== null) return false;
      const reason = whole ? faultOf(text, end) : 'torn-end';
      if (typeof reason === 'string') fault = { line: end.seq + 1, reason };
      else end = reason;
      headFound ||= end.chain === head;
      return fault === null;
    },
    end: (): ChainEnd => end,
    result(): AuditVerification {
      const firstFault = fault ?? (headFound ? null : { line: end.seq + 1, reason: 'head' as const });
      return { ok: firstFault === null, records: end.seq, firstFault, head: end.chain };
    },
  };
}

function faultOf(line: string, end: ChainEnd): ChainEnd | AuditFaultReason {
  const record = readRecord(line);
  if (record === null) return 'not-a-record';
  if (!isSealed(record)) return 'chain';
  if (record.seq !== end.seq + 1) return 'sequence';
  if (record.previous !== end.chain) return 'previous';
  return { seq: record.seq, chain: record.chain };
}

/**
 * Verifies the text of a log, or its lines without line ends. Finds records that were changed, removed, inserted or moved. Finds a missing
 * end only if you pass the `head` of an earlier verification: a user who can write the file can also rewrite the whole log, which only a
 * head kept elsewhere reveals.
 *
 * @throws TypeError if the log or an option is invalid
 * @example
 * const { ok, firstFault } = verifyAudit(readFileSync('audit.jsonl', 'utf8'), { head });
 */
export function verifyAudit(log: string | Iterable<string>, options?: VerifyOptions): AuditVerification {
  const verifier = createVerifier(options);
  if (typeof log !== 'string') verifyLines(log, verifier);
  else {
    const lines = log.split('\n');
    const rest = lines.pop()!;
    if (lines.every((line) => verifier.line(line, true)) && rest !== '') verifier.line(rest, false);
  }
  return verifier.result();
}

function verifyLines(lines: Iterable<string>, verifier: ReturnType<typeof createVerifier>): void {
  if (typeof lines?.[Symbol.iterator] !== 'function')
    throw new TypeError('log must be a string or an iterable of lines');
  let pending: string | null = null;
  for (const line of lines) {
    if (typeof line !== 'string') throw new TypeError('log must be a string or an iterable of lines');
    if (pending !== null && !verifier.line(pending, true)) return;
    pending = line;
  }
  // It is unknown whether a line end followed the last line. A line that was cut short is not JSON.
  if (pending === null) return;
  try {
    JSON.parse(pending);
    verifier.line(pending, true);
  } catch {
    verifier.line(pending, false);
  }
}
