/**
 * The compact frames of a session (profile `compact1`), and the tables that both sides keep for them.
 *
 * Each sender has its own tables; the metadata field `tbl` announces their changes.
 *
 * If all parties share one count of frames, the agents of one endpoint share tables, since its frames are then read in the order in which
 * they were sent. But a lost frame need not leave a gap, because a frame of another party may have its number. So every frame that uses
 * tables has the number of such frames of the sender so far, modulo 1000: as the key of the list of a numbered operation, otherwise in
 * `tbl`, as in `new.12`. A frame with another number is rejected like one after a gap.
 */
import { ownText } from '../../text/own-text.js';
import type { TokenCounter } from '../../tokens/counter.js';
import type { Frame } from '../ast.js';
import { Compactor, SpellingCosts } from '../compact/compact.js';
import { expandFrame } from '../compact/expand.js';
import { numberIn } from '../compact/spelling.js';
import { spellAgent, staticEntries, unspellAgent } from '../compact/static.js';
import { CompactTables } from '../compact/tables.js';
import { AccpError } from '../errors.js';
import { parseFrame } from '../parse.js';
import { COMMON_REGISTRY, matchesHash, type Registry, shortHash } from '../registry/registry.js';
import type { Journal } from '../store/journal.js';
import type { SequenceMode } from './delivery.js';
import type { Registries } from './registries.js';
import { beginField, COUNTS, countField, joinField, OFF, type TableField } from './table-field.js';
import { type TableOwner, TableOwners } from './table-owners.js';

/** The value of `want` in the error frame that asks for new tables. */
export const WANTED_TABLES = 'tables';

/** The value of `want` in the error frame that asks for plain frames. */
export const WANTED_PLAIN = 'plain';

/** The maximum number of senders whose tables are stored, and of those that are known: peers choose their number. */
const MAX_SENDERS = 64;
const MAX_KNOWN = 1024;
/** The maximum length of the names of agents with tables. */
const MAX_NAME = 256;

type OpenOwner = TableOwner & { readonly tables: CompactTables };

/** A body as it is sent, with the metadata field `tbl`. */
export interface CompactBody {
  readonly body: string;
  readonly table: string | undefined;
  /** The numbers of tokens of the body, with the agent by name, and of the plain one, if they were counted. */
  readonly tokens: number | undefined;
  readonly plainTokens: number | undefined;
}

export interface Shortening {
  readonly tree?: Frame | undefined;
  readonly isPart?: boolean | undefined;
  /** `true` if the other side may take a plain frame for a compact one, by its form. */
  readonly mayBeCounted?: boolean;
}

interface CompactionOptions {
  readonly journal: Journal;
  readonly mode: SequenceMode;
  readonly counter: TokenCounter;
  /** The agents that have announced their registries. */
  readonly peers: Pick<Registries['peers'], 'size' | 'values'>;
}

interface AgentNumbers {
  readonly registry: Registry;
  readonly owner: TableOwner;
}

const OUTGOING = 'out:';
const INCOMING = 'in:';

export class Compaction {
  readonly #mode: SequenceMode;
  readonly #costs: SpellingCosts;
  readonly #peers: CompactionOptions['peers'];
  readonly owners: TableOwners;
  #isWriting = false;
  /** `true` while a frame is made of the tables, whose tokens are counted. */
  #isCounting = false;
  #interruptions = 0;

  constructor({ journal, mode, counter, peers }: CompactionOptions) {
    this.#mode = mode;
    this.#costs = new SpellingCosts(counter);
    this.#peers = peers;
    this.owners = new TableOwners(journal);
  }

  /** Writes a message: undoes the changes of the tables if the operation throws. */
  write<T>(operation: () => T): T {
    const isOuter = this.#isWriting;
    this.owners.settle();
    this.#isWriting = true;
    try {
      return operation();
    } catch (thrown) {
      this.owners.rollBack();
      throw thrown;
    } finally {
      this.#isWriting = isOuter;
    }
  }

