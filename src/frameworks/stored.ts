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

/** Returns the name of data in a namespace. A namespace must not be the beginning of another one's names. */
export function nameIn(namespace: string, id: string): string {
  return `${encodeURIComponent(namespace)}:${id}`;
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

const ITEMS = 'items';

/** Options of a stored history. */
export interface HistoryOptions {
  /** The id of the conversation. */
  readonly id: string;
  /** The prefix of the sessions in the store, which keeps several applications apart. @default the name of the adapter */
  readonly namespace?: string | undefined;
}

/** A list of items in a store, in the order in which they were added. */
export interface StoredList<T> {
  /** Returns the items; with a limit, the most recent ones. */
  readonly get: (limit?: number) => T[];
  readonly add: (items: readonly T[]) => void;
  /** Removes the last item, and returns it. */
  readonly pop: () => T | undefined;
  readonly clear: () => void;
}

/** Opens a list. @throws TypeError if the id is empty */
export function storedList<T>(store: SessionStore, { id, namespace }: HistoryOptions, adapter: string): StoredList<T> {
  if (typeof id !== 'string' || id === '') throw new TypeError('id must be a non-empty string');
  const name = nameIn(namespace ?? adapter, id);
  const withItems = <R>(step: (items: readonly (readonly [string, string])[], data: EndpointStore) => R): R =>
    withData(store, name, ITEMS, (data) => step([...valuesIn(data, ITEMS)], data));
  return {
    get: (limit = Number.POSITIVE_INFINITY) =>
      withItems((items) => (limit > 0 ? items.slice(-limit) : []).map(([, text]) => JSON.parse(text) as T)),
    add(items) {
      const texts = items.map(textOfItem);
      withItems((known, data) => {
        const next = Number(known.at(-1)?.[0] ?? -1) + 1;
        data.commit(texts.map((value, index) => ({ collection: ITEMS, key: String(next + index), value })));
      });
    },
    pop: () =>
      withItems((items, data) => {
        const last = items.at(-1);
        if (last === undefined) return undefined;
        data.commit([{ collection: ITEMS, key: last[0], value: null }]);
        return JSON.parse(last[1]) as T;
      }),
    clear: () => removeData(store, name, ITEMS),
  };
}

/** Writes an item as JSON. Bytes become base64, which the SDKs accept in their place. Throws TypeError for what JSON cannot represent. */
function textOfItem(item: unknown): string {
  const text: string | undefined = JSON.stringify(
    item,
    function encode(this: Readonly<Record<string, unknown>>, key: string, member: unknown) {
      // `member` is the result of `toJSON`, which Buffer has.
      const own = this[key];
      return own instanceof Uint8Array
        ? toBase64(own)
        : own instanceof ArrayBuffer
          ? toBase64(new Uint8Array(own))
          : member;
    },
  );
  if (text === undefined) throw new TypeError('an item of a history must be JSON');
  return text;
}

/** Returns the base64 of bytes. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
