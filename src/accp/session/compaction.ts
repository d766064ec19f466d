/**
 * The compact frames of a session (profile `compact1`), and the tables that both sides keep for them.
 *
 * Each sender has its own tables. The metadata field `tbl` announces changes: with `new`, an agent begins tables with the entries of the
 * common registry, with `reg` with those of its own; `off` ends them.
 *
 * If all parties share one count of frames, the agents of one endpoint share tables, since its frames are then read in the order in which
 * they were sent: with `as.NAME`, an agent uses the tables of another one. But a lost frame need not leave a gap, because a frame of another
 * party may have its number. So every frame that uses tables has the number of such frames of the sender so far, modulo 1000: as the key
 * of the list of a numbered operation, otherwise in `tbl`, as in `new.12`. A frame with another number is rejected like one after a gap.
 */
import type { TokenCounter } from '../../tokens/counter.js';
import type { Frame } from '../ast.js';
import { Compactor } from '../compact/compact.js';
import { expandFrame } from '../compact/expand.js';
import { numberIn } from '../compact/spelling.js';
import { spellAgent, staticEntries, unspellAgent } from '../compact/static.js';
import { CompactTables, type Shape, type Table, type TablesMark } from '../compact/tables.js';
import { AccpError } from '../errors.js';
import { parseFrame } from '../parse.js';
import type { Registry } from '../registry/registry.js';
import type { Collection, Journal } from '../store/journal.js';
import type { SequenceMode } from './delivery.js';
import { COMMON_REGISTRY } from './registries.js';

const NEW = 'new';
const REGISTRY = 'reg';
const OFF = 'off';
const SHARED = 'as.';
const COUNTS = 1000;

/** The value of `want` in the error frame that asks for new tables. */
export const WANTED_TABLES = 'tables';

/** The value of `want` in the error frame that asks for plain frames. */
export const WANTED_PLAIN = 'plain';

/** The maximum number of senders whose tables are stored, and of those that are known: peers choose their number. */
const MAX_SENDERS = 64;
const MAX_KNOWN = 1024;

/** The tables of one sender. */
interface TableOwner {
  /** The agents that use the tables; the first one began them. */
  readonly agents: readonly string[];
  /** The hash of the registry that the tables begin with. */
  readonly hash: string;
  /** The number of frames that have used these tables and former ones, modulo {@link COUNTS}; 0 if each sender has its own count of frames. */
  readonly count: number;
  /** `null` if they have ended, or once a frame could not be read: the following ones cannot be read either. */
  readonly tables: CompactTables | null;
}

interface StoredOwner extends Pick<TableOwner, 'agents' | 'hash' | 'count'> {
  readonly isBroken: boolean;
}

/** A body as it is sent, with the metadata field `tbl`. */
export interface CompactBody {
  readonly body: string;
  readonly table: string | undefined;
  /** The numbers of tokens of the body, and of the plain one, if they were counted. */
  readonly tokens: number | undefined;
  readonly plainTokens: number | undefined;
}

/** The state of the tables, to return to. */
export interface CompactionMark {
  readonly owners: ReadonlyMap<string, TableOwner>;
  readonly tables: ReadonlyMap<CompactTables, TablesMark>;
}

interface CompactionOptions {
  readonly journal: Journal;
  readonly mode: SequenceMode;
  readonly counter: TokenCounter;
}

const OUTGOING = 'out:';
const INCOMING = 'in:';

export class Compaction {
  readonly #mode: SequenceMode;
  readonly #counter: TokenCounter;
  readonly #stored: Collection<StoredOwner>;
  readonly #shapes: Collection<Shape>;
  readonly #strings: Collection<string>;
  /** The owners by key: `out:` and the agent, or nothing if its agents share tables; `in:` and the agent that began the tables. */
  #owners = new Map<string, TableOwner>();
  /** The owners at the end of the last operation. */
  #settled: ReadonlyMap<string, TableOwner> = new Map();
  readonly #compactors = new WeakMap<CompactTables, Compactor>();
  #isResumed = false;