  /**
   * Runs an operation within another one, called by a function of the host. What a message that is being written has changed is undone: its
   * number will be higher than those of the frames that are sent now.
   */
  interrupt<T>(operation: () => T): T {
    if (this.#isCounting) throw new TypeError('A token counter cannot use the session that it counts for');
    const isOuter = this.#isWriting;
    if (isOuter) {
      this.owners.rollBack();
      this.#interruptions++;
    } else this.owners.settle();
    this.#isWriting = false;
    try {
      return operation();
    } finally {
      this.#isWriting = isOuter;
    }
  }

  /** The number of interruptions of messages that were being written: their compact frames must be made again. */
  get interruptions(): number {
    return this.#interruptions;
  }

  /**
   * Returns the body to send, and updates the tables.
   *
   * @param plain the canonical text of header and body
   * @param registry the registry to begin with if all peers read compact frames, otherwise `null`
   * @param shortening the tree of the text, if it is known; `isPart` for a part of a message
   */
  shorten(agent: string, plain: string, registry: Registry | null, shortening: Shortening = {}): CompactBody {
    const { tree, isPart, mayBeCounted = false } = shortening;
    const key = this.#outgoingKey(agent);
    const owner = this.owners.get(key);
    const isMarked = (): boolean => mayBeCounted && this.#mode === 'session' && NUMBERED.test(plain);
    if (registry === null && owner === undefined) return plainBody(plain, isMarked() ? OFF : undefined);
    const frame = tree ?? parseFrame(plain);
    if (isProtocolFrame(frame)) return plainBody(plain, undefined);
    const hasNumbers = this.#mode === 'session' || registry?.compact?.agents !== undefined;
    if (registry !== null && !(hasNumbers && numberIn(agent) !== undefined)) {
      const [used, change] = this.#usedBy(agent, owner, registry);
      // With one count for all, the key of the list is the number of the frame.
      const count = this.#mode === 'session' ? used.count : undefined;
      this.owners.use(key, used.tables);
      const compacted = this.#counting(() =>
        new Compactor(used.tables, this.#costs).compact(frame, plain, count, isPart),
      );
      if (compacted !== null) {
        const next = this.#counted(used);
        if (next !== owner) this.owners.set(key, next);
        const { text, isNumbered, hasCount, tokens, plainTokens } = compacted;
        // The receiver does not know the count of tables that a frame begins.
        const isCounted = hasCount && used.tables === owner?.tables;
        const table = this.#mode === 'sender' || isCounted ? change : countField(change, used.count);
        const isRead = table !== undefined || isNumbered;
        const name = isRead ? this.#spellAgent(agent, change, { registry, owner: used }) : agent;
        const body = name === agent ? text : `@${name}${text.slice(agent.length + 1)}`;
        return { body, table, tokens, plainTokens };
      }
    }
    const isUsed = owner?.agents.includes(agent) === true;
    const isEnd = isUsed || owner?.former.includes(agent) === true;
    if (isUsed) this.reset(agent);
    const left = this.owners.get(key);
    if (isEnd) this.owners.set(key, { ...left!, former: without(left!.former, agent) });
    // A plain frame with a number as its operation looks like a compact one.
    return plainBody(plain, isEnd || registry !== null || isMarked() ? OFF : undefined);
  }

  #counting<T>(operation: () => T): T {
    this.#isCounting = true;
    try {
      return operation();
    } finally {
      this.#isCounting = false;
    }
  }

  /** Returns the number of an agent if it has fewer tokens. @param change the field `tbl` of a frame that begins or joins tables */
  #spellAgent(agent: string, change: string | undefined, { registry, owner }: AgentNumbers): string {
    // In the mode `sender`, the count of a frame is that of its agent, which must be known before its tables.
    const hasNumber = this.#mode === 'session' || change === undefined;
    const spelled = hasNumber && this.#haveOneRegistry(registry) ? spellAgent(agent, registry) : agent;
    // Another endpoint could have an agent with this number.
    if (spelled !== agent || this.#mode === 'sender' || this.#peers.size > 1 || change !== undefined) return spelled;
    const number = String((registry.compact?.agents?.length ?? 0) + owner.agents.indexOf(agent));
    return this.#costs.of(number) < this.#costs.of(agent) ? number : agent;
  }

