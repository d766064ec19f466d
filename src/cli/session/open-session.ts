/** Opens a codec and a session from options. */
import path from 'node:path';
import { createCodec } from '../../accp/codec/codec.js';
import type { CodecOptions } from '../../accp/codec/contract.js';
import { createSession } from '../../accp/session/session.js';
import type { SessionStore } from '../../accp/store/store.js';
import { fromText, toText } from '../../accp/store/text.js';
import { loadTokenCounter } from '../../tokens/load-counter.js';
import { notExact, storeFault, UsageError } from '../io/errors.js';
import type { SessionOptions } from './options.js';

export type OpenSession = Awaited<ReturnType<typeof openSession>>;

export interface Defaults {
  readonly agent: string;
  /** The default name; then the last one of the file, and the name of the file. */
  readonly id?: string | undefined;
  readonly codec?: CodecOptions | undefined;
}

/** @throws UsageError */
export async function openSession(options: SessionOptions, defaults: Defaults) {
  const { session: file, agent = defaults.agent, sequence, now } = options;
  const codec = createCodec({
    ...defaults.codec,
    text: options.text,
    counter: await counterOf(options),
    now: now === undefined ? undefined : () => now,
    state: !options['no-state'],
  });
  let store: SessionStore | undefined;
  try {
    if (file !== undefined) store = await (await import('../../accp/store/sqlite.js')).sqliteStore(file);
    const named = options.id ?? defaults.id;
    const id = store === undefined ? named : (named ?? lastSession(store, agent) ?? nameOf(file!));
    const session = createSession({ agent, id, sequence, store });
    if (store !== undefined) rememberSession(store, agent, session.id);
    const close = (): void => {
      session.close();
      store?.close();
    };
    return { codec, session, isKept: store !== undefined, close };
  } catch (thrown) {
    store?.close();
    // An invalid name, or another sequence.
    throw thrown instanceof TypeError ? new UsageError(thrown.message) : storeFault(thrown);
  }
}

/** `sessions/sprint14.db`: `sprint14`. */
function nameOf(file: string): string | undefined {
  return path.parse(file).name.replace(/[^A-Za-z0-9_.-]+/g, '-') || undefined;
}

async function counterOf({ encoding }: SessionOptions): Promise<CodecOptions['counter']> {
  if (encoding === undefined) return undefined;
  const counter = await loadTokenCounter(encoding);
  if (!counter.exact) throw notExact(encoding);
  return counter;
}

// The session last used with a file.

/** Stored like a session; identifiers cannot hold spaces. */
const NOTEBOOK = 'pegwire: the session that was used last';
const COLLECTION = 'cli';

function lastSession(store: SessionStore, agent: string): string | undefined {
  const notebook = store.claim(NOTEBOOK, agent);
  const [entry] = notebook.entries();
  notebook.release();
  const id = entry?.value == null ? undefined : fromText(entry.value);
  return typeof id === 'string' ? id : undefined;
}

function rememberSession(store: SessionStore, agent: string, id: string): void {
  const notebook = store.claim(NOTEBOOK, agent);
  notebook.commit([{ collection: COLLECTION, key: 'session', value: toText(id) }]);
  notebook.release();
}
