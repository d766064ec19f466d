/** The data of one endpoint: collections, and a journal of their changes for the next commit. */

import type { Change, ColdChange, ColdEntry, EndpointStore } from './store.js';
import { storedValue, toText } from './text.js';

/** `added` is for a new key, which is the last one. */
type Step = 'added' | 'set' | 'removed';

/** A function that records a change. */
type RecordChange = (key: string, step: Step) => void;

/**
 * The changed keys in order. `added` is for keys that the store does not have, `moved` for those that were removed and added again, which
 * are now the last.
 */
type Changed = Map<string, Step | 'moved'>;

/** A map that records its changes. Values, JSON or bigints, must not be mutated; `set` a new value instead. */
export class Collection<V> {
  readonly #entries = new Map<string, V>();
  readonly #record: RecordChange | null;

  /** @param record receives each change; `null` if nothing is stored before the session is closed */
  constructor(record: RecordChange | null) {
    this.#record = record;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  set(key: string, value: V): void {
    if (this.#record !== null) this.#record(key, this.#entries.has(key) ? 'set' : 'added');
    this.#entries.set(key, value);
  }

  delete(key: string): boolean {
    const had = this.#entries.delete(key);
    if (had) this.#record?.(key, 'removed');
    return had;
  }

  clear(): void {
    if (this.#record === null) this.#entries.clear();
    else for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  readonly takeOldest = createTakeOldest<string, V>({
    entries: () => this.#entries.entries(),
    delete: (key) => this.delete(key),
  });

  keys(): MapIterator<string> {
    return this.#entries.keys();
  }

  entries(): MapIterator<[string, V]> {
    return this.#entries.entries();
  }

  values(): MapIterator<V> {
    return this.#entries.values();
  }

  /** Restores an entry from the store, without recording it. */
  restore(key: string, value: V): void {
    this.#entries.set(key, value);
  }
}

/** The collections of one endpoint, and their changes since the last commit. */
export class Journal {
  readonly #store: EndpointStore;
  readonly #durable: boolean;
  readonly #collections = new Map<string, Collection<unknown>>();
  readonly #changed = new Map<string, Changed>();
  readonly #cold = new Map<string, ColdChange>();
  #stored: Map<string, [string, string][]>;

  constructor(store: EndpointStore, durable: boolean) {
    this.#store = store;
    this.#durable = durable;
    this.#stored = new Map();
    for (const { collection, key, value } of store.entries()) {
      const entries = this.#stored.get(collection) ?? [];
      entries.push([key, value!]);
      this.#stored.set(collection, entries);
    }
  }

  /** Returns the collection with a name, with the stored data. Each name has one owner, which requests it once. */
  collection<V>(name: string): Collection<V> {
    const changed: Changed = new Map();
    this.#changed.set(name, changed);
    const collection = new Collection<V>(this.#durable ? (key, step) => recordChange(changed, key, step) : null);
    for (const [key, value] of this.#stored.get(name) ?? []) collection.restore(key, storedValue(value) as V);
    this.#stored.delete(name);
    this.#collections.set(name, collection as Collection<unknown>);
    return collection;
  }

  /** Sets a value of the session's cold tier with the next commit; it can be read at once. */
  setCold(key: string, value: unknown, expiresAt: number | null): void {
    this.#cold.set(key, { key, value: toText(value), expiresAt });
  }

  /** Sets a deterministic value like {@link setCold}, but computes it when the store first reads it. `size` is its estimated length. */
  setColdLazily(key: string, make: () => unknown, size: number): void {
    this.#cold.set(key, new LazyChange(key, make, size));
  }

  /** Reserves a key of the cold tier before the next commit. Returns `true` if the key was free. */
  reserveCold(key: string): boolean {
    if (this.#cold.has(key)) return false;
    return this.#store.reserveCold?.(key) ?? this.#store.readCold(key) === undefined;
  }

  cold(key: string): ColdEntry | undefined {
    return this.#cold.get(key) ?? this.#store.readCold(key);
  }

  coldOf(session: string, key: string): ColdEntry | undefined {
    return this.#store.readColdOf(session, key);
  }

  sessionsWithCold(key: string): readonly string[] {
    return this.#store.sessionsWithCold(key);
  }

  /** Stores all changes since the last commit atomically. Throws StoreError on failure; the changes are kept for another attempt. */
  commit(): void {
    if (!this.#durable && this.#cold.size === 0) {
      // There is nothing to write, but an owner that has lost the endpoint must not continue.
      this.#store.check?.();
      return;
    }
    const changes = this.#durable ? this.#changes() : [];
    if (changes.length === 0 && this.#cold.size === 0) return;
    this.#store.commit(changes, [...this.#cold.values()]);
    if (changes.length > 0) for (const changed of this.#changed.values()) changed.clear();
    this.#cold.clear();
  }

  close(): void {
    if (this.#durable) this.commit();
    else this.#store.commit(this.#all(), [...this.#cold.values()]);
    this.#cold.clear();
    this.#store.release();
  }

  #changes(): Change[] {
    const changes: Change[] = [];
    for (const [name, changed] of this.#changed) {
      const collection = this.#collections.get(name)!;
      for (const [key, step] of changed) {
        // The store would keep the old position of the key.
        if (step === 'removed' || step === 'moved') changes.push({ collection: name, key, value: null });
        if (step !== 'removed') changes.push({ collection: name, key, value: toText(collection.get(key)) });
      }
    }
    return changes;
  }

  /** Returns all entries in order, which replace those in the store. Collections that were not requested remain. */
  #all(): Change[] {
    const changes: Change[] = [];
    for (const { collection, key } of this.#store.entries()) {
      if (this.#collections.has(collection)) changes.push({ collection, key, value: null });
    }
    for (const [name, collection] of this.#collections) {
      for (const [key, value] of collection.entries()) changes.push({ collection: name, key, value: toText(value) });
    }
    return changes;
  }
}

function recordChange(changed: Changed, key: string, step: Step): void {
  const before = changed.get(key);
  if (step === 'set') {
    if (before === undefined) changed.set(key, 'set');
    return;
  }
  changed.delete(key);
  if (step === 'added') changed.set(key, before === undefined ? 'added' : 'moved');
  else if (before !== 'added') changed.set(key, 'removed');
}

/** A change whose value is computed when first read. A class, because closures would take more memory. */
class LazyChange implements ColdChange {
  readonly key: string;
  readonly size: number;
  readonly expiresAt = null;
  #value: string | undefined;
  #compute: (() => unknown) | undefined;

  constructor(key: string, compute: () => unknown, size: number) {
    this.key = key;
    this.size = size;
    this.#compute = compute;
  }

  get value(): string {
    this.#value ??= toText(this.#compute?.());
    this.#compute = undefined;
    return this.#value;
  }
}

interface Ordered<K, V> {
  readonly entries: () => MapIterator<[K, V]> | SetIterator<[K, V]>;
  readonly delete: (key: K) => boolean;
}

/**
 * Returns a function that removes the oldest entry, of those that `isTaken` accepts. A new iterator for each call would skip the slots of all
 * removed entries again.
 */
export function createTakeOldest<K, V>(
  map: Ordered<K, V>,
): (isTaken?: (value: V, key: K) => boolean) => [K, V] | undefined {
  // An iterator retains outgrown tables of the map until its next step, so there is none unless entries are removed. Behind it are only
  // entries that were not taken.
  let iterator: ReturnType<Ordered<K, V>['entries']> | null = null;
  return (isTaken) => {
    for (let isComplete = iterator === null; ; isComplete = true) {
      iterator ??= map.entries();
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        const [key, value] = next.value;
        if (isTaken !== undefined && !isTaken(value as V, key)) continue;
        map.delete(key);
        return next.value as [K, V];
      }
      // An exhausted iterator stays exhausted, even after further sets.
      iterator = null;
      if (isComplete) return undefined;
    }
  };
}
