// biome-ignore-all lint/correctness/noNodejsModules: logs are files
/** Reads audit logs from files of any size. */
import { type FileHandle, open } from 'node:fs/promises';
import { systemReason } from '../../text/system-reason.js';
import type { ChainEnd } from './audit-record.js';
import { AuditError } from './errors.js';
import { type AuditVerification, createVerifier, type VerifyOptions } from './verify-audit.js';

const CHUNK = 1 << 16;

/** What a log holds. */
export interface ScannedLog {
  readonly verification: AuditVerification;
  readonly end: ChainEnd;
  /** Bytes of the whole lines before the first fault. */
  readonly wholeBytes: number;
}

/**
 * Checks the log in a file, as `verifyAudit` does; it may be written to meanwhile.
 *
 * @throws AuditError with code `audit-unavailable` when it cannot be read
 * @throws TypeError on options that are none
 * @example
 * const { ok, firstFault, head } = await verifyAuditFile('audit.jsonl', { head: yesterdaysHead });
 */
export async function verifyAuditFile(file: string, options?: VerifyOptions): Promise<AuditVerification> {
  const verifier = createVerifier(options);
  try {
    const handle = await open(file, 'r');
    try {
      return (await scanLog(handle, verifier)).verification;
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw unavailable(file, 'read', cause);
  }
}

/** Reads a log from its beginning. */
export async function scanLog(handle: FileHandle, verifier = createVerifier()): Promise<ScannedLog> {
  const chunk = Buffer.alloc(CHUNK);
  let rest = '';
  let wholeBytes = 0;
  let good = true;
  for (let position = 0; good; ) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    // A character for each byte: lines are ASCII, and any other byte in them shows.
    const [first, ...others] = chunk.toString('latin1', 0, bytesRead).split('\n');
    rest += first!;
    for (const text of others) {
      good = good && verifier.line(rest, true);
      if (good) wholeBytes += rest.length + 1;
      rest = text;
    }
  }
  if (good && rest !== '') verifier.line(rest, false);
  return { verification: verifier.result(), end: verifier.end(), wholeBytes };
}

/** What the system says of a file, as an error of ours. */
export function unavailable(file: string, action: string, cause: unknown): AuditError {
  if (cause instanceof AuditError) return cause;
  return new AuditError(
    { code: 'audit-unavailable', message: `The log ${file} cannot be ${action}: ${systemReason(cause)}` },
    { cause },
  );
}
