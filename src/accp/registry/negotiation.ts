/**
 * Agreeing on registries by `sync:registry` frames (draft-benzing-accp-00, section 6.4).
 *
 * Registries are not merged. Each side writes its frames by its own registry and reads the peer's by the peer's, which it
 * keeps. So each side has to see to one thing: that the peer knows *its* registry. Two rules do that, the same for both
 * sides, whoever begins and even if both begin at once:
 *
 * 1. A side announces version and hash of its registry at the start of a session, and after each registration.
 * 2. A side that knows from the peer's announcement that the peer's registry is another sends its delta, once for each hash
 *    of its own: all that it has beyond the schemas of the profiles. If it has not announced itself yet, the delta does both.
 *
 * Equal hashes: two announcements, and no delta. Different ones, and A begins: A announces, B announces with its delta, A sends
 * its delta. Both begin at once: two announcements, then two deltas. When A registers a schema later, its delta is the
 * announcement; B has nothing to add, since A knows B's registry. A hash that is not known is not answered as such: it is its
 * owner's to send the delta. A side that has the peer's registry from an earlier session ({@link knownRegistry}) can use it at
 * once; the delta that comes nonetheless changes nothing.
 *
 * {@link Negotiation} is what a side remembers, {@link nextStep} what it has to send.
 */
import { AccpError } from '../errors.js';
import { bare, isPlainMap } from '../message/json.js';
import type { Announcement, Delta } from './announcement.js';
import type { SchemaDefinition } from './definition.js';
import { createRegistry, matchesHash, type Registry } from './registry.js';

export {
  ANNOUNCEMENT_TYPES,
  type Announcement,
  announcement,
  type Features,
  readAnnouncement,
  registryDelta,
} from './announcement.js';

/** How far one side has come; JSON, so that it can be stored. */
export interface Negotiation {
  /** The hash of the own registry that was announced last. */
  readonly announced: string | null;
  /** The hash of the own registry that the peer knows: because its own is equal, or from a delta. */
  readonly known: string | null;
  /** Version and hash that the peer announced last. */
  readonly peer: { readonly version: number; readonly hash: string } | null;
}

export const NEW_NEGOTIATION: Negotiation = Object.freeze({ announced: null, known: null, peer: null });

/** A frame that a side has to send: `announcement(...)` or `registryDelta(...)`. */
export type Step = 'announcement' | 'delta';

/** What has to be sent now, if anything. */
export function nextStep(registry: Registry, { announced, known, peer }: Negotiation): Step | null {
  if (peer !== null && known !== registry.hash && !matchesHash(registry, peer.hash)) return 'delta';
  return announced === registry.hash ? null : 'announcement';
}

/** After a step was sent. */
export function stepSent(registry: Registry, negotiation: Negotiation, step: Step): Negotiation {
  const { hash } = registry;
  return { ...negotiation, announced: hash, known: step === 'delta' ? hash : negotiation.known };
}

/**
 * After a frame of the peer's.
 *
 * @throws AccpError E5001 on an older version than the peer had announced, or another registry under the same version
 */
export function announcementReceived(
  registry: Registry,
  negotiation: Negotiation,
  received: Announcement,
): Negotiation {
  const { version, hash } = received;
  const { peer } = negotiation;
  if (peer !== null) checkSuccession(peer, received);
  const known = matchesHash(registry, hash) ? registry.hash : negotiation.known;
  return { ...negotiation, known, peer: { version, hash } };
}

/** The registry that an announcement is about, if it is one of those at hand: the own one, one kept from before, ... */
export function knownRegistry({ hash }: Announcement, candidates: Iterable<Registry>): Registry | undefined {
  for (const candidate of candidates) if (matchesHash(candidate, hash)) return candidate;
  return undefined;
}

/**
 * The peer's registry: the schemas of the profiles and the delta.
 *
 * @throws AccpError E1004 on faulty definitions; E5001 where the registry is not the one that its hash and version claim
 *   (section 9, item 4)
 */
export function applyDelta(announcement: Announcement): Registry {
  const { version, hash, delta, operations } = announcement;
  if (delta === undefined) throw new AccpError({ code: 'E1004', message: 'There is no delta.', path: 'payload.delta' });
  const schemas = readDelta(delta) as { readonly [name: string]: SchemaDefinition };
  const registry = createRegistry({ version, schemas, operations });
  if (!matchesHash(registry, hash))
    throw tampered('payload.hash', 'The registry does not have the hash that it claims.');
  if (registry.version !== version) {
    throw tampered('payload.version', `A registry of this size has at least version ${registry.version}.`);
  }
  return registry;
}

/** Takes out the text form of defaults. */
function readDelta(delta: Delta): Delta {
  const read = bare<unknown>();
  for (const name of Object.keys(delta)) {
    const definition = delta[name];
    read[name] =
      isPlainMap(definition) && typeof definition['defaults'] === 'string'
        ? { ...definition, defaults: parseDefaults(definition['defaults'], name) }
        : definition;
  }
  return read;
}

function parseDefaults(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AccpError({ code: 'E1004', message: 'The text is no JSON.', path: `schemas.${name}.defaults` });
  }
}

function checkSuccession(before: { version: number; hash: string }, { version, hash }: Announcement): void {
  if (version < before.version) {
    throw tampered('payload.version', `The registry had version ${before.version} before, and has ${version} now.`);
  }
  if (version === before.version && !hash.startsWith(before.hash) && !before.hash.startsWith(hash)) {
    throw tampered('payload.hash', `Another registry was announced as version ${version} before.`);
  }
}

function tampered(path: string, message: string): AccpError {
  return new AccpError({ code: 'E5001', message, path });
}
