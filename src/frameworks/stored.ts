/** Data of frameworks in a session store, beside the sessions of ACCP: each under a session and an agent of its own. */
import { type EndpointStore, type SessionStore, StoreError } from '../accp/store/store.js';

/** Processes that claim the same data at the same moment repeat their step. */
const MAX_CLAIMS = 20;

/**
 * Claims data, runs a step on it, and releases it. The step is synchronous, so only another process can come between; the step is then repeated.
 *
 * @throws StoreError if the store fails
 */
export function withData<T>(store: SessionStore, session: string, agent: string, step: (data: EndpointStore) => T): T {
  for (let claims = 1; ; claims++) {
    const data = store.claim(session, agent);
    try {
      return step(data);
    } catch (thrown) {
      if (!(thrown instanceof StoreError && thrown.reason === 'taken') || claims === MAX_CLAIMS) throw thrown;
    } finally {
      data.release();
    }
  }
}

/** Returns the values of a collection by key, in the order in which the keys were first set. */
export function valuesIn(data: EndpointStore, collection: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const entry of data.entries()) {
    if (entry.collection === collection && entry.value !== null) values.set(entry.key, entry.value);
  }
  return values;
}

/** Removes all data of a session and an agent. */
export function removeData(store: SessionStore, session: string, agent: string): void {
  withData(store, session, agent, (data) => {
    const changes = [...data.entries()].map(({ collection, key }) => ({ collection, key, value: null }));
    if (changes.length > 0) data.commit(changes);
  });
}
