/** Opens the codec and the session that the options select. */
import path from 'node:path';
import { createCodec } from '../../accp/codec/codec.js';
import type { CodecOptions } from '../../accp/codec/contract.js';
import { createSession } from '../../accp/session/session.js';
import type { SessionStore } from '../../accp/store/store.js';
import { fromText, toText } from '../../accp/store/text.js';
import { loadTokenCounter } from '../../tokens/load-counter.js';
import { isPostgres } from '../io/databases.js';
import { notExact, storeFault, UsageError } from '../io/errors.js';
import type { SessionOptions } from './options.js';

export type OpenSession = Awaited<ReturnType<typeof openSession>>;

export interface Defaults {
  readonly agent: string;
  /** The default name of the session; without it, that of the session last used with the file, or the file name. */
  readonly id?: string | undefined;
  readonly codec?: CodecOptions | undefined;
}

/** Opens a codec and a session. @throws UsageError if an option is invalid or the store fails */
export async function openSession(options: SessionOptions, defaults: Defaults) {
  const { session: file, agent = defaults.agent, sequence, now } = options;
  const codec = createCodec({
    ...defaults.codec,
    text: options.text,
    compact: options.compact,
    counter: await counterOf(options),
    now: now === undefined ? undefined : () => now,
    state: !options['no-state'],
  });
  let store: SessionStore | undefined;
  try {
    if (file !== undefined) store = await openStore(file);
    const named = options.id ?? defaults.id;
    const id = store === undefined ? named : (named ?? lastSession(store, agent) ?? nameOf(file!));
    const session = createSession({ agent, id, sequence, store });
    if (store !== undefined) rememberSession(store, agent, session.id);
    const close = (): void => {
      session.close();
      store?.close();
    };
    return { codec, session, isStored: store !== undefined, close };
  } catch (thrown) {
    store?.close();
    // The name is invalid, or the stored session counts in another way.
    throw thrown instanceof TypeError ? new UsageError(thrown.message) : storeFault(thrown);
  }
}

async function openStore(file: string): Promise<SessionStore> {
  if (isPostgres(file)) return (await import('../../accp/store/postgres.js')).postgresStore(file);
  return (await import('../../accp/store/sqlite.js')).sqliteStore(file);
}

/** Returns `sprint14` for `sessions/sprint14.db`, and the name of a PostgreSQL database. */
function nameOf(file: string): string | undefined {
  const place = isPostgres(file) ? new URL(file).pathname : file;
  return path.parse(place).name.replace(/[^A-Za-z0-9_.-]+/g, '-') || undefined;
}

async function counterOf({ encoding }: SessionOptions): Promise<CodecOptions['counter']> {
  if (encoding === undefined) return undefined;
  const counter = await loadTokenCounter(encoding);
  if (!counter.exact) throw notExact(encoding);
  return counter;
}

/** The record of the session last used with a file. It is stored as a session; identifiers of real sessions cannot contain spaces. */
const LAST_SESSION = 'pegwire: the session that was used last';
const COLLECTION = 'cli';

function lastSession(store: SessionStore, agent: string): string | undefined {
  const record = store.claim(LAST_SESSION, agent);
  const [entry] = record.entries();
  record.release();
  const id = entry?.value == null ? undefined : fromText(entry.value);
  return typeof id === 'string' ? id : undefined;
}

function rememberSession(store: SessionStore, agent: string, id: string): void {
  const record = store.claim(LAST_SESSION, agent);
  record.commit([{ collection: COLLECTION, key: 'session', value: toText(id) }]);
  record.release();
}
