// biome-ignore-all lint/correctness/noNodejsModules: logs are files
/** Audit logs in files, with one JSON line per record. Node only. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, realpath, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { systemReason } from '../../text/system-reason.js';
import {
  type Audit,
  type AuditEntry,
  AuditError,
  type AuditOptions,
  type AuditRecord,
  asciiJson,
  type ChainEnd,
  nextRecord,
  resolveNow,
} from './audit.js';
import { type Lock, takeLock } from './file-audit-lock.js';
import { type AuditVerification, createVerifier, type VerifyOptions } from './verify-audit.js';

/** Options of `fileAudit`. */
export interface FileAuditOptions extends AuditOptions {
  /**
   * If true, acknowledged records survive a power failure, at the cost of waiting for the disk. Otherwise they survive the end of the
   * process only. @default false
   */
  readonly powerSafe?: boolean | undefined;
  /** Called when the incomplete end of a log was moved to another file, and when a log stays accessible to other users. @default none */
  readonly onNotice?: ((notice: AuditNotice) => void) | undefined;
}

/** A notice about a log that was opened all the same. */
export type AuditNotice = TornEndNotice | WideModeNotice;

/** The last record of the log was incomplete. It had never been acknowledged. */
export interface TornEndNotice {
  /** `torn-end`. */
  readonly kind: 'torn-end';
  /** The file to which the incomplete record was moved. */
  readonly movedTo: string;
  /** The length of the incomplete record in bytes. */
  readonly bytes: number;
}

