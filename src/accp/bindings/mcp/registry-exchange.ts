/**
 * Registry sync at the initialization of MCP (draft-benzing-accp-00, sections 6.4 and 11.3). What is told there belongs to no session:
 * it is read in a session of its own, and sessions take over what came out.
 */

import type { Codec } from '../../codec/codec.js';
import { AccpError } from '../../errors.js';
import { parseFrame } from '../../parse.js';
import { printFrame } from '../../print.js';
import { createRegistry, matchesHash } from '../../registry/registry.js';
import type { SequenceMode } from '../../session/delivery.js';
import type { Peer } from '../../session/registries.js';
import { createSession, partsOfSession, type Session } from '../../session/session.js';
import { readHead } from '../frames.js';
import { frameResource } from './content.js';
import type { ResourceResult } from './sdk-shapes.js';

export interface RegistryExchangeOptions {
  readonly codec: Codec;
  /** Who announces: the agent of the sessions. */
  readonly agent: string;
  /** How the sessions count, which both sides have to know. @default 'sender' */
  readonly sequence?: SequenceMode | undefined;
  /** Announcements of others that are kept. @default 256 */
  readonly maxPeers?: number | undefined;
}

/** What one side tells of its registry, and what it knows of others. */
export interface RegistryExchange {
  readonly codec: Codec;
  readonly sequence: SequenceMode;
  /** Version and hash: a `sync:registry` frame without a session, for instructions. */
  readonly announcement: string;
  /** Version, hash and all schemas of one's own, where there are any: for the resource, and for the capabilities of clients. */
  readonly full: readonly string[];
  /** The resource `accp://registry`, as a server reads it. */
  readonly resource: (uri: string | URL) => ResourceResult;
  /**
   * Takes what another side has announced.
   *
   * @throws AccpError on frames that announce no registry, E5001 on schemas that do not have the hash that they claim
   */
  readonly agree: (frames: string | readonly string[]) => Agreement;
}

/** What both sides know of each other. */
export interface Agreement {
  /** Who announced. */
  readonly agent: string;
  readonly version: number;
  /** As it was announced: mostly a prefix. */
  readonly hash: string;
  /** Whether all schemas of the other side are known here. */
  readonly complete: boolean;
  /** A session goes on as if the frames had been exchanged in it. */
  readonly apply: (session: Session) => void;
}

/**
 * Makes one side of registry sync. One serves any number of connections.
 *
 * Source: draft-benzing-accp-00, sections 6.4 and 11.3.
 *
 * @throws TypeError on options that are none
 */
export function createRegistryExchange(options: RegistryExchangeOptions): RegistryExchange {
  const { codec, agent, sequence = 'sender', maxPeers = 256 } = options;
  if (!(maxPeers >= 1)) throw new TypeError(`maxPeers is a number from 1 on; got ${maxPeers}`);
  const open = (firstSequence?: number): Session => createSession({ agent, sequence, firstSequence });
  // Names and modes that are none are refused here, and not in the middle of a connection.
  open().close();
  const agreements = new Map<string, Agreement>();
  let own: OwnFrames | undefined;

  const frames = (): OwnFrames => {
    if (own?.hash !== codec.registry.hash) own = ownFrames(codec, open);
    return own!;
  };

  return {
    codec,
    sequence,
    get announcement() {
      return frames().announcement;
    },
    get full() {
      return frames().full;
    },
    resource: (uri) => frameResource(uri, frames().full),
    agree: (told) => {
      const all = typeof told === 'string' ? [told] : told;
      const key = [codec.registry.hash, ...all].join('\n');
      const known = agreements.get(key);
      agreements.delete(key);
      const agreement = known ?? agree(all, codec, open);
      agreements.set(key, agreement);
      if (agreements.size > maxPeers) agreements.delete(agreements.keys().next().value!);
      return agreement;
    },
  };
}

interface OwnFrames {
  /** Of the registry that they tell of. */
  readonly hash: string;
  readonly announcement: string;
  readonly full: readonly string[];
}

/** A peer whose registry is none that anybody has: it has to be told everything. */
const STRANGER: Peer = { announcement: { version: 1, hash: 'none' } };

const COMMON_REGISTRY = createRegistry();

function ownFrames(codec: Codec, open: () => Session): OwnFrames {
  const { hash } = codec.registry;
  const announced = codec.announce(open()).frames.map(withoutSession);
  if (hash === COMMON_REGISTRY.hash) return { hash, announcement: announced[0]!, full: announced };
  const session = open();
  partsOfSession(session).registries.peers.set('stranger', STRANGER);
  return { hash, announcement: announced[0]!, full: codec.announce(session).frames.map(withoutSession) };
}

/** It is told to whoever connects, whatever sessions there will be. */
function withoutSession(text: string): string {
  const frame = parseFrame(text);
  return printFrame({ ...frame, metadata: frame.metadata!.filter(({ key }) => key !== 'sid') });
}

function agree(frames: readonly string[], codec: Codec, open: (first?: number) => Session): Agreement {
  const session = open(readHead(frames[0] ?? '')?.seq);
  for (const frame of frames) {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'rejected') throw outcome.error;
  }
  const [told] = [...partsOfSession(session).registries.peers.entries()];
  if (told === undefined) throw new AccpError({ code: 'E1004', message: 'No registry is announced.' });
  const [agent, peer] = told;
  const { registry } = codec;
  const { version, hash } = peer.announcement;
  return {
    agent,
    version,
    hash,
    complete: peer.registry !== undefined || matchesHash(registry, hash) || matchesHash(COMMON_REGISTRY, hash),
    apply: (target) => takeOver(target, agent, { ...peer, known: registry.hash }),
  };
}

/** What frames of the session itself have told since then is kept. */
function takeOver(session: Session, agent: string, peer: Peer): void {
  const { registries, commit, options } = partsOfSession(session);
  const { peers } = registries;
  const { sequence, version, hash } = peer.announcement;
  if (sequence !== undefined && sequence !== options.sequence) {
    throw new TypeError(
      `The session counts by ${options.sequence}; what was agreed is for sessions that count by ${sequence}`,
    );
  }
  const before = peers.get(agent);
  const isSame = before !== undefined && before.announcement.hash === hash && before.known === peer.known;
  if (isSame && (before.registry !== undefined || peer.registry === undefined) && registries.announced !== undefined)
    return;
  commit(() => {
    if (before === undefined || before.announcement.version <= version) peers.set(agent, peer);
    registries.announced = peer.known!;
  });
}
