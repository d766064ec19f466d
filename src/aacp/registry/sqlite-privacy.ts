// biome-ignore-all lint/correctness/noNodejsModules: modes of files are what this is about
/** Keeps others from reading a registry: instructions are the user's own business. Node only. */
import { chmodSync, realpathSync, statSync } from 'node:fs';
import process from 'node:process';
import { systemReason } from '../../text/system-reason.js';
import type { NoticeListener } from './notices.js';

/** What anybody but the owner may do. */
const OTHERS = 0o077;
const OWNER = 0o600;

/** The files beside a database that hold parts of it. */
const BESIDE = ['-wal', '-shm'];

/**
 * Takes from all but the owner what they may do with the file of a registry that is open, and with its log. Where that fails, a
 * notice is told. Not on Windows, where the mode says nothing about others.
 */
export function makePrivate(file: string, onNotice: NoticeListener | undefined): void {
  if (process.platform === 'win32') return;
  const real = realPathOf(file);
  for (const path of [file, ...BESIDE.map((suffix) => `${real}${suffix}`)]) {
    try {
      // Another process may just have closed it.
      const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
      if ((mode & OTHERS) !== 0) chmodSync(path, mode & OWNER);
    } catch (thrown) {
      const reason = systemReason(thrown);
      const message = `Others than its owner may read the registry ${path}, and that could not be changed: ${reason}.`;
      onNotice?.({ kind: 'not-private', file: path, message });
    }
  }
}

/** Where a link leads to: SQLite keeps the log there, and not beside the link. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // Somebody has just moved it. The registry tells that as soon as it writes.
    return file;
  }
}
