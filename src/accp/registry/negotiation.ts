/**
 * Agreement on registries by `sync:registry` frames (draft-benzing-accp-00, section 6.4).
 *
 * Each side writes by its own registry and reads by the peer's, so each must inform the peer, by the same two rules:
 *
 * 1. A side announces version and hash of its registry at the start of a session and after each registration.
 * 2. A side that learns that the peer's registry differs sends its delta, once for each hash of its own: all schemas beyond those of
 * the profiles. If it has not announced itself yet, the delta does both.
 *
 * With equal hashes, there are two announcements and no delta. With different ones, A announces, B announces with its delta, A sends
 * its delta. If both begin at once, two deltas follow two announcements. An unknown hash needs no answer: its owner sends the delta.
 * A registry kept from an earlier session ({@link knownRegistry}) is usable at once.
 */

import { accpError } from '../errors.js';
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

/** The progress of one side, as JSON. */
export interface Negotiation {
  /** The hash of the own registry announced last. */
  readonly announced: string | null;
  /** The hash of the own registry that the peer has. */
  readonly known: string | null;
  /** Version and hash that the peer announced last. */
  readonly peer: { readonly version: number; readonly hash: string } | null;
}

export const NEW_NEGOTIATION: Negotiation = Object.freeze({ announced: null, known: null, peer: null });

/** A frame to send: `announcement(...)` or `registryDelta(...)`. */
export type Step = 'announcement' | 'delta';

export function nextStep(registry: Registry, { announced, known, peer }: Negotiation): Step | null {
  if (peer !== null && known !== registry.hash && !matchesHash(registry, peer.hash)) return 'delta';
  return announced === registry.hash ? null : 'announcement';
}

export function stepSent(registry: Registry, negotiation: Negotiation, step: Step): Negotiation {
  const { hash } = registry;
  return { ...negotiation, announced: hash, known: step === 'delta' ? hash : negotiation.known };
}

/** @throws AccpError E5001 on an older version than announced before, or another registry of the same version */
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

/** Finds the registry of an announcement among those at hand. */
export function knownRegistry({ hash }: Announcement, candidates: Iterable<Registry>): Registry | undefined {
  for (const candidate of candidates) if (matchesHash(candidate, hash)) return candidate;
  return undefined;
}

/**
 * Makes the peer's registry from the profiles' schemas and the delta.
 *
 * @throws AccpError E1004 on invalid definitions; E5001 if hash or version do not match (section 9, item 4)
 */
export function applyDelta(announcement: Announcement): Registry {
  const { version, hash, delta, operations } = announcement;
  if (delta === undefined) throw accpError('E1004', 'payload.delta', 'There is no delta.');
  const schemas = readDelta(delta) as { readonly [name: string]: SchemaDefinition };
  const registry = createRegistry({ version, schemas, operations });
  if (!matchesHash(registry, hash))
    throw accpError('E5001', 'payload.hash', 'The registry does not have the hash that it claims.');
  if (registry.version !== version) {
    throw accpError('E5001', 'payload.version', `A registry of this size has at least version ${registry.version}.`);
  }
  return registry;
}

/** Decodes defaults that are JSON text. */
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
    throw accpError('E1004', `schemas.${name}.defaults`, 'The text is no JSON.');
  }
}

function checkSuccession(before: { version: number; hash: string }, { version, hash }: Announcement): void {
  if (version < before.version) {
    throw accpError(
      'E5001',
      'payload.version',
      `The registry had version ${before.version} before, and has ${version} now.`,
    );
  }
  if (version === before.version && !hash.startsWith(before.hash) && !before.hash.startsWith(hash)) {
    throw accpError('E5001', 'payload.hash', `Another registry was announced as version ${version} before.`);
  }
}