  constructor({ journal, mode, counter }: CompactionOptions) {
    this.#mode = mode;
    this.#counter = counter;
    this.#stored = journal.collection('compact');
    this.#shapes = journal.collection('compact-shapes');
    this.#strings = journal.collection('compact-strings');
  }

  /** Restores the tables of an earlier process, once. @param registryOf returns the registry of a peer; without a name, the own one */
  resume(registryOf: (agent?: string) => Registry): void {
    if (this.#isResumed) return;
    this.#isResumed = true;
    for (const [key, { agents, hash, count, isBroken }] of this.#stored.entries()) {
      const own = registryOf(key.startsWith(INCOMING) ? agents[0] : undefined);
      const registry = [own, COMMON_REGISTRY].find((one) => one.hash === hash);
      const tables = isBroken || registry === undefined ? null : new CompactTables(staticEntries(registry), true);
      this.#owners.set(key, { agents, hash, count, tables });
    }
    for (const [key, shape] of this.#shapes.entries()) this.#tablesOf(key)?.shapes.restore(countOf(key), shape);
    for (const [key, text] of this.#strings.entries()) this.#tablesOf(key)?.strings.restore(countOf(key), text);
    this.#settled = new Map(this.#owners);
  }

  /**
   * Returns the body to send, and updates the tables.
   *
   * @param plain the canonical text of header and body
   * @param registry the registry to begin with if all peers read compact frames, otherwise `null`
   * @param names the registry whose numbers of agents all peers know
   */
  shorten(agent: string, plain: string, registry: Registry | null, names: Registry): CompactBody {
    const key = this.#mode === 'session' ? OUTGOING : OUTGOING + agent;
    const owner = this.#owners.get(key);
    if (registry === null && owner?.tables == null)
      return { body: plain, table: undefined, tokens: undefined, plainTokens: undefined };
    const frame = parseFrame(plain);
    if (isProtocolFrame(frame)) return { body: plain, table: undefined, tokens: undefined, plainTokens: undefined };
    if (registry !== null) {
      const { table, ...used } = this.#usedBy(agent, owner, registry);
      const compacted = this.#compactorOf(used.tables).compact(frame, plain, used.count);
      if (compacted !== null) {
        const next = this.#counted(used);
        if (table !== undefined || next !== used) this.#owners.set(key, next);
        const { text, hasCount, tokens, plainTokens } = compacted;
        const name = spellAgent(agent, names);
        const body = name === agent ? text : `@${name}${text.slice(agent.length + 1)}`;
        const mark = this.#mark(table, used.count, hasCount);
        return { body, table: mark, tokens: name === agent ? tokens : undefined, plainTokens };
      }
    }
    this.reset(agent);
    const table = owner?.tables == null ? undefined : OFF;
    return { body: plain, table, tokens: undefined, plainTokens: undefined };
  }

  /** Returns the name of the agent of a frame, which may be a number. @param own the registry of this side */
  agentOf({ agent: written }: Frame, table: string | undefined, own: Registry): string {
    const agent = unspellAgent(written, own);
    // A plain frame has no number.
    return agent !== written && (table !== undefined || this.#readerOf(agent) !== undefined) ? agent : written;
  }

  /** Returns `false` if a frame before this one, which uses the same tables, was lost without a gap. */
  isContinuous(frame: Frame, table: string | undefined): boolean {
    if (this.#mode === 'sender' || table === OFF || isProtocolFrame(frame)) return true;
    if (table !== undefined && BEGINNING.test(table)) return true;
    const { agent, operation, payload } = frame;
    const [, first, inTable] = SHARED_COUNT.exec(table ?? '') ?? [];
    const owner =
      first === undefined ? this.#owners.get(this.#readerOf(agent) ?? '') : this.#owners.get(INCOMING + first);
    const inPayload = numberIn(operation) === undefined ? undefined : numberIn(payload[0]?.key ?? '');
    const count = inPayload ?? numberIn(inTable ?? '');
    // A plain frame has no count.
    return count === owner?.count;
  }

  /**
   * Returns the plain frame, and updates the tables.
   *
   * @param table the metadata field `tbl`
   * @param registryOf returns the registry of a peer
   * @throws AccpError E2001 if the tables lack an entry, E1001 if the frame is invalid, E2003 if there are too many senders. Later frames
   * are then rejected until their sender begins new tables or sends plain frames, which `want` in the details asks for.
   */
  expand(frame: Frame, table: string | undefined, registryOf: (agent: string) => Registry): Frame {
    const { agent } = frame;
    if (table !== undefined) this.#announced(agent, table, registryOf);
    if (isProtocolFrame(frame)) return frame;
    const key = this.#readerOf(agent);
    if (key === undefined) return frame;
    const owner = this.#owners.get(key)!;
    if (owner.tables === null) throw unreadable('E2001', 'An earlier compact frame could not be read.');
    try {
      const plain = expandFrame(frame, owner.tables);
      const next = this.#counted(owner);
      if (next !== owner) this.#owners.set(key, next);
      return plain;
    } catch (thrown) {
      this.#owners.set(key, { ...owner, tables: null });
      throw thrown instanceof AccpError ? unreadable(thrown.code, thrown.message) : thrown;
    }
  }

  /** Begins new tables with the next frame of an agent: after a resend, or if the other side could not read a frame. */
  reset(agent: string): void {
    const key = this.#mode === 'session' ? OUTGOING : OUTGOING + agent;
    const owner = this.#owners.get(key);
    // The count continues, so that no later frame fits to the former tables.
    if (owner !== undefined) this.#owners.set(key, { ...owner, tables: null });
  }

  mark(): CompactionMark {
    const tables = new Map<CompactTables, TablesMark>();
    for (const owner of this.#owners.values()) if (owner.tables !== null) tables.set(owner.tables, owner.tables.mark());
    return { owners: new Map(this.#owners), tables };
  }

  rollBack({ owners, tables }: CompactionMark): void {
    this.#owners = new Map(owners);
    for (const [one, mark] of tables) one.rollBack(mark);
  }

  /** Stores the changes of an operation together with its other changes. */
  settle(): void {
    for (const key of this.#settled.keys()) if (!this.#owners.has(key)) this.#forget(key);
    for (const [key, owner] of this.#owners) {
      const before = this.#settled.get(key);
      const { agents, hash, count, tables } = owner;
      if (before !== owner) {
        if (before !== undefined && before.tables !== tables) this.#forget(key);
        this.#stored.set(key, { agents, hash, count, isBroken: tables === null });
      }
      if (tables === null) continue;
      store(key, tables.shapes, this.#shapes);
      store(key, tables.strings, this.#strings);
    }
    this.#settled = new Map(this.#owners);
  }

  /** Returns the tables that a frame of an agent uses, and the value of `tbl` if it is the first one. */
  #usedBy(agent: string, owner: TableOwner | undefined, registry: Registry) {
    const { hash } = registry;
    if (owner?.tables == null || owner.hash !== hash) {
      const tables = new CompactTables(staticEntries(registry), true);
      const table = hash === COMMON_REGISTRY.hash ? NEW : REGISTRY;
      return { agents: [agent], hash, count: owner?.count ?? 0, tables, table };
    }
    const { agents, count, tables } = owner;
    if (agents.includes(agent)) return { agents, hash, count, tables, table: undefined };
    return { agents: [...agents, agent], hash, count, tables, table: SHARED + agents[0] };
  }

  #counted<T extends Pick<TableOwner, 'count'>>(owner: T): T {
    return this.#mode === 'session' ? { ...owner, count: (owner.count + 1) % COUNTS } : owner;
  }

  /** Returns the field `tbl` of a frame that uses tables. */
  #mark(table: string | undefined, count: number, hasCount: boolean): string | undefined {
    const isBeginning = table === NEW || table === REGISTRY;
    if (this.#mode === 'sender' || (hasCount && !isBeginning)) return table;
    return table === undefined ? String(count) : `${table}.${count}`;
  }

  #announced(agent: string, table: string, registryOf: (agent: string) => Registry): void {
    const before = this.#readerOf(agent);
    const [, first] = SHARED_COUNT.exec(table) ?? [];
    // A mere count.
    if (first === undefined && numberIn(table) !== undefined) return;
    if (first !== undefined) {
      const owner = this.#mode === 'session' ? this.#owners.get(INCOMING + first) : undefined;
      if (owner === undefined) throw this.#refused(agent, unreadable('E2001', `The agent ${first} has no tables.`));
      if (before !== undefined && before !== INCOMING + first) this.#owners.delete(before);
      this.#owners.set(INCOMING + first, { ...owner, agents: [...new Set([...owner.agents, agent])] });
      return;
    }
    // All agents that used the tables announce new ones.
    if (before !== undefined) this.#owners.delete(before);
    if (table === OFF) return;
    const [, kind, count = '0'] = BEGINNING.exec(table) ?? [];
    if (kind === undefined) {
      throw this.#refused(agent, unreadable('E1001', `The field tbl cannot be "${table}".`));
    }
    if (this.#owners.size >= MAX_SENDERS) {
      const message = `The tables of at most ${MAX_SENDERS} senders are stored.`;
      throw this.#refused(agent, unreadable('E2003', message, WANTED_PLAIN));
    }
    const registry = kind === NEW ? COMMON_REGISTRY : registryOf(agent);
    const tables = new CompactTables(staticEntries(registry), true);
    this.#owners.set(INCOMING + agent, { agents: [agent], hash: registry.hash, count: Number(count), tables });
  }

  /** Records that the frames of an agent cannot be read, which may be meant as compact ones. */
  #refused(agent: string, error: AccpError): AccpError {
    const isKnown = this.#owners.delete(INCOMING + agent);
    if (isKnown || this.#owners.size < MAX_KNOWN)
      this.#owners.set(INCOMING + agent, { agents: [agent], hash: '', count: 0, tables: null });
    return error;
  }

  #readerOf(agent: string): string | undefined {
    for (const [key, { agents }] of this.#owners) if (key.startsWith(INCOMING) && agents.includes(agent)) return key;
    return undefined;
  }

  #compactorOf(tables: CompactTables): Compactor {
    let compactor = this.#compactors.get(tables);
    if (compactor === undefined) {
      compactor = new Compactor(tables, this.#counter);
      this.#compactors.set(tables, compactor);
    }
    return compactor;
  }

  #tablesOf(entryKey: string): CompactTables | null | undefined {
    return this.#owners.get(entryKey.slice(0, entryKey.lastIndexOf('|')))?.tables;
  }

  #forget(key: string): void {
    this.#stored.delete(key);
    for (const entries of [this.#shapes, this.#strings]) {
      for (const entryKey of [...entries.keys()]) if (entryKey.startsWith(`${key}|`)) entries.delete(entryKey);
    }
  }
}

/** The beginning of tables, with a count. */
const BEGINNING = /^(new|reg)(?:\.([0-9]{1,3}))?$/;

/** A count, or the agent whose tables are used, and a count. */
const SHARED_COUNT = /^(?:as\.([A-Za-z0-9_-]+)(?:\.|$))?([0-9]{1,3})?$/;

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

/** Frames that maintain the session, and error frames, are always plain, so that they can be read without tables. */
function isProtocolFrame({ intent, operation, payload }: Frame): boolean {
  if (intent === 'ping' || intent === 'pong') return true;
  if (intent === 'sync') return operation === 'registry' || operation === 'resync';
  const schema = payload.at(-1);
  const isError = schema?.key === 'schema' && schema.value.kind === 'string' && schema.value.value === 'ER';
  return isError || (intent === 'fail' && operation === 'error');
}

function unreadable(code: AccpError['code'], message: string, want = WANTED_TABLES): AccpError {
  return new AccpError({ code, message, details: { want } });
}
