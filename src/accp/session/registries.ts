/** The registries of a session: ours and those of peers (draft-benzing-accp-00, section 6.4). */
import { accpError } from '../errors.js';
import type { Json, JsonObject } from '../message/json.js';
import type { TextPolicy } from '../message/write-value.js';
import {
  type Announcement,
  announcement,
  announcementReceived,
  applyDelta,
  type Features,
  type Negotiation,
  nextStep,
  readAnnouncement,
  registryDelta,
  type Step,
  stepSent,
} from '../registry/negotiation.js';
import {
  COMMON_REGISTRY,
  createRegistry,
  exportRegistry,
  matchesHash,
  type Registry,
  type RegistryJson,
} from '../registry/registry.js';
import type { Collection, Journal } from '../store/journal.js';
import type { SequenceMode } from './delivery.js';

export interface Peer {
  readonly announcement: Announcement;
  readonly registry?: RegistryJson | undefined;
  /** The hash of our registry that it has. */
  readonly known?: string | null | undefined;
}

/** The spelling of strings that the grammar cannot write. */
export interface TextState {
  readonly text: TextPolicy;
  /** `true` if the other side decodes transliteration. */
  readonly peerDecodes: boolean;
}

/** The facts with our schemas, and with the hash announced last. */
const REGISTRY = 'registry';
const ANNOUNCED = 'announced';
/** The fact that this side has announced a registry, whether or not peers have read it. */
const HAS_ANNOUNCED = 'has-announced';
/** The fact with the number of our announcements that must be sent again: until then, peers may lack them. */
const UNREAD = 'unread-announcements';
/** The fact that compact frames are not used, whatever the sides have announced. */
const NO_COMPACT = 'no-compact';

/** The maximum numbers of agents that announce registries, and of those with schemas of their own, which are stored. */
const MAX_PEERS = 1024;
const MAX_DELTAS = 64;
const MAX_FORMER = 8;

export class Registries {
  readonly peers: Collection<Peer>;
  readonly #facts: Collection<Json>;
  readonly #sequence: SequenceMode;
  readonly #registries = new WeakMap<RegistryJson, Registry>();
  #codecRegistry: Registry | undefined;
  #own = COMMON_REGISTRY;
  /** Our earlier registries, the latest first: peers may have announced the same before they read of a newer one. */
  #former: readonly Registry[] = [];

  constructor(journal: Journal, facts: Collection<Json>, sequence: SequenceMode) {
    this.peers = journal.collection('peers');
    this.#facts = facts;
    this.#sequence = sequence;
  }

