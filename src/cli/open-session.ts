/** A codec and a session, as the options of a command have them. */
import path from 'node:path';
import { type Codec, createCodec } from '../accp/codec/codec.js';
import type { CodecOptions } from '../accp/codec/options.js';
import { createSession, type Session } from '../accp/session/session.js';
import { type SessionStore, StoreError } from '../accp/store/store.js';
import { ENCODINGS } from '../tokens/counter.js';
import { loadTokenCounter } from '../tokens/load-counter.js';
import { lastSession, rememberSession } from './last-session.js';
import { givenNow } from './now.js';
import { SEQUENCES, TEXTS } from './session-options.js';
import { choice, type Invocation, notExact, UsageError } from './usage.js';

export interface OpenSession {
  readonly codec: Codec;
  readonly session: Session;
  /** Whether it lies in a file, and can be gone on with. */
  readonly isKept: boolean;
  readonly close: () => void;
}

export interface Defaults {
  readonly agent: string;
  /** The session's name where the options have none. After it come the last one of the file, and the file's own name. */
  readonly id?: string | undefined;
  readonly codec?: CodecOptions | undefined;
}

/** @throws UsageError on options that do not fit, and on a file that cannot be used */
export async function openSession(invocation: Invocation, defaults: Defaults): Promise<OpenSession> {
  const { options } = invocation;
  const file = text(options['session']);
  const agent = text(options['agent']) ?? defaults.agent;
  const sequence = choice(invocation, 'sequence', SEQUENCES);
  const codec = createCodec({
    ...defaults.codec,
    text: options['text'] === undefined ? undefined : choice(invocation, 'text', TEXTS),
    tokens: await counterOf(invocation),
    clock: clockOf(invocation),
    state: options['no-state'] !== true,
  });
  const store = file === undefined ? undefined : await openStore(file);
  try {
    const named = text(options['id']) ?? defaults.id;
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
    // Names that are none, and a session that counts otherwise.
    throw thrown instanceof TypeError ? new UsageError(thrown.message) : storeFault(thrown);
  }
}

/** What a store throws is no defect of ours. */
export function storeFault(thrown: unknown): unknown {
  return thrown instanceof StoreError ? new UsageError(thrown.message, 'unreadable') : thrown;
}

async function openStore(file: string): Promise<SessionStore> {
  const { sqliteStore } = await import('../accp/store/sqlite.js');
  try {
    return await sqliteStore(file);
  } catch (thrown) {
    throw storeFault(thrown);
  }
}

function text(option: string | boolean | undefined): string | undefined {
  return typeof option === 'string' ? option : undefined;
}

/** A file's name as that of a session: `sprint14` for `sessions/sprint14.db`. */
function nameOf(file: string): string | undefined {
  return path.parse(file).name.replace(/[^A-Za-z0-9_.-]+/g, '-') || undefined;
}

async function counterOf(invocation: Invocation): Promise<CodecOptions['tokens']> {
  if (invocation.options['encoding'] === undefined) return undefined;
  const encoding = choice(invocation, 'encoding', ENCODINGS);
  const counter = await loadTokenCounter(encoding);
  if (!counter.exact) throw notExact(encoding);
  return counter;
}

function clockOf(invocation: Invocation): CodecOptions['clock'] {
  const now = givenNow(invocation);
  return now === undefined ? undefined : () => now;
}