  /** Returns `true` if numbers of agents mean the same in all registries of the session. */
  #haveOneRegistry(own: Registry): boolean {
    if (this.#peers.size <= 1) return true;
    for (const { announcement } of this.#peers.values()) if (!matchesHash(own, announcement.hash)) return false;
    return true;
  }

  /**
   * Returns the name of the agent of a frame, which may be a number in the registry of its tables, or among the agents that share them.
   * `isAmbiguous` means that several agents have the number, since their endpoints do not know each other's registries.
   */
  agentOf(
    frame: Frame,
    field: TableField | undefined,
    registryOf: (hash: string) => Registry | null,
  ): readonly [agent: string, isAmbiguous: boolean] {
    const { agent: written } = frame;
    if (numberIn(written) === undefined || field?.kind === 'off' || isProtocolFrame(frame)) return [written, false];
    const named = this.#agentsWith(frame, field, registryOf);
    return named.length > 1 ? [written, true] : [named[0] ?? written, false];
  }

  /** Returns the agents that a number may mean; none if it is the name. */
  #agentsWith(
    frame: Frame,
    field: TableField | undefined,
    registryOf: (hash: string) => Registry | null,
  ): readonly string[] {
    const { agent: written } = frame;
    const isShared = this.#mode === 'session';
    // The common registry has no agents.
    if (field?.kind === 'begin')
      return isShared && field.hash !== undefined ? [nameIn(registryOf(field.hash), written)] : [];
    if (field?.first !== undefined) {
      const owner = this.owners.get(INCOMING + field.first);
      return owner === undefined ? [] : [nameIn(registryOf(owner.hash), written)];
    }
    // The frame of an agent with this name, which has tables, or does not use any.
    if (this.#readerOf(written) !== undefined || !usesTables(frame, field)) return [];
    const found = new Set<string>();
    const sharing: string[] = [];
    // Many owners have the same registry, and broken ones may have none.
    const registries = new Map<string, Registry | null>([['', null]]);
    for (const [key, owner] of this.owners) {
      if (!key.startsWith(INCOMING)) continue;
      const { hash } = owner;
      if (!registries.has(hash)) registries.set(hash, registryOf(hash));
      const registry = registries.get(hash)!;
      const agent = nameIn(registry, written);
      if (agent !== written && owner.agents.includes(agent)) found.add(agent);
      const shared = owner.agents[Number(written) - (registry?.compact?.agents?.length ?? 0)];
      if (shared !== undefined && isShared) sharing.push(shared);
    }
    return found.size > 0 ? [...found] : sharing;
  }

  /**
   * Returns `false` if a frame before this one, which uses the same tables, was lost without a gap.
   *
   * @param mayBeCompact `true` if the agent may send compact frames
   */
  isContinuous(frame: Frame, field: TableField | undefined, mayBeCompact: boolean): boolean {
    if (this.#mode === 'sender' || field?.kind === 'off' || field?.kind === 'begin' || isProtocolFrame(frame))
      return true;
    const { agent, operation, payload } = frame;
    const first = field?.first;
    const owner = this.owners.get((first === undefined ? this.#readerOf(agent) : INCOMING + first) ?? '');
    // An agent without compact frames may have tables, if its announcement was lost.
    if (!mayBeCompact && field === undefined && owner === undefined) return true;
    const inPayload = numberIn(operation) === undefined ? undefined : numberIn(payload[0]?.key ?? '');
    // A plain frame has no count.
    return (inPayload ?? field?.count) === owner?.count;
  }

  /**
   * Returns the plain frame, with its text if it differs, and updates the tables.
   *
   * @param field the metadata field `tbl`
   * @param registryOf returns the registry with a hash; `null` if it is unknown
   * @throws AccpError E2001 if the tables lack an entry, E1001 if the frame is invalid, E2003 if there are too many senders. Later frames
   * are then rejected until their sender begins new tables or sends plain frames, which `want` in the details asks for.
   */
  expand(
    frame: Frame,
    field: TableField | undefined,
    registryOf: (hash: string) => Registry | null,
  ): readonly [frame: Frame, text?: string] {
    const { agent } = frame;
    if (isProtocolFrame(frame)) return [frame];
    if (field !== undefined) this.#announced(agent, field, registryOf);
    const key = this.#readerOf(agent);
    if (key === undefined) return [frame];
    const owner = this.owners.get(key)!;
    if (owner.tables === null) throw unreadable('E2001', 'An earlier compact frame could not be read.');
    this.owners.use(key, owner.tables);
    try {
      const [plain, text] = expandFrame(frame, owner.tables);
      if (isProtocolFrame(plain)) throw unreadable('E1001', 'A frame of this kind is always plain.');
      const next = this.#counted(owner);
      if (next !== owner) this.owners.set(key, next);
      return [plain, text];
    } catch (thrown) {
      this.#break(agent, key);
      throw thrown instanceof AccpError ? unreadable(thrown.code, thrown.message) : thrown;
    }
  }

  /** Begins new tables with the next frame of an agent: after a resend, or if the other side could not read a frame. */
  reset(agent: string): void {
    const key = this.#outgoingKey(agent);
    const owner = this.owners.get(key);
    if (owner === undefined) return;
    // The count continues, so that no later frame fits to the former tables. A frame that ended them may be lost, too.
    this.owners.set(key, { ...owner, agents: [], former: owner.known, tables: null });
  }

  /** Returns the owner of the tables that a frame of an agent uses, and the value of `tbl` if it is the first one. */
  #usedBy(agent: string, owner: TableOwner | undefined, registry: Registry): readonly [OpenOwner, string?] {
    const { agents = [], count = 0, known = [] } = owner ?? {};
    const current = owner?.tables && owner.hash === registry.hash ? (owner as OpenOwner) : undefined;
    if (current !== undefined && agents.includes(agent)) return [current];
    const { hash } = registry;
    const tables = current?.tables ?? new CompactTables(staticEntries(registry), true);
    const used = {
      known: known.includes(agent) ? known : [...known, agent],
      former: without(current?.former ?? known, agent),
      ...{ hash, count, tables },
    };
    if (current !== undefined) return [{ ...used, agents: [...agents, agent] }, joinField(agents[0]!)];
    const isCommon = hash === COMMON_REGISTRY.hash;
    return [{ ...used, agents: [agent] }, beginField(isCommon ? undefined : shortHash(hash))];
  }

  #outgoingKey(agent: string): string {
    return this.#mode === 'session' ? OUTGOING : OUTGOING + agent;
  }

  /** Returns the owner after one more frame. Copied member by member: a spread takes several times as long. */
  #counted(owner: TableOwner): TableOwner {
    if (this.#mode === 'sender') return owner;
    const { agents, known, former, hash, count, tables } = owner;
    return { agents, known, former, hash, count: (count + 1) % COUNTS, tables };
  }

  #announced(agent: string, field: TableField, registryOf: (hash: string) => Registry | null): void {
    if (field.kind === 'count') return;
    const before = this.#readerOf(agent);
    const key = INCOMING + (field.first ?? agent);
    let next: TableOwner | undefined;
    try {
      if (field.first !== undefined) next = this.#joined(agent, field.first);
      else if (field.kind !== 'off') next = this.#begun(agent, field, before, registryOf);
    } catch (thrown) {
      this.#break(agent, before);
      throw thrown;
    }
    // An endpoint has one pair of tables: all agents that used the former ones announce new ones.
    const isOnlyEndpoint = this.#mode === 'session' && this.#peers.size === 1 && field.kind === 'begin';
    for (const other of isOnlyEndpoint ? [...this.owners.keys()] : [before ?? ''])
      if (other.startsWith(INCOMING) && (other !== key || next === undefined)) this.owners.delete(other);
    if (next !== undefined) this.owners.set(key, next);
  }

  /** Returns the tables that another agent has begun, and this one uses from now on. */
  #joined(agent: string, first: string): TableOwner {
    const owner = this.#mode === 'session' ? this.owners.get(INCOMING + first) : undefined;
    if (owner === undefined) throw unreadable('E2001', `The agent ${first} has no tables.`);
    if (owner.agents.includes(agent)) return owner;
    if (owner.agents.length < MAX_SENDERS && agent.length <= MAX_NAME)
      return { ...owner, agents: [...owner.agents, ownText(agent)] };
    throw unreadable('E2003', `At most ${MAX_SENDERS} agents can have tables.`, WANTED_PLAIN);
  }