  /** Returns our schemas: those of the codec, or those of the session if the codec of a resumed session lacks them. */
  own(codecRegistry: Registry): Registry {
    if (this.#codecRegistry === codecRegistry) return this.#own;
    const stored = this.#facts.get(REGISTRY) as unknown as RegistryJson | undefined;
    const restored = stored === undefined ? undefined : createRegistry(stored);
    const isOlder = restored !== undefined && restored.version > codecRegistry.version;
    if (this.#codecRegistry !== undefined) this.#former = [this.#own, ...this.#former].slice(0, MAX_FORMER);
    this.#codecRegistry = codecRegistry;
    this.#own = isOlder ? restored : codecRegistry;
    // The schemas of profiles need no announcement.
    if (!isOlder && codecRegistry.version > COMMON_REGISTRY.version && restored?.hash !== codecRegistry.hash) {
      this.#facts.set(REGISTRY, exportRegistry(codecRegistry) as unknown as Json);
    }
    return this.#own;
  }

  /** Returns the schemas of the frames of `agent`: those it has sent, or ours. */
  of(agent: string, own: Registry): Registry {
    const peer = this.#peerOf(agent);
    if (peer === undefined) return own;
    if (peer.registry === undefined) return matchesHash(own, peer.announcement.hash) ? own : COMMON_REGISTRY;
    let registry = this.#registries.get(peer.registry);
    if (registry === undefined) {
      registry = createRegistry(peer.registry);
      this.#registries.set(peer.registry, registry);
    }
    return registry;
  }

  /** Returns the announcement for an agent: an endpoint announces for all of its agents. Of several endpoints, it may belong to any. */
  #peerOf(agent: string): Peer | undefined {
    if (this.peers.size === 0) return undefined;
    const peer = this.peers.get(agent);
    if (peer !== undefined || this.peers.size > 1) return peer;
    const [only] = this.peers.values();
    return only;
  }

  /** Records that peers do not have what was announced. */
  forget(): void {
    this.announced = undefined;
    this.forgetDelta();
  }

  /** Records that peers do not have the registry that was sent to them: it is sent again when they announce theirs. */
  forgetDelta(): void {
    for (const [agent, peer] of [...this.peers.entries()])
      if (peer.known) this.peers.set(agent, { ...peer, known: null });
  }

  writing(policy: TextPolicy | undefined): TextState {
    if (policy !== undefined) return { text: policy, peerDecodes: policy === 'transliterate' };
    const peerDecodes = this.announced !== undefined;
    return { text: peerDecodes && this.#allTransliterate() ? 'transliterate' : 'reject', peerDecodes };
  }

  /**
   * Returns the registry whose entries compact frames can begin with; `null` unless all peers read compact frames.
   *
   * @param isAnnouncing `true` for frames that are read after the announcements of this side, since they have one count
   */
  compactRegistry(own: Registry, isAnnouncing: boolean): Registry | null {
    if (this.announced === undefined || this.peers.size === 0) return null;
    if (this.#facts.has(NO_COMPACT) || this.#facts.has(UNREAD)) return null;
    let isKnown = this.announced === own.hash;
    for (const { announcement, known } of this.peers.values()) {
      if (announcement.profile !== 'compact1') return null;
      isKnown &&= (isAnnouncing && known === own.hash) || matchesHash(own, announcement.hash);
    }
    return isKnown ? own : COMMON_REGISTRY;
  }

  /** The number of announcements that must be sent again; compact frames follow them. */
  get unread(): number {
    return Number(this.#facts.get(UNREAD) ?? 0);
  }

  set unread(count: number) {
    if (count > 0) this.#facts.set(UNREAD, count);
    else if (this.#facts.has(UNREAD)) this.#facts.delete(UNREAD);
  }

  /** Returns the registry with a hash or a prefix of it: ours, that of a peer, or the common one; `null` if it is unknown. */
  withHash(hash: string, own: Registry): Registry | null {
    for (const registry of [own, COMMON_REGISTRY]) if (matchesHash(registry, hash)) return registry;
    for (const [agent, { announcement }] of this.peers.entries()) {
      // Making a registry takes time.
      if (!isPrefix(announcement.hash, hash)) continue;
      const registry = this.of(agent, own);
      if (matchesHash(registry, hash)) return registry;
    }
    return null;
  }

  /** `true` if a peer has announced that it reads compact frames. */
  get readsCompact(): boolean {
    for (const { announcement } of this.peers.values()) if (announcement.profile === 'compact1') return true;
    return false;
  }

  /**
   * `true` if an agent may send compact frames: once this side has announced that it reads them, unless the agent has announced itself without
   * them. Its announcement may be lost.
   */
  mayBeCompact(agent: string, isAnnounced: boolean): boolean {
    const peer = this.peers.get(agent);
    if (peer !== undefined) return peer.announcement.profile === 'compact1';
    return isAnnounced && this.#facts.has(HAS_ANNOUNCED);
  }

  /** Ends compact frames: for good if a binding cannot carry them, otherwise until a peer announces its registry again. */
  refuseCompact(by: 'binding' | 'peer'): void {
    if (this.#facts.get(NO_COMPACT) !== 'binding') this.#facts.set(NO_COMPACT, by);
  }

  isTransliterated(agent: string, policy: TextPolicy | undefined): boolean {
    if (policy === 'transliterate') return true;
    const peer = this.peers.get(agent);
    // An endpoint announces for all of its agents.
    return peer === undefined ? this.#allTransliterate() : peer.announcement.text === 'transliterate';
  }

  get announced(): string | undefined {
    const hash = this.#facts.get(ANNOUNCED);
    return typeof hash === 'string' ? hash : undefined;
  }

  set announced(hash: string | undefined) {
    if (hash === undefined) this.#facts.delete(ANNOUNCED);
    else this.#facts.set(ANNOUNCED, hash);
  }

  announcing(own: Registry): Step {
    const isUpdate = [...this.peers.values()].some((peer) => nextStep(own, this.#negotiationWith(peer)) === 'delta');
    return isUpdate ? 'delta' : 'announcement';
  }

  payloadOf(step: Step, own: Registry, policy: TextPolicy | undefined, asksCompact: boolean): JsonObject {
    const compact = asksCompact && this.#facts.get(NO_COMPACT) !== 'binding';
    const transliterates = policy === undefined || policy === 'transliterate';
    const features: Features = {
      sequence: this.#sequence,
      ...(transliterates ? { text: 'transliterate' } : {}),
      ...(compact ? { profile: 'compact1' } : {}),
    };
    return step === 'delta' ? registryDelta(own, features) : announcement(own, features);
  }

  sent(step: Step, own: Registry): void {
    for (const [agent, peer] of [...this.peers.entries()]) {
      const { known } = stepSent(own, this.#negotiationWith(peer), step);
      if (known !== peer.known) this.peers.set(agent, { ...peer, known });
    }
    this.announced = own.hash;
    if (!this.#facts.has(HAS_ANNOUNCED)) this.#facts.set(HAS_ANNOUNCED, true);
  }

  /** Returns the announcement to answer with, if any. Throws AccpError E1004 if the payload is invalid, E5001 if the hash is wrong. */
  received(agent: string, payload: { readonly [key: string]: Json }, own: Registry): Step | null {
    const received = readAnnouncement(payload);
    if (received.sequence !== undefined && received.sequence !== this.#sequence) {
      throw accpError(
        'E1004',
        'payload.sequence',
        `this side numbers frames by ${this.#sequence}; got ${received.sequence}`,
      );
    }
    if (this.#facts.get(NO_COMPACT) === 'peer') this.#facts.delete(NO_COMPACT);
    const before = this.peers.get(agent);
    this.#checkRoom(before, received);
    const { known } = announcementReceived(own, this.#negotiationWith(before), received);
    const peer = { ...peerOf(received, before, [own, ...this.#former]), known };
    this.peers.set(agent, peer);
    return nextStep(own, this.#negotiationWith(peer));
  }

  #checkRoom(before: Peer | undefined, { delta }: Announcement): void {
    if (before === undefined && this.peers.size >= MAX_PEERS)
      throw accpError('E5001', undefined, `at most ${MAX_PEERS} agents can announce registries`);
    if (delta === undefined || before?.registry !== undefined || this.peers.size < MAX_DELTAS) return;
    const deltas = [...this.peers.values()].filter(({ registry }) => registry !== undefined).length;
    if (deltas >= MAX_DELTAS)
      throw accpError('E5001', undefined, `at most ${MAX_DELTAS} agents can have registries of their own`);
  }

  #negotiationWith(peer: Peer | undefined): Negotiation {
    return {
      announced: this.announced ?? null,
      known: peer?.known ?? null,
      peer: peer === undefined ? null : { version: peer.announcement.version, hash: peer.announcement.hash },
    };
  }

  #allTransliterate(): boolean {
    if (this.peers.size === 0) return false;
    for (const { announcement } of this.peers.values()) if (announcement.text !== 'transliterate') return false;
    return true;
  }
}

/** Returns the updated peer, with the schemas received earlier for the same hash. */
function peerOf(received: Announcement, before: Peer | undefined, ours: readonly Registry[]): Peer {
  const { delta, compact: _compact, ...rest } = received;
  if (delta !== undefined) return { announcement: rest, registry: exportRegistry(applyDelta(received)) };
  const same = ours.find((own) => matchesHash(own, received.hash));
  // A copy, since ours may change later.
  if (same !== undefined) return { announcement: rest, registry: exportRegistry(same) };
  const { registry } = before ?? {};
  const isSame = registry !== undefined && isPrefix(before!.announcement.hash, received.hash);
  return isSame ? { announcement: before!.announcement, registry } : { announcement: rest };
}

/** Returns `true` if two hashes agree: they are announced as prefixes of different lengths. */
function isPrefix(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}
