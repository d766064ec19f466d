/** The registries of a session: ours, those of its peers, and what is known of ours elsewhere (draft-benzing-accp-00, section 6.4). */
import { AccpError } from '../errors.js';
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

/** What a peer has announced, as it is kept. */
export interface Peer {
  readonly announcement: Announcement;
  /** Its schemas, where it had to send them. */
  readonly registry?: RegistryJson | undefined;
  /** The hash of our registry that it knows. */
  readonly known?: string | null | undefined;
}

/** How this side writes strings that the grammar cannot write. */
export interface TextState {
  readonly text: TextPolicy;
  /** Whether the other side undoes transliteration whatever we write: it was told that we know of it. */
  readonly undone: boolean;
}

/** Under these names a session keeps the schemas of this side, and the hash of our registry as it was announced last. */
const REGISTRY = 'registry';
const ANNOUNCED = 'announced';

/** Before a peer has told of its registry, it is taken to have what everybody has. */
const COMMON_REGISTRY = createRegistry();

export class Registries {
  readonly peers: Collection<Peer>;
  readonly #facts: Collection<Json>;
  readonly #sequence: SequenceMode;
  /** Registries that peers have sent, ready to be used. */
  readonly #made = new WeakMap<RegistryJson, Registry>();
  #codecs: Registry | undefined;
  #own = COMMON_REGISTRY;

  constructor(journal: Journal, facts: Collection<Json>, sequence: SequenceMode) {
    this.peers = journal.collection('peers');
    this.#facts = facts;
    this.#sequence = sequence;
  }

  /**
   * The schemas of this side: the codec's, or those that the session was begun with where a codec of another process, after a
   * restart, does not have them.
   */
  own(codecs: Registry): Registry {
    if (this.#codecs === codecs) return this.#own;
    const stored = this.#facts.get(REGISTRY) as unknown as RegistryJson | undefined;
    const kept = stored === undefined ? undefined : createRegistry(stored);
    const isOlder = kept !== undefined && kept.version > codecs.version;
    this.#codecs = codecs;
    this.#own = isOlder ? kept : codecs;
    // Nobody has to be told of what every registry has.
    if (!isOlder && codecs.version > COMMON_REGISTRY.version && kept?.hash !== codecs.hash) {
      this.#facts.set(REGISTRY, exportRegistry(codecs) as unknown as Json);
    }
    return this.#own;
  }

  /** The schemas that the frames of `agent` are written by: those it has sent, ours where it has told nothing. */
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

  /** What was agreed on strings that the grammar cannot write. @param policy what the codec was told, if anything */
  writing(policy: TextPolicy | undefined): TextState {
    if (policy !== undefined) return { text: policy, undone: policy === 'transliterate' };
    const undone = this.announced !== undefined;
    return { text: undone && this.#allTransliterate() ? 'transliterate' : 'reject', undone };
  }

  /** Whether `agent` transliterates. */
  isTransliterated(agent: string, policy: TextPolicy | undefined): boolean {
    return policy === 'transliterate' || this.peers.get(agent)?.announcement.text === 'transliterate';
  }

  /** The hash of our registry as it was announced last. */
  get announced(): string | undefined {
    const hash = this.#facts.get(ANNOUNCED);
    return typeof hash === 'string' ? hash : undefined;
  }

  set announced(hash: string | undefined) {
    if (hash === undefined) this.#facts.delete(ANNOUNCED);
    else this.#facts.set(ANNOUNCED, hash);
  }

  /** The frame that announces our registry: with our schemas where we know that a peer has others. */
  announcing(own: Registry): Step {
    const isNews = [...this.peers.values()].some((peer) => nextStep(own, this.#negotiationWith(peer)) === 'delta');
    return isNews ? 'delta' : 'announcement';
  }

  /** The payload of a `sync:registry` frame. */
  payloadOf(step: Step, own: Registry, policy: TextPolicy | undefined): JsonObject {
    const transliterates = policy === undefined || policy === 'transliterate';
    const features: Features = {
      sequence: this.#sequence,
      ...(transliterates ? { text: 'transliterate' } : {}),
    };
    return step === 'delta' ? registryDelta(own, features) : announcement(own, features);
  }

  /** Notes that a frame was sent: what is sent in a session comes to all peers. */
  sent(step: Step, own: Registry): void {
    for (const [agent, peer] of [...this.peers.entries()]) {
      const { known } = stepSent(own, this.#negotiationWith(peer), step);
      if (known !== peer.known) this.peers.set(agent, { ...peer, known });
    }
    this.announced = own.hash;
  }

  /**
   * Takes what a peer has announced.
   *
   * @returns the frame that answers it: our own announcement where it has not been made yet, with our schemas where the hashes
   *   differ. Each is sent once: the other side keeps it
   * @throws AccpError E1004 for a payload that is none, E5001 for schemas that do not have the hash that they claim
   */
  received(agent: string, payload: { readonly [key: string]: Json }, own: Registry): Step | null {
    const received = readAnnouncement(payload);
    if (received.sequence !== undefined && received.sequence !== this.#sequence) {
      throw new AccpError({
        code: 'E1004',
        path: 'payload.sequence',
        message: `the session counts by ${this.#sequence} here, not by ${received.sequence}`,
      });
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

/** What was sent once is kept; an announcement of the same registry does not take it away. */
function peerOf(received: Announcement, before: Peer | undefined, own: Registry): Peer {
  const { delta, ...rest } = received;
  if (delta !== undefined) return { announcement: rest, registry: exportRegistry(applyDelta(received)) };
  // Ours may change later; the peer's is what it is now.
  if (matchesHash(own, received.hash)) return { announcement: rest, registry: exportRegistry(own) };
  const { registry } = before ?? {};
  const isSame = registry !== undefined && isPrefix(before!.announcement.hash, received.hash);
  return isSame ? { announcement: before!.announcement, registry } : { announcement: rest };
}

/** Hashes are told by prefixes of different lengths. */
function isPrefix(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}
