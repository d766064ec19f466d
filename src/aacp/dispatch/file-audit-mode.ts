// biome-ignore-all lint/correctness/noNodejsModules: logs are files
/** Who can read the file of a log. Node only. */
import type { FileHandle } from 'node:fs/promises';
import process from 'node:process';

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
