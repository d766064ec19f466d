// biome-ignore-all lint/correctness/noNodejsModules: logs are files
/** Audit logs in files: one JSON line per record. Node only. */
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

export interface FileAuditOptions extends AuditOptions {
  /**
   * Acknowledged records survive the end of the process; with `true` also a power failure, at the cost of waiting for the
   * disk. @default false
   */
  readonly powerSafe?: boolean | undefined;
  /** Told when the end of a torn log was set aside, and when a log stays open to others than its owner. */
  readonly onNotice?: ((notice: AuditNotice) => void) | undefined;
}

export type AuditNotice = TornEndNotice | WideModeNotice;

/** The last record of the log was not whole; it had never been acknowledged. */
export interface TornEndNotice {
  readonly kind: 'torn-end';
  /** The file that its bytes are kept in. */
  readonly keptIn: string;
  readonly bytes: number;
}

export interface FileAudit extends Audit {
  /** `chain` of the last record: kept elsewhere, it shows when the end is cut off. */
  readonly head: () => string;
  /** How many records there are. */
  readonly records: () => number;
  /** Waits for what was begun, and gives the lock back. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a log to append to, or creates it, readable for its owner only. An existing log is verified first: its chain goes
 * on, a torn end is moved to a file of its own, and a log that was tampered with is rejected. Permissions of others are
 * removed (mode 0600); if that fails, `onNotice` is called. A lock file admits one writer at a time. Before each record,
 * the lock and the file are checked, so that a chain does not fork even if the lock was removed by hand.
 *
 * @throws AuditError if it is in use, damaged, not a regular file, or cannot be opened; it is unchanged then
 * @throws TypeError if an option is invalid
 * @throws what `onNotice` throws; the log is closed then
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
    // Report the error that led here; a lock left behind can be taken over.
    await handle?.close().catch(() => {});
    await lock?.release().catch(() => {});
  }

  try {
    handle = await open(absolute, 'a+', 0o600);
    // A device such as `/dev/null` does not keep records.
    if (!(await handle.stat()).isFile()) {
      const message = `The log ${absolute} cannot be opened: it is no regular file.`;
      const help = 'name a file that keeps what is written to it';
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

/** Reads the log, and truncates what follows the last whole record. */
async function resume(handle: FileHandle, file: string) {
  const { verification, end, wholeBytes } = await scanLog(handle);
  const { firstFault } = verification;
  if (firstFault === null) return { end, size: wholeBytes, torn: null };
  if (firstFault.reason !== 'torn-end') {
    const message = `The log ${file} is not as it was written: line ${firstFault.line} (${firstFault.reason}).`;
    throw new AuditError({ code: 'audit-damaged', message, help: 'keep it as evidence, and begin another one' });
  }
  const { size } = await handle.stat();
  const torn = Buffer.alloc(size - wholeBytes);
  await handle.read(torn, 0, torn.length, wholeBytes);
  const keptIn = `${file}.torn-${firstFault.line}-${randomUUID().slice(0, 8)}`;
  await writeFile(keptIn, torn, { flag: 'wx', mode: 0o600, flush: true });
  await handle.truncate(wholeBytes);
  const notice: TornEndNotice = { kind: 'torn-end', keptIn, bytes: torn.length };
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
  /** The last append; each waits for the one before. */
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
      await takeBack(cause);
      throw unavailable(file, 'written', cause);
    }
    end = record;
    size += line.length;
    return record;
  }

  /** Checks that nothing else wrote the file, and that it is still in its place. */
  async function checkOurs(): Promise<void> {
    let message: string | null = null;
    try {
      const [ours, there] = await Promise.all([handle.stat({ bigint: true }), stat(file, { bigint: true })]);
      if (!(await lock.isHeld())) message = 'its lock was taken away';
      else if (ours.ino !== there.ino || ours.dev !== there.dev) message = 'another file has taken its place';
      else if (ours.size !== BigInt(size)) message = 'somebody else has changed it';
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(file, 'checked', cause);
      message = 'it was removed';
    }
    if (message === null) return;
    broken = new AuditError({ code: 'audit-lost', message: `The log ${file} cannot go on: ${message}.` });
    throw broken;
  }

  /** Removes a record that was written in part. */
  async function takeBack(cause: unknown): Promise<void> {
    try {
      await handle.truncate(size);
    } catch {
      broken = unavailable(file, 'written', cause);
    }
  }

  return {
    append(entry) {
      if (closing !== null) {
        return Promise.reject(new AuditError({ code: 'audit-closed', message: `The log ${file} was closed.` }));
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
 * Verifies the log in a file, as `verifyAudit` does; it may be written to meanwhile.
 *
 * @throws AuditError with code `audit-unavailable` if it cannot be read
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
    // One character per byte: lines are ASCII, so any other byte shows.
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

/** A log that others than its owner can read or write, and that cannot be kept from them. */
export interface WideModeNotice {
  readonly kind: 'wide-mode';
  readonly file: string;
  /** As in `0o666`. */
  readonly mode: number;
  /** What the system said. */
  readonly error: unknown;
}

/** Removes the permissions of others than the owner; Windows has none of this kind. */
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
