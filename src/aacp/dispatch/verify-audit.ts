import { type ChainEnd, EMPTY_CHAIN, isSealed, readRecord } from './audit.js';

/**
 * - `torn-end`: the last line is incomplete, as after a crash; it was never acknowledged.
 * - `not-a-record`: a line is not a record, or not in the spelling of the writer.
 * - `sequence`: records were removed, inserted or moved.
 * - `previous`: a record does not follow the one before it.
 * - `chain`: a record was changed after it was written.
 * - `head`: the requested record is missing: the end was cut off, or the log rewritten.
 */
export type AuditFaultReason = 'torn-end' | 'not-a-record' | 'sequence' | 'previous' | 'chain' | 'head';

export interface AuditFault {
  /** From 1 on; for `head`, the line after the last one. */
  readonly line: number;
  readonly reason: AuditFaultReason;
}

export interface AuditVerification {
  /** Nothing is wrong, a torn end included. */
  readonly ok: boolean;
  /** Records that are as they were written, up to the first fault. */
  readonly records: number;
  readonly firstFault: AuditFault | null;
  /** `chain` of the last of them: keep it elsewhere, and give it as `head` the next time. 64 zeros for an empty log. */
  readonly head: string;
}

export interface VerifyOptions {
  /** The head of an earlier time: this record has to be there. */
  readonly head?: string | undefined;
}

/** Takes the lines of a log one by one; `line` returns whether all is well so far. */
export function createVerifier({ head }: VerifyOptions = {}) {
  if (head !== undefined && !(typeof head === 'string' && /^[0-9a-f]{64}$/.test(head))) {
    throw new TypeError('head must be 64 hexadecimal digits, as a verification gave it');
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
 * Verifies the text of a log, or its lines without line ends. Finds edits and records that were removed, inserted or moved;
 * a missing end only with the `head` of an earlier time. Who can write the file can also rewrite all of it, which only a
 * head kept elsewhere shows.
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
  if (typeof lines?.[Symbol.iterator] !== 'function') throw new TypeError('log must be a text or a list of lines');
  let held: string | null = null;
  for (const line of lines) {
    if (typeof line !== 'string') throw new TypeError('log must be a text or a list of lines');
    if (held !== null && !verifier.line(held, true)) return;
    held = line;
  }
  // Whether a line end followed the last line is unknown; a line cut short is not JSON.
  if (held === null) return;
  try {
    JSON.parse(held);
    verifier.line(held, true);
  } catch {
    verifier.line(held, false);
  }
}
