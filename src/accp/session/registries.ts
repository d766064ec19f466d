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
import { createRegistry, exportRegistry, matchesHash, type Registry, type RegistryJson } from '../registry/registry.js';
import type { Collection, Journal } from '../store/journal.js';
import type { SequenceMode } from './delivery.js';

export interface Peer {
  readonly announcement: Announcement;
  readonly registry?: RegistryJson | undefined;
  /** The hash of our registry that it has. */
  readonly known?: string | null | undefined;
}

/** The writing of strings that the grammar cannot write. */
export interface TextState {
  readonly text: TextPolicy;
  /** Whether the other side decodes transliteration in any case. */
  readonly undone: boolean;
}

/** Facts that hold our schemas, and the hash announced last. */
const REGISTRY = 'registry';
const ANNOUNCED = 'announced';

/** The registry of peers without an announcement. */
const COMMON_REGISTRY = createRegistry();

export class Registries {
  readonly peers: Collection<Peer>;
  readonly #facts: Collection<Json>;
  readonly #sequence: SequenceMode;
  readonly #made = new WeakMap<RegistryJson, Registry>();
  #codecs: Registry | undefined;
  #own = COMMON_REGISTRY;

  constructor(journal: Journal, facts: Collection<Json>, sequence: SequenceMode) {
    this.peers = journal.collection('peers');
    this.#facts = facts;
    this.#sequence = sequence;
  }

  /** Our schemas: those of the codec, or those of the session if the codec of a resumed session lacks them. */
  own(codecs: Registry): Registry {
    if (this.#codecs === codecs) return this.#own;
    const stored = this.#facts.get(REGISTRY) as unknown as RegistryJson | undefined;
    const kept = stored === undefined ? undefined : createRegistry(stored);
    const isOlder = kept !== undefined && kept.version > codecs.version;
    this.#codecs = codecs;
    this.#own = isOlder ? kept : codecs;
    // The schemas of profiles need no announcement.
    if (!isOlder && codecs.version > COMMON_REGISTRY.version && kept?.hash !== codecs.hash) {
      this.#facts.set(REGISTRY, exportRegistry(codecs) as unknown as Json);
    }
    return this.#own;
  }

  /** The schemas of the frames of `agent`: those it has sent, or ours. */
  of(agent: string, own: Registry): Registry {
    const peer = this.peers.get(agent);
    if (peer === undefined) return own;
    if (peer.registry === undefined) return matchesHash(own, peer.announcement.hash) ? own : COMMON_REGISTRY;
    let registry = this.#made.get(peer.registry);
    if (registry === undefined) {
      registry = createRegistry(peer.registry);
      this.#made.set(peer.registry, registry);
    }
    return registry;
  }

  writing(policy: TextPolicy | undefined): TextState {
    if (policy !== undefined) return { text: policy, undone: policy === 'transliterate' };
    const undone = this.announced !== undefined;
    return { text: undone && this.#allTransliterate() ? 'transliterate' : 'reject', undone };
  }

  isTransliterated(agent: string, policy: TextPolicy | undefined): boolean {
    return policy === 'transliterate' || this.peers.get(agent)?.announcement.text === 'transliterate';
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
    const isNews = [...this.peers.values()].some((peer) => nextStep(own, this.#negotiationWith(peer)) === 'delta');
    return isNews ? 'delta' : 'announcement';
  }

  payloadOf(step: Step, own: Registry, policy: TextPolicy | undefined): JsonObject {
    const transliterates = policy === undefined || policy === 'transliterate';
    const features: Features = {
      sequence: this.#sequence,
      ...(transliterates ? { text: 'transliterate' } : {}),
    };
    return step === 'delta' ? registryDelta(own, features) : announcement(own, features);
  }

  sent(step: Step, own: Registry): void {
    for (const [agent, peer] of [...this.peers.entries()]) {
      const { known } = stepSent(own, this.#negotiationWith(peer), step);
      if (known !== peer.known) this.peers.set(agent, { ...peer, known });
    }
    this.announced = own.hash;
  }

  /** Returns the announcement to answer with, if any. Throws AccpError E1004 if invalid, E5001 on a wrong hash. */
  received(agent: string, payload: { readonly [key: string]: Json }, own: Registry): Step | null {
    const received = readAnnouncement(payload);
    if (received.sequence !== undefined && received.sequence !== this.#sequence) {
      throw accpError(
        'E1004',
        'payload.sequence',
        `the session counts by ${this.#sequence} here, not by ${received.sequence}`,
      );
    }
    const before = this.peers.get(agent);
    const { known } = announcementReceived(own, this.#negotiationWith(before), received);
    const peer = { ...peerOf(received, before, own), known };
    this.peers.set(agent, peer);
    return nextStep(own, this.#negotiationWith(peer));
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

/** Keeps schemas received earlier for the same hash. */
function peerOf(received: Announcement, before: Peer | undefined, own: Registry): Peer {
  const { delta, ...rest } = received;
  if (delta !== undefined) return { announcement: rest, registry: exportRegistry(applyDelta(received)) };
  // A copy, as ours may change later.
  if (matchesHash(own, received.hash)) return { announcement: rest, registry: exportRegistry(own) };
  const { registry } = before ?? {};
  const isSame = registry !== undefined && isPrefix(before!.announcement.hash, received.hash);
  return isSame ? { announcement: before!.announcement, registry } : { announcement: rest };
}

/** Hashes are announced as prefixes of different lengths. */
function isPrefix(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}