  #begun(
    agent: string,
    field: TableField,
    before: string | undefined,
    registryOf: (hash: string) => Registry | null,
  ): TableOwner {
    if (field.kind === 'invalid') throw unreadable('E1001', `The field tbl cannot be "${field.text}".`);
    const { hash, count = 0 } = field;
    let readers = 0;
    for (const [key, { tables }] of this.owners) {
      if (key.startsWith(INCOMING) && key !== before && tables !== null) readers++;
    }
    // Those with broken tables are known, too.
    const isNew = before === undefined && !this.owners.has(INCOMING + agent);
    if (readers >= MAX_SENDERS || (isNew && this.owners.size >= MAX_KNOWN) || agent.length > MAX_NAME)
      throw unreadable('E2003', `At most ${MAX_SENDERS} agents can have tables.`, WANTED_PLAIN);
    const registry = hash === undefined ? COMMON_REGISTRY : registryOf(hash);
    if (registry === null) throw unreadable('E2001', `The registry ${hash} is unknown.`, WANTED_PLAIN);
    const tables = new CompactTables(staticEntries(registry), true);
    return { agents: [ownText(agent)], known: [], former: [], hash: registry.hash, count, tables };
  }

  /** Records that the frames of an agent cannot be read, which may be meant as compact ones. */
  #break(agent: string, key = INCOMING + agent): void {
    const owner = this.owners.get(key);
    if (owner === undefined && (this.owners.size >= MAX_KNOWN || agent.length > MAX_NAME)) return;
    const unknown = { agents: [ownText(agent)], known: [], former: [], hash: '', count: 0 };
    this.owners.set(key, { ...(owner ?? unknown), tables: null });
  }

  #readerOf(agent: string): string | undefined {
    const own = INCOMING + agent;
    if (this.owners.get(own)?.agents.includes(agent)) return own;
    for (const [key, { agents }] of this.owners) if (key.startsWith(INCOMING) && agents.includes(agent)) return key;
    return undefined;
  }
}

/** Returns `true` for a frame that only a reader with tables can read, as it shows by itself. */
function usesTables(
  { operation, payload }: Pick<Frame, 'operation' | 'payload'>,
  field: TableField | undefined,
): boolean {
  return field !== undefined || numberIn(operation) !== undefined || numberIn(payload[0]?.key ?? '') !== undefined;
}

function nameIn(registry: Registry | null, written: string): string {
  return registry === null ? written : unspellAgent(written, registry);
}

function without(agents: readonly string[], agent: string): readonly string[] {
  return agents.includes(agent) ? agents.filter((other) => other !== agent) : agents;
}

function plainBody(body: string, table: string | undefined): CompactBody {
  return { body, table, tokens: undefined, plainTokens: undefined };
}

/** A plain frame that reads like a compact one: its operation and its first key are numbers. */
const NUMBERED = /^@[\w-]+>[A-Za-z]+:[0-9]+\{[0-9]+:/;

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
