/** The numbered shapes and strings of compact frames: those of the registry first, then those learned from frames. */
import { ownText } from '../../text/own-text.js';
import { mayHaveNumber } from '../registry/definition.js';

/** A list of keys that frames refer to by number: of a payload if it has an operation or a schema, otherwise of a map. */
export interface Shape {
  /** The operation of the payload; `null` for any. */
  readonly operation: string | null;
  /** The code of the schema of the payload; `null` for none. */
  readonly schema: string | null;
  /** The keys as in plain frames. */
  readonly keys: readonly string[];
}

/** Entries by number, and their numbers by key. */
export interface Numbered<T> {
  readonly entries: readonly T[];
  readonly numbers: ReadonlyMap<string, number>;
}

/** The entries that both sides know before the first frame. All tables of a registry share them. */
export interface StaticEntries {
  readonly shapes: Numbered<Shape>;
  readonly strings: Numbered<string>;
}

/** Numbers entries in their order. Of entries with the same key, the first one counts. */
export function numbered<T>(all: readonly T[], keyOf: (entry: T) => string): Numbered<T> {
  const numbers = new Map<string, number>();
  const entries = all.filter((entry) => {
    const key = keyOf(entry);
    if (numbers.has(key)) return false;
    numbers.set(key, numbers.size);
    return true;
  });
  return { entries, numbers };
}

/** One change of a table: an entry that was added or evicted. */
export interface TableChange<T> {
  /** The number of entries learned before it. */
  readonly count: number;
  readonly entry: T;
  readonly isAdded: boolean;
}

interface Bounds<T> {
  /** The maximum number of learned entries. */
  readonly entries: number;
  /** The maximum length of the keys of all learned entries. */
  readonly length: number;
  readonly keyOf: (entry: T) => string;
  /** Returns the entry without views of the frame that it was learned from, which would retain it. */
  readonly ownOf: (entry: T) => T;
}

/**
 * Entries by number. Learned entries follow the static ones; their numbers repeat after `bounds.entries`, and the oldest are evicted first.
 * Both sides add the same entries in the same order, so that they have the same numbers.
 */
export class Table<T> {
  readonly #fixed: Numbered<T>;
  /** The number of static entries. */
  readonly #offset: number;
  readonly #bounds: Bounds<T>;
  /** The learned entries by number, less the number of static ones. */
  readonly #entries: (T | undefined)[] = [];
  /** The numbers of learned entries by key, and the length of these keys. */
  readonly #numbers = new Map<string, number>();
  #length = 0;
  /** The counts of entries evicted and added so far. */
  #first = 0;
  #next = 0;
  /** The count of entries added until the last call of `settle`. */
  #settled = 0;
  /** The changes since the last call of `settle`. */
  #changes: TableChange<T>[] = [];

  constructor(fixed: Numbered<T>, bounds: Bounds<T>) {
    this.#fixed = fixed;
    this.#offset = fixed.entries.length;
    this.#bounds = bounds;
  }

  at(number: number): T | undefined {
    return number < this.#offset ? this.#fixed.entries[number] : this.#entries[number - this.#offset];
  }

