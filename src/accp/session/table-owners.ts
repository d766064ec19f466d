/** The tables of compact frames by their senders: kept with the session, and returned to an earlier state if an operation fails. */
import { staticEntries } from '../compact/static.js';
import { CompactTables, type Shape, type Table } from '../compact/tables.js';
import type { Registry } from '../registry/registry.js';
import type { Collection, Journal } from '../store/journal.js';

/** The tables of one sender. */
export interface TableOwner {
  /** The agents that use the tables; the first one began them. */
  readonly agents: readonly string[];
  /** The agents of this side that have ever used tables, and those for which the other side may still have former ones. */
  readonly known: readonly string[];
  readonly former: readonly string[];
  /** The hash of the registry that the tables begin with. */
  readonly hash: string;
  /** The number of frames that have used these tables and former ones, modulo 1000; 0 if each sender has its own count of frames. */
  readonly count: number;
  /** `null` if they have ended, or once a frame could not be read: the following ones cannot be read either. */
  readonly tables: CompactTables | null;
}

interface StoredOwner extends Omit<TableOwner, 'tables'> {
  readonly isBroken: boolean;
}

/** The owners by key: `out:` and the agent, or nothing if its agents share tables; `in:` and the agent that began the tables. */
export class TableOwners extends Map<string, TableOwner> {
  readonly #stored: Collection<StoredOwner>;
  readonly #shapes: Collection<Shape>;
  readonly #strings: Collection<string>;
  /** The owners that have changed since they were settled, as they were before. */
  #changes: (readonly [key: string, before: TableOwner | undefined])[] = [];
  /** The tables that were used since then, with the keys of their owners. */
  readonly #used = new Map<CompactTables, string>();
  #isResumed = false;

  constructor(journal: Journal) {
    super();
    this.#stored = journal.collection('compact');
    this.#shapes = journal.collection('compact-shapes');
    this.#strings = journal.collection('compact-strings');
  }

  /** Restores the tables of an earlier process, once. @param registryOf returns the registry with a hash; `null` if it is unknown */
  resume(registryOf: (hash: string) => Registry | null): void {
    if (this.#isResumed) return;
    this.#isResumed = true;
    for (const [key, { isBroken, ...owner }] of this.#stored.entries()) {
      const registry = registryOf(owner.hash);
      const tables = isBroken || registry === null ? null : new CompactTables(staticEntries(registry), true);
      super.set(key, { ...owner, tables });
    }
    for (const [key, shape] of this.#shapes.entries()) this.#tablesOf(key)?.shapes.restore(countOf(key), shape);
    for (const [key, text] of this.#strings.entries()) this.#tablesOf(key)?.strings.restore(countOf(key), text);
  }

  override set(key: string, owner: TableOwner): this {
    this.#changes.push([key, this.get(key)]);
    return super.set(key, owner);
  }

  override delete(key: string): boolean {
    this.#changes.push([key, this.get(key)]);
    return super.delete(key);
  }

  /** Records that a frame may change tables, before it does. */
  use(key: string, tables: CompactTables): void {
    this.#used.set(tables, key);
  }

  /** Undoes all changes since the last call of {@link settle}. */
  rollBack(): void {
    for (const [key, before] of this.#changes.reverse()) {
      if (before === undefined) super.delete(key);
      else super.set(key, before);
    }
    for (const tables of this.#used.keys()) tables.rollBack();
    this.#forgetChanges();
  }

  /** Keeps all changes. They are stored together with the other changes of the operation. */
  settle(): void {
    if (this.#changes.length === 0 && this.#used.size === 0) return;
    // The first change of each key has what is stored.
    const changes = this.#changes.length === 1 ? this.#changes : new Map(this.#changes.reverse());
    for (const [key, before] of changes) this.#store(key, before, this.get(key));
    for (const [tables, key] of this.#used) {
      if (this.get(key)?.tables !== tables) continue;
      store(key, tables.shapes, this.#shapes);
      store(key, tables.strings, this.#strings);
    }
    this.#forgetChanges();
  }

  #forgetChanges(): void {
    this.#changes = [];
    this.#used.clear();
  }

  #store(key: string, before: TableOwner | undefined, owner: TableOwner | undefined): void {
    if (before !== undefined && before.tables !== owner?.tables) this.#forget(key);
    if (owner === undefined) return;
    // Member by member: a spread takes several times as long.
    const { agents, known, former, hash, count, tables } = owner;
    this.#stored.set(key, { agents, known, former, hash, count, isBroken: tables === null });
  }

  #forget(key: string): void {
    this.#stored.delete(key);
    for (const entries of [this.#shapes, this.#strings]) {
      for (const entryKey of [...entries.keys()]) if (entryKey.startsWith(`${key}|`)) entries.delete(entryKey);
    }
  }

  #tablesOf(entryKey: string): CompactTables | null | undefined {
    return this.get(entryKey.slice(0, entryKey.lastIndexOf('|')))?.tables;
  }
}

function store<T>(key: string, table: Table<T>, entries: Collection<T>): void {
  for (const { count, entry, isAdded } of table.settle()) {
    if (isAdded) entries.set(`${key}|${count}`, entry);
    else entries.delete(`${key}|${count}`);
  }
}

/** The number in the key of an entry: how many were learned before it. */
function countOf(entryKey: string): number {
  return Number(entryKey.slice(entryKey.lastIndexOf('|') + 1));
}
