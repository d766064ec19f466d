/** Files named in arguments. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { systemReason } from '../../text/system-reason.js';
import { notWritable, UsageError, unreadable, unwritable } from './errors.js';
import { strictText } from './input.js';

/** Reads a UTF-8 file. @throws UsageError if it cannot be read or is not UTF-8 */
export function readText(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
  return strictText(bytes, file);
}

/** Writes a file. @throws UsageError if it cannot be written */
export function writeText(file: string, text: string): void {
  writing(file, () => writeFileSync(file, text));
}

/**
 * Replaces the text of a file as a whole: other programs see the old text or the new one, unless it has several names or another owner.
 *
 * @param before the text that the new one was made from
 * @throws UsageError if the file cannot be written, or has another text by now
 */
export function replaceText(file: string, before: string, after: string): void {
  writing(file, () => {
    const target = realpathSync(file);
    accessSync(target, constants.W_OK);
    const { mode, nlink, uid, gid } = statSync(target);
    const check = (): void => {
      if (readText(file) !== before) throw notWritable(file, 'it was changed in the meantime');
    };
    const isOurs = process.getuid === undefined || (uid === process.getuid() && gid === process.getgid!());
    // A new file would have another owner, or only one of the names.
    if (!isOurs || nlink > 1) {
      check();
      writeFileSync(target, after);
      return;
    }
    const draft = path.join(path.dirname(target), `.pegwire-${process.pid}`);
    try {
      writeFileSync(draft, after, { flag: 'wx' });
      chmodSync(draft, mode);
      check();
      renameSync(draft, target);
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

/** Checks that a file can be written, and leaves it as it is. @throws UsageError if it cannot */
export function tryFile(file: string): void {
  const isThere = existsSync(file);
  writing(file, () => closeSync(openSync(file, 'a')));
  if (!isThere) rmSync(file, { force: true });
}

/** Checks that a folder can be written, and leaves nothing in it. @throws UsageError if it cannot */
export async function tryFolder(folder: string): Promise<void> {
  const { makeFolders } = await import('../../storage/paths.js');
  const made = writing(folder, () => makeFolders(folder));
  if (!writing(folder, () => statSync(folder)).isDirectory()) throw notWritable(folder, 'it is not a folder');
  writing(folder, () => {
    const probe = path.join(folder, `.pegwire-${process.pid}`);
    closeSync(openSync(probe, 'w'));
    rmSync(probe);
    for (const one of made.toReversed()) rmdirSync(one);
  });
}

/** Runs a step of writing `place`. @throws UsageError if it throws */
export function writing<T>(place: string, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    throw thrown instanceof UsageError ? thrown : unwritable(thrown, place);
  }
}

export type LineFile = ReturnType<typeof openLines>;

/** Accepts all lines and drops them. */
export const NO_FILE: LineFile = { write: () => true, isWhole: () => true, close: () => {} };

/**
 * Opens a file for lines. Each is written synchronously, so that none is lost if the process dies. After a failure, nothing more is written.
 *
 * @param flags `w` truncates, `a` appends
 * @param failed called once, with the reason of the failure
 * @throws UsageError if the file cannot be opened
 */
export function openLines(
  file: string,
  flags: 'w' | 'a',
  failed: (reason: string, thrown: unknown) => void,
  mode = 0o600,
) {
  const descriptor = writing(file, () => openSync(file, flags, mode));
  let isOpen = true;
  let isWhole = true;
  return {
    /** Appends a line. @returns whether all lines so far were written */
    write: (line: string): boolean => {
      if (!isOpen || !isWhole) return isWhole;
      try {
        writeSync(descriptor, `${line}\n`);
      } catch (thrown) {
        isWhole = false;
        failed(systemReason(thrown), thrown);
      }
      return isWhole;
    },
    isWhole: () => isWhole,
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
