/** The exchange of registries (draft-benzing-accp-00, section 6.4). Its rules stand in `registry/negotiation.ts`. */

import { AccpError } from '../errors.js';
import type { JsonObject } from '../message/json.js';
import type { Message } from '../message/message.js';
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
import { exportRegistry, matchesHash, type Registry } from '../registry/registry.js';
import type { Peer, SessionParts } from '../session/session.js';
import type { EncodeResult } from './contract.js';
import { encode } from './encode.js';
import { ANNOUNCED, type Engine, ownRegistry } from './engine.js';

/**
 * Tells the other side the version and hash of our registry, how we write text, and how we count; with our schemas where we
 * know that a peer has others.
 */
export function announce(parts: SessionParts, engine: Engine): EncodeResult {
  const { peers } = parts;
  const registry = ownRegistry(engine, parts);
  const isNews = [...peers.values()].some((peer) => nextStep(registry, negotiationOf(parts, peer)) === 'delta');
  return take(isNews ? 'delta' : 'announcement', parts, engine);
}

/**
 * Takes what a peer has announced, and gives what there is to answer: our own announcement where it has not been made yet,
 * with our schemas where the hashes differ. Each is sent once: the other side keeps it.
 *
 * @returns sends what there is to answer; `null` for nothing
 * @throws AccpError E1004 for a payload that is none, E5001 for schemas that do not have the hash that they claim
 */
export function negotiate(
  { agent, payload }: Message,
  parts: SessionParts,
  engine: Engine,
): (() => readonly string[]) | null {
  const { peers, options } = parts;
  const registry = ownRegistry(engine, parts);
  const received = readAnnouncement(payload);
  if (received.sequence !== undefined && received.sequence !== options.sequence) {
    throw new AccpError({
      code: 'E1004',
      path: 'payload.sequence',
      message: `the session counts by ${options.sequence} here, not by ${received.sequence}`,
    });
  }
  const before = peers.get(agent);
  const { known } = announcementReceived(registry, negotiationOf(parts, before), received);
  const peer = { ...peerOf(received, before, registry), known };
  peers.set(agent, peer);
  const step = nextStep(registry, negotiationOf(parts, peer));
  return step === null ? null : () => take(step, parts, engine).frames;
}

function negotiationOf({ facts }: SessionParts, peer: Peer | undefined): Negotiation {
  const announced = facts.get(ANNOUNCED);
  return {
    announced: typeof announced === 'string' ? announced : null,
    known: peer?.known ?? null,
    peer: peer === undefined ? null : { version: peer.announcement.version, hash: peer.announcement.hash },
  };
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

/** Sends one of the two frames; what is sent in a session comes to all peers. */
function take(step: Step, parts: SessionParts, engine: Engine): EncodeResult {
  const registry = ownRegistry(engine, parts);
  const { facts, peers } = parts;
  const features = featuresOf(parts, engine.settings.text);
  const payload: JsonObject = step === 'delta' ? registryDelta(registry, features) : announcement(registry, features);
  const result = encode({ intent: 'sync', operation: 'registry', payload }, parts, engine);
  for (const [agent, peer] of [...peers.entries()]) {
    const { known } = stepSent(registry, negotiationOf(parts, peer), step);
    if (known !== peer.known) peers.set(agent, { ...peer, known });
  }
  facts.set(ANNOUNCED, registry.hash);
  return result;
}

function featuresOf({ options }: SessionParts, text: string | undefined): Features {
  const transliterates = text === undefined || text === 'transliterate';
  return { sequence: options.sequence, ...(transliterates ? { text: 'transliterate' } : {}) };
}
