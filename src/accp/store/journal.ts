/** The data of one endpoint of a session: collections that note what has changed, to be stored with the next commit. */

import type { Change, ColdChange, ColdEntry, EndpointStore } from './store.js';
import { storedValue, toText } from './text.js';

/** @param added whether the key was not there before, so that its place is now the last */
type NoteChange = (key: string, added: boolean) => void;

/** Keys that have changed, in order; `true` for those that were removed and set again, and so have a new place. */
type Changed = Map<string, boolean>;

/**
 * A map whose changes are noted. Values are never changed in place: `set` a new one. They have to be what `store/text.ts`
 * can write: JSON and bigints.
 */
export class Collection<V> {
  readonly #entries = new Map<string, V>();
  readonly #note: NoteChange | null;

  /** @param note told the key of every change; `null` where nothing is stored before the end */
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

  /** Takes out the entry that was set first; others can be taken out besides. */
  readonly takeOldest = takingOldest<string, V>({
    entries: () => this.#entries.entries(),
    delete: (key) => this.delete(key),
  });

  /** Keys in the order in which they were first set. */
  keys(): MapIterator<string> {
    return this.#entries.keys();
  }

  entries(): MapIterator<[string, V]> {
    return this.#entries.entries();
  }

  values(): MapIterator<V> {
    return this.#entries.values();
  }

  /** Puts an entry in without noting it: it comes from the store. */
  restore(key: string, value: V): void {
    this.#entries.set(key, value);
  }
}

/** The collections of one endpoint over its part of a store. */
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

  /** The collection of a name, with what the store has of it. Each name is asked for once, by its one owner. */
  collection<V>(name: string): Collection<V> {
    const changed: Changed = new Map();
    this.#changed.set(name, changed);
    const collection = new Collection<V>(this.#durable ? (key, added) => noteChange(changed, key, added) : null);
    for (const [key, value] of this.#stored.get(name) ?? []) collection.restore(key, storedValue(value) as V);
    this.#stored.delete(name);
    this.#collections.set(name, collection as Collection<unknown>);
    return collection;
  }

  /** Puts a value into the session's cold tier with the next commit; it can be read at once. */
  setCold(key: string, value: unknown, expires: number | null): void {
    this.#cold.set(key, { key, value: toText(value), expires });
  }

  /**
   * The same for a value that is made, and written, when the store first asks for it. It has to be always the same.
   *
   * @param size about how many characters it is
   */
  setColdLater(key: string, make: () => unknown, size: number): void {
    this.#cold.set(key, new LaterChange(key, make, size));
  }

  /** Takes a key of the cold tier at once, before the next commit. @returns whether it was free */
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

  /**
   * Stores what has changed since the last commit, all or nothing.
   *
   * @throws StoreError when the store cannot; the changes are kept for another attempt
   */
  commit(): void {
    if (!this.#durable && this.#cold.size === 0) {
      // Nothing to write; but whoever has lost the endpoint must not go on.
      this.#store.check?.();
      return;
    }
    const changes = this.#durable ? this.#changes() : [];
    if (changes.length === 0 && this.#cold.size === 0) return;
    this.#store.commit(changes, [...this.#cold.values()]);
    if (changes.length > 0) for (const changed of this.#changed.values()) changed.clear();
    this.#cold.clear();
  }

  /** Stores all there is, for a later session to go on with, and gives the endpoint back. */
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
        // The store keeps the place of a key that it has.
        if (moved && value !== null) changes.push({ collection: name, key, value: null });
        changes.push({ collection: name, key, value });
      }
    }
    return changes;
  }

  /** Everything in its order, in place of what the store has. Collections that nobody has asked for stay. */
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
  // Noted before and not there now: it was removed.
  const removed = changed.delete(key);
  changed.set(key, removed);
}

/** A class, because a getter of its own would cost more than all else of it. */
class LaterChange implements ColdChange {
  readonly key: string;
  readonly size: number;
  readonly expires = null;
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

/**
 * Gives a function that takes out the entry that was set first. One iterator is kept between the calls: a new one would step over
 * the places of all that was taken out before, which are many in a map that is full all the time.
 */
export function takingOldest<K, V>(map: Ordered<K, V>): () => [K, V] | undefined {
  // An iterator keeps all tables that the map has outgrown since its last step: where nothing is taken, there must be none.
  let places: ReturnType<Ordered<K, V>['entries']> | null = null;
  return () => {
    places ??= map.entries();
    let next = places.next();
    if (next.done === true) {
      // An iterator that has come to the end stays there, whatever is set then.
      places = map.entries();
      next = places.next();
      if (next.done === true) return undefined;
    }
    map.delete(next.value[0]);
    return next.value;
  };
}