/** A log in a file. */
export interface FileAudit extends Audit {
  /** Returns the `chain` of the last record. Kept elsewhere, it reveals that the end of the log was cut off. */
  readonly head: () => string;
  /** Returns the number of records. */
  readonly records: () => number;
  /** Waits for pending records, closes the file and releases the lock. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a log to append to, or creates it, readable for its owner only. An existing log is verified and its chain is continued: an
 * incomplete end is moved to another file, and a log that was modified is rejected. Permissions of other users are removed (mode 0600);
 * if that fails, `onNotice` is called. A lock file allows one writer at a time. The lock and the file are checked before each record, so
 * that a chain does not fork even if the lock was removed by hand.
 *
 * @throws AuditError if the log is in use, damaged, not a regular file, or cannot be opened; it is then unchanged
 * @throws TypeError if an option is invalid
 * @throws the error that `onNotice` throws; the log is then closed
 * @example
 * const audit = await fileAudit('/var/log/agent/audit.jsonl');
 * const { dispatch } = createDispatcher({ audit, deliver });
 */
export async function fileAudit(file: string, options: FileAuditOptions = {}): Promise<FileAudit> {
  if (typeof file !== 'string' || file === '') throw new TypeError('file must be the path of a log');
  const now = resolveNow(options);
  const { powerSafe = false, onNotice } = options;
  if (typeof powerSafe !== 'boolean') throw new TypeError('powerSafe must be true or false');
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice must be a function');
  const absolute = path.resolve(file);
  const { audit, notices, abandon } = await opened(absolute, now, powerSafe);
  try {
    for (const notice of notices) onNotice?.(notice);
  } catch (thrown) {
    await abandon();
    throw thrown;
  }
  return audit;
}

async function opened(absolute: string, now: () => number, powerSafe: boolean) {
  let handle: FileHandle | undefined;
  let lock: Lock | undefined;

  async function abandon(): Promise<void> {
    // The error that led here is the one to report. A lock that stays behind can be taken over.
    await handle?.close().catch(() => {});
    await lock?.release().catch(() => {});
  }

  try {
    handle = await open(absolute, 'a+', 0o600);
    // A device such as `/dev/null` does not store records.
    if (!(await handle.stat()).isFile()) {
      const message = `The log ${absolute} cannot be opened: it is not a regular file.`;
      const help = 'name a regular file';
      throw new AuditError({ code: 'audit-unavailable', message, help });
    }
    // All links to a log share one lock.
    const real = await realpath(absolute);
    lock = await takeLock(`${real}.lock`);
    const { end, size, torn } = await resume(handle, real);
    const wide = await keepPrivate(handle, real);
    const audit = appender({ handle, lock, file: real, now, powerSafe }, end, size);
    return { audit, notices: [torn, wide].filter((notice) => notice !== null), abandon };
  } catch (cause) {
    await abandon();
    throw unavailable(absolute, 'opened', cause);
  }
}

/** Reads the log, and truncates it after the last complete record. */
async function resume(handle: FileHandle, file: string) {
  const { verification, end, wholeBytes } = await scanLog(handle);
  const { firstFault } = verification;
  if (firstFault === null) return { end, size: wholeBytes, torn: null };
  if (firstFault.reason !== 'torn-end') {
    const message = `The log ${file} was modified: line ${firstFault.line} does not verify (${firstFault.reason}).`;
    throw new AuditError({ code: 'audit-damaged', message, help: 'keep it as evidence, and start a new log' });
  }
  const { size } = await handle.stat();
  const torn = Buffer.alloc(size - wholeBytes);
  await handle.read(torn, 0, torn.length, wholeBytes);
  const movedTo = `${file}.torn-${firstFault.line}-${randomUUID().slice(0, 8)}`;
  await writeFile(movedTo, torn, { flag: 'wx', mode: 0o600, flush: true });
  await handle.truncate(wholeBytes);
  const notice: TornEndNotice = { kind: 'torn-end', movedTo, bytes: torn.length };
  return { end, size: wholeBytes, torn: notice };
}

interface OpenLog {
  readonly handle: FileHandle;
  readonly lock: Lock;
  readonly file: string;
  readonly now: () => number;
  readonly powerSafe: boolean;
}

function appender({ handle, lock, file, now, powerSafe }: OpenLog, from: ChainEnd, bytes: number): FileAudit {
  let end = from;
  let size = bytes;
  let broken: AuditError | null = null;
  let closing: Promise<void> | null = null;
  /** The last append. Each one waits for the one before. */
  let last: Promise<unknown> = Promise.resolve();

  async function write(entry: AuditEntry): Promise<AuditRecord> {
    if (broken !== null) throw broken;
    await checkOurs();
    const record = nextRecord(end, entry, now());
    const line = `${asciiJson(record)}\n`;
    try {
      await handle.appendFile(line, 'latin1');
      if (powerSafe) await handle.datasync();
    } catch (cause) {
      await undo(cause);
      throw unavailable(file, 'written', cause);
    }
    end = record;
    size += line.length;
    return record;
  }

  /** Checks that no other process wrote to the file, and that its path still leads to it. */
  async function checkOurs(): Promise<void> {
    let message: string | null = null;
    try {
      const [ours, there] = await Promise.all([handle.stat({ bigint: true }), stat(file, { bigint: true })]);
      if (!(await lock.isHeld())) message = 'its lock was removed';
      else if (ours.ino !== there.ino || ours.dev !== there.dev) message = 'it was replaced by another file';
      else if (ours.size !== BigInt(size)) message = 'another process changed it';
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(file, 'checked', cause);
      message = 'it was removed';
    }
    if (message === null) return;
    broken = new AuditError({ code: 'audit-lost', message: `The log ${file} cannot be continued: ${message}.` });
    throw broken;
  }

  /** Removes an incompletely written record. */
  async function undo(cause: unknown): Promise<void> {
    try {
      await handle.truncate(size);
    } catch {
      broken = unavailable(file, 'written', cause);
    }
  }

  return {
    append(entry) {
      if (closing !== null) {
        return Promise.reject(new AuditError({ code: 'audit-closed', message: `The log ${file} is closed.` }));
      }
      const appended = last.then(() => write(entry));
      last = appended.catch(() => {});
      return appended;
    },
    head: () => end.chain,
    records: () => end.seq,
    close() {
      closing ??= last.then(async () => {
        await handle.close();
        await lock.release();
      });
      return closing;
    },
  };
}

const CHUNK = 1 << 16;

/**
 * Verifies the log in a file, as `verifyAudit` does. Another process may append to it meanwhile.
 *
 * @throws AuditError with code `audit-unavailable` if the file cannot be read
 * @throws TypeError if an option is invalid
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

async function scanLog(handle: FileHandle, verifier = createVerifier()) {
  const chunk = Buffer.alloc(CHUNK);
  let rest = '';
  let wholeBytes = 0;
  let good = true;
  for (let position = 0; good; ) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    // One character per byte: lines are ASCII, so any other byte is found.
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

function unavailable(file: string, action: string, cause: unknown): AuditError {
  if (cause instanceof AuditError) return cause;
  return new AuditError(
    { code: 'audit-unavailable', message: `The log ${file} cannot be ${action}: ${systemReason(cause)}` },
    { cause },
  );
}

/** Other users can read or write the log, and their permissions could not be removed. */
export interface WideModeNotice {
  /** `wide-mode`. */
  readonly kind: 'wide-mode';
  /** The path of the log. */
  readonly file: string;
  /** The mode of the file, as in `0o666`. */
  readonly mode: number;
  /** The error of the file system. */
  readonly error: unknown;
}

/** Removes the permissions of other users. Windows has no such permissions. */
export async function keepPrivate(
  handle: Pick<FileHandle, 'stat' | 'chmod'>,
  file: string,
  platform: string = process.platform,
): Promise<WideModeNotice | null> {
  const stats = await handle.stat();
  if (platform === 'win32' || !stats.isFile() || (stats.mode & 0o077) === 0) return null;
  try {
    await handle.chmod(0o600);
    return null;
  } catch (error) {
    return { kind: 'wide-mode', file, mode: stats.mode & 0o777, error };
  }
}
