/** Which session a file was used for last, so that nobody has to name it again. */
import type { SessionStore } from '../accp/store/store.js';
import { fromText, toText } from '../accp/store/text.js';

/** It stands beside the sessions, as one that nobody else can have: identifiers hold no spaces. */
const NOTEBOOK = 'pegwire: the session that was used last';
const COLLECTION = 'cli';

/** @returns `undefined` for a file that `agent` has not worked with yet */
export function lastSession(store: SessionStore, agent: string): string | undefined {
  const notebook = store.claim(NOTEBOOK, agent);
  const [entry] = notebook.entries();
  notebook.release();
  const id = entry?.value == null ? undefined : fromText(entry.value);
  return typeof id === 'string' ? id : undefined;
}

/** @throws StoreError when it cannot be kept */
export function rememberSession(store: SessionStore, agent: string, id: string): void {
  const notebook = store.claim(NOTEBOOK, agent);
  notebook.commit([{ collection: COLLECTION, key: 'session', value: toText(id) }]);
  notebook.release();
}
