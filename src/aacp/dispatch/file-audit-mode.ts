// biome-ignore-all lint/correctness/noNodejsModules: logs are files
/** What the file of a log is, and who can read it. Node only. */
import type { FileHandle } from 'node:fs/promises';
import process from 'node:process';
import { AuditError } from './errors.js';

/** A log that others than its owner can read or write, and that cannot be kept from them. */
export interface WideModeNotice {
  readonly kind: 'wide-mode';
  readonly file: string;
  /** As in `0o666`. */
  readonly mode: number;
  /** What the system said. */
  readonly error: unknown;
}

const PERMISSIONS = 0o777;
const OTHERS = 0o077;
const PRIVATE = 0o600;

/**
 * That records which are written are kept: `/dev/null` and its like take them, and hold none.
 *
 * @throws AuditError with code `audit-unavailable` on what is no regular file
 */
export async function checkRegular(handle: Pick<FileHandle, 'stat'>, file: string): Promise<void> {
  if ((await handle.stat()).isFile()) return;
  throw new AuditError({
    code: 'audit-unavailable',
    message: `The log ${file} cannot be opened: it is no regular file.`,
    help: 'name a file that keeps what is written to it',
  });
}

/** Takes the rights of all others away from a regular file. `null` when nobody else has any; Windows has none of this kind. */
export async function keepPrivate(
  handle: Pick<FileHandle, 'stat' | 'chmod'>,
  file: string,
  platform: string = process.platform,
): Promise<WideModeNotice | null> {
  const stats = await handle.stat();
  if (platform === 'win32' || !stats.isFile() || (stats.mode & OTHERS) === 0) return null;
  try {
    await handle.chmod(PRIVATE);
    return null;
  } catch (error) {
    return { kind: 'wide-mode', file, mode: stats.mode & PERMISSIONS, error };
  }
}