  numberOf(key: string): number | undefined {
    return (this.#offset === 0 ? undefined : this.#fixed.numbers.get(key)) ?? this.#numbers.get(key);
  }

  /** Visits the static entries, then the learned ones, the oldest first. */
  forEach(visit: (entry: T, number: number) => void): void {
    this.#fixed.entries.forEach(visit);
    for (let count = this.#first; count < this.#next; count++) {
      const place = this.#placeOf(count);
      visit(this.#entries[place]!, this.#offset + place);
    }
  }

  /** Adds an entry, unless it is known or exceeds the bounds alone. */
  learn(entry: T, key = this.#bounds.keyOf(entry)): void {
    const { ownOf, length, entries } = this.#bounds;
    if (key.length > length || this.numberOf(key) !== undefined) return;
    while (this.#length + key.length > length || this.#next - this.#first >= entries) {
      const evicted = this.#remove(this.#first);
      this.#changes.push({ count: this.#first++, entry: evicted, isAdded: false });
    }
    const count = this.#next++;
    const own = ownOf(entry);
    this.#put(count, own);
    this.#changes.push({ count, entry: own, isAdded: true });
  }

  /** Restores a stored entry that was learned after `count` others. Entries must be restored in their order. */
  restore(count: number, entry: T): void {
    if (this.#next === this.#first) this.#first = count;
    this.#next = count + 1;
    this.#settled = this.#next;
    this.#put(count, entry);
  }

  /** The number of changes since the last call of `settle`. */
  get changes(): number {
    return this.#changes.length;
  }

  /** Undoes all changes since the last call of `settle` but the first ones. */
  rollBack(kept = 0): void {
    while (this.#changes.length > kept) {
      const { count, entry, isAdded } = this.#changes.pop()!;
      if (isAdded) {
        this.#remove(count);
        this.#next = count;
      } else {
        this.#put(count, entry);
        this.#first = count;
      }
    }
  }

  /** Keeps all changes, and returns them in order, without the entries that were added and evicted since the last call. */
  settle(): readonly TableChange<T>[] {
    const changes = this.#changes;
    if (changes.length === 0) return changes;
    const settled = this.#settled;
    this.#changes = [];
    this.#settled = this.#next;
    return changes.filter(({ count, isAdded }) => (isAdded ? count >= this.#first : count < settled));
  }

  #placeOf(count: number): number {
    return count % this.#bounds.entries;
  }

  #put(count: number, entry: T): void {
    const place = this.#placeOf(count);
    const key = this.#bounds.keyOf(entry);
    this.#entries[place] = entry;
    this.#numbers.set(key, this.#offset + place);
    this.#length += key.length;
  }

  #remove(count: number): T {
    const place = this.#placeOf(count);
    const entry = this.#entries[place]!;
    const key = this.#bounds.keyOf(entry);
    this.#entries[place] = undefined;
    this.#numbers.delete(key);
    this.#length -= key.length;
    return entry;
  }
}

/** The bounds of the learned entries of one sender, which the other side chooses: about 100 kB. */
const MAX_SHAPES = 128;
const MAX_SHAPE_CHARACTERS = 8192;
const MAX_STRINGS = 512;
const MAX_STRING_CHARACTERS = 16_384;

const SHAPE_BOUNDS: Bounds<Shape> = {
  entries: MAX_SHAPES,
  length: MAX_SHAPE_CHARACTERS,
  keyOf: shapeKey,
  ownOf: ({ operation, schema, keys }) => ({
    operation: operation && ownText(operation),
    schema: schema && ownText(schema),
    keys: keys.map(ownText),
  }),
};
const STRING_BOUNDS: Bounds<string> = {
  entries: MAX_STRINGS,
  length: MAX_STRING_CHARACTERS,
  keyOf: (text) => text,
  ownOf: ownText,
};

/** The tables of one sender. */
export class CompactTables {
  readonly shapes: Table<Shape>;
  readonly strings: Table<string>;
  readonly #learns: boolean;

  /** @param learns if false, the tables stay as they are, for use without a session */
  constructor({ shapes, strings }: StaticEntries, learns: boolean) {
    this.#learns = learns;
    this.shapes = new Table(shapes, SHAPE_BOUNDS);
    this.strings = new Table(strings, STRING_BOUNDS);
  }

  /** @param key the result of {@link shapeKey}, if it is known */
  learnShape(shape: Shape, key?: string): void {
    if (this.#learns) this.shapes.learn(shape, key);
  }

  /** Returns the number of a string; `undefined` if it has none. */
  stringNumber(text: string): number | undefined {
    return mayHaveNumber(text) ? this.strings.numberOf(text) : undefined;
  }

  learnString(text: string): void {
    if (this.#learns && mayHaveNumber(text)) this.strings.learn(text);
  }

  /** Returns the present state, for {@link rollBack}. */
  mark(): TablesMark {
    return { shapes: this.shapes.changes, strings: this.strings.changes };
  }

  /** Undoes all changes since a mark, or since they were stored. */
  rollBack({ shapes, strings }: TablesMark = { shapes: 0, strings: 0 }): void {
    this.shapes.rollBack(shapes);
    this.strings.rollBack(strings);
  }
}

export interface TablesMark {
  readonly shapes: number;
  readonly strings: number;
}

/** Returns the identity of a shape: equal for equal shapes only, since no part contains a bar. */
export function shapeKey({ operation, schema, keys }: Shape): string {
  return `${operation ?? ''}|${schema ?? ''}|${keys.join('|')}`;
}
