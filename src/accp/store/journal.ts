/** The data of one endpoint: collections that record their changes for the next commit. */

import type { Change, ColdChange, ColdEntry, EndpointStore } from './store.js';
import { storedValue, toText } from './text.js';

/** @param added whether the key is new, and so the last */
type NoteChange = (key: string, added: boolean) => void;

/** Changed keys in order; `true` for those removed and set again, which have a new place. */
type Changed = Map<string, boolean>;

/** A map that records its changes. Values, JSON or bigints, must not be mutated: `set` a new one. */
export class Collection<V> {
  readonly #entries = new Map<string, V>();
  readonly #note: NoteChange | null;

  /** @param note receives each change; `null` where nothing is stored before the end */
  constructor(note: NoteChange | null) {
    this.#note = note;
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
    this.#note?.(key, !this.#entries.has(key));
    this.#entries.set(key, value);
  }

  delete(key: string): boolean {
    const had = this.#entries.delete(key);
    if (had) this.#note?.(key, false);
    return had;
  }

  clear(): void {
    if (this.#note === null) this.#entries.clear();
    else for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  readonly takeOldest = takingOldest<string, V>({
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

  /** Sets an entry from the store, without recording it. */
  restore(key: string, value: V): void {
    this.#entries.set(key, value);
  }
}

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

  /** Returns the collection of a name, with its stored data. Each name has one owner and is requested once. */
  collection<V>(name: string): Collection<V> {
    const changed: Changed = new Map();
    this.#changed.set(name, changed);
    const collection = new Collection<V>(this.#durable ? (key, added) => noteChange(changed, key, added) : null);
    for (const [key, value] of this.#stored.get(name) ?? []) collection.restore(key, storedValue(value) as V);
    this.#stored.delete(name);
    this.#collections.set(name, collection as Collection<unknown>);
    return collection;
  }

  /** Sets a value of the session's cold tier with the next commit; it can be read at once. */
  setCold(key: string, value: unknown, expiresAt: number | null): void {
    this.#cold.set(key, { key, value: toText(value), expiresAt });
  }

  /** The same for a deterministic value that is computed when the store first reads it. `size` in characters, estimated. */
  setColdLater(key: string, make: () => unknown, size: number): void {
    this.#cold.set(key, new LaterChange(key, make, size));
  }

  /** Reserves a key of the cold tier before the next commit. @returns whether it was free */
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

  /** Stores all changes since the last commit atomically. Throws StoreError on failure and keeps the changes for another attempt. */
  commit(): void {
    if (!this.#durable && this.#cold.size === 0) {
      // Nothing to write, but a holder that has lost the endpoint must not continue.
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
      for (const [key, moved] of changed) {
        const value = collection.has(key) ? toText(collection.get(key)) : null;
        // The store would keep the old place of the key.
        if (moved && value !== null) changes.push({ collection: name, key, value: null });
        changes.push({ collection: name, key, value });
      }
    }
    return changes;
  }

  /** All entries in order, replacing those in the store. Unrequested collections stay. */
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

function noteChange(changed: Changed, key: string, added: boolean): void {
  if (!added) {
    if (!changed.has(key)) changed.set(key, false);
    return;
  }
  // Recorded before and absent now: it was removed.
  const removed = changed.delete(key);
  changed.set(key, removed);
}

/** A class, as closures would cost more memory. */
class LaterChange implements ColdChange {
  readonly key: string;
  readonly size: number;
  readonly expiresAt = null;
  #made: string | undefined;
  #make: (() => unknown) | undefined;

  constructor(key: string, make: () => unknown, size: number) {
    this.key = key;
    this.size = size;
    this.#make = make;
  }

  get value(): string {
    this.#made ??= toText(this.#make?.());
    this.#make = undefined;
    return this.#made;
  }
}

interface Ordered<K, V> {
  readonly entries: () => MapIterator<[K, V]> | SetIterator<[K, V]>;
  readonly delete: (key: K) => boolean;
}

/** Returns a function that removes the oldest entry. A new iterator each time would pass over the places of all removed entries. */
export function takingOldest<K, V>(map: Ordered<K, V>): () => [K, V] | undefined {
  // An iterator retains outgrown tables of the map until its next step, so there is none unless entries are removed.
  let places: ReturnType<Ordered<K, V>['entries']> | null = null;
  return () => {
    places ??= map.entries();
    let next = places.next();
    if (next.done === true) {
      // An exhausted iterator stays exhausted, even after further sets.
      places = map.entries();
      next = places.next();
      if (next.done === true) return undefined;
    }
    map.delete(next.value[0]);
    return next.value;
  };
}
