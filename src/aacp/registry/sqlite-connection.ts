/** The connection to a registry file: what fails is told as the registry's, and a file that is found damaged is set aside. */
import { storeError } from '../../storage/errors.js';
import type { OpenDatabase } from '../../storage/open.js';
import { identityOf } from '../../storage/place.js';
import { setAside } from '../../storage/set-aside.js';
import { RegistryError } from '../fallback/errors.js';
import type { NoticeListener } from './notices.js';
import { corruptError, isDamage, registryError } from './sqlite-errors.js';
import { prepareStatements, type Statements } from './sqlite-statements.js';

export interface Connection {
  readonly file: string;
  readonly statements: Statements;
  /** Runs a step, and tells its errors as the registry's. */
  readonly attempt: <T>(step: () => T) => T;
  /** The same with the file locked for writing; keeps all of what the step writes, or nothing when it throws. */
  readonly write: <T>(step: () => T) => T;
  readonly tell: NoticeListener;
  /** Whether the file was opened for reading only. */
  readonly isReadOnly: boolean;
  readonly isOpen: () => boolean;
  readonly close: () => void;
}

export interface ConnectionOptions {
  readonly file: string;
  readonly now: () => number;
  readonly onNotice: NoticeListener | undefined;
}

/**
 * Entries that are asked for, or put in, lie all over the file. So more of it is held in memory (in kibibytes), and pages that are
 * changed again and again are written to their places less often (after so many pages of the log, 16 MB).
 */
const SETTINGS = 'PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000';

/** @throws RegistryError when the file lacks what its version says that it has: it is damaged, and was set aside */
export function connection(database: OpenDatabase, options: ConnectionOptions): Connection {
  const { file, now, onNotice } = options;
  const identity = identityOf(file);
  const tell: NoticeListener = (notice) => onNotice?.(notice);
  let ended: RegistryError | null = null;

  function damaged(cause: unknown): RegistryError {
    const aside = triedAside(file, identity, now());
    const error = corruptError(file, aside, cause);
    ended = error;
    // After the file was moved: SQLite then leaves the log alone that has its old name, which may be another file's by now.
    abandon(database);
    tell({ kind: 'set-aside', file, to: aside, message: error.message });
    return error;
  }

  function failure(thrown: unknown): Error {
    // Wrong use by the caller, or by its clock.
    if (thrown instanceof RegistryError || thrown instanceof TypeError) return thrown;
    const error = storeError(thrown, file);
    return isDamage(error) ? damaged(error) : registryError(error, file);
  }

  function attempt<T>(step: () => T): T {
    if (ended !== null) throw new RegistryError(ended, { cause: ended.cause });
    try {
      return step();
    } catch (thrown) {
      throw failure(thrown);
    }
  }

  function checkPlace(): void {
    // What is written to a file that has been moved or deleted is lost to all who open it by its name.
    if (identityOf(file) === identity) return;
    throw new RegistryError({
      code: 'registry-unavailable',
      message: `The registry ${file} was moved, deleted or replaced while it was open.`,
      help: 'open it again',
    });
  }

  return {
    file,
    tell,
    attempt,
    statements: prepared(database, failure),
    write: (step) =>
      attempt(() => {
        checkPlace();
        return database.transaction(step);
      }),
    isReadOnly: database.isReadOnly,
    isOpen: () => ended === null,
    close() {
      if (ended !== null) return;
      ended = new RegistryError({ code: 'registry-closed', message: 'The registry was closed.' });
      database.close();
    },
  };
}

function prepared(database: OpenDatabase, failure: (thrown: unknown) => Error): Statements {
  try {
    database.exec(SETTINGS);
    const statements = prepareStatements(database);
    // What was cut off is missing at the ends. All the rest is read when it is needed.
    for (const probe of [statements.lastEntry, statements.lastKey, statements.lastPosting]) probe.get();
    return statements;
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** Sets a file aside; `null` where that does not work. */
export function triedAside(file: string, identity: string | null, now: number): string | null {
  try {
    return setAside(file, identity, now);
  } catch {
    // The error to tell is the one that led here.
    return null;
  }
}

function abandon(database: OpenDatabase): void {
  try {
    database.abandon();
  } catch {
    // Nothing more will come from it.
  }
}
