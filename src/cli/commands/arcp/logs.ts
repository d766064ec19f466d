/** Logs: files with one message per line, and databases of runtimes. */
import { closeSync, openSync, readSync } from 'node:fs';
import { type Envelope, type EnvelopeError, tryParseEnvelope } from '../../../arcp/index.js';
import type { ArcpStore } from '../../../arcp/runtime/index.js';
import { isUploadLog } from '../../../arcp/runtime/uploads/rows.js';
import { isPostgres } from '../../io/databases.js';
import { UsageError, unreadable } from '../../io/errors.js';
import { inputName, readLines, type Source } from '../../io/input.js';
import { openDatabase } from './database.js';

/** The header of SQLite files. */
const MAGIC = 'SQLite format 3\0';
const PAGE = 1000;

export interface Entry {
  /** The line, or the position in the database, counted from 1. */
  readonly number: number;
  readonly result: { readonly message: Envelope } | { readonly error: EnvelopeError };
}

/** Reads the entries of a log. @throws UsageError if it cannot be read */
export async function* readLog(source: Source): AsyncGenerator<Entry> {
  const { file } = source;
  if (file !== undefined && (isPostgres(file) || isDatabase(file))) {
    yield* readDatabase(file);
    return;
  }
  for await (const { number, text } of readLines(source)) yield { number, result: parsed(text) };
}

/** Reads the messages before the first invalid line, and the error of that line, which the caller throws after showing them. */
export async function readMessages(source: Source): Promise<{ messages: readonly Envelope[]; fault?: UsageError }> {
  const messages: Envelope[] = [];
  for await (const { number, result } of readLog(source)) {
    if ('error' in result) {
      const fault = new UsageError(
        `${inputName(source)}:${number}: ${result.error.message.replace(/\.$/, '')}`,
        result.error.code,
      );
      return { messages, fault };
    }
    messages.push(result.message);
  }
  return { messages };
}

/** Opens the database of a runtime. @throws UsageError if the file is not one */
export async function openLog(file: string): Promise<ArcpStore> {
  if (!isPostgres(file) && !isDatabase(file))
    throw new UsageError(`${file} is not a database of pegwire arcp serve`, 'unreadable');
  return openDatabase(file, { allowReadOnly: true });
}

async function* readDatabase(file: string): AsyncGenerator<Entry> {
  const store = await openLog(file);
  try {
    let number = 0;
    for (let after = 0; ; ) {
      const events = await store.readEvents({ after, limit: PAGE });
      for (const { body, sequence, sessionId } of events) {
        after = sequence;
        if (isUploadLog(sessionId)) continue;
        yield { number: ++number, result: parsed(body) };
      }
      if (events.length < PAGE) return;
    }
  } finally {
    await store.close();
  }
}

function parsed(text: string): Entry['result'] {
  const result = tryParseEnvelope(text, { maxMessageBytes: Number.POSITIVE_INFINITY });
  return result.ok ? { message: result.value } : { error: result.error };
}

/** Reports whether a file is an SQLite database. @throws UsageError if it cannot be read */
export function isDatabase(file: string): boolean {
  const start = Buffer.alloc(MAGIC.length);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    return readSync(descriptor, start, 0, MAGIC.length, 0) === MAGIC.length && start.toString('latin1') === MAGIC;
  } catch (thrown) {
    throw unreadable(thrown, file);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
