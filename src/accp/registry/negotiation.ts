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
 * A registry that was stored in an earlier session is usable at once.
 */

import { asciiLowerCase } from '../../text/ascii.js';
import { type Check, integer, list, object, oneOf, optional, refine, ShapeError, text } from '../../text/shape.js';
import { accpError } from '../errors.js';
import {
  type FieldType,
  isPlainMap,
  type Json,
  type JsonObject,
  nullObject,
  type SchemaDefinition,
} from '../message/json.js';
import { checkShape } from './definition.js';
import {
  type CompactDefinition,
  createRegistry,
  isProfileSchema,
  matchesHash,
  type Registry,
  shortHash,
} from './registry.js';

/** The features of a side: additions to the draft. */
export interface Features {
  /** `transliterate` if the side decodes transliterated strings. */
  readonly text?: 'transliterate' | undefined;
  /** The scope of its frame numbers. */
  readonly sequence?: 'session' | 'sender' | undefined;
  /** `compact1` if the side reads compact frames. */
  readonly profile?: 'compact1' | undefined;
}

/** Unchecked schemas by name; `applyDelta` checks them. */
export type Delta = { readonly [name: string]: unknown };

/** The announcement of a registry by one side, or its delta (section 6.4). */
export interface Announcement extends Features {
  /** The version of the registry. */
  readonly version: number;
  /** The hash of the registry or a prefix of it, in lower case. */
  readonly hash: string;
  /** The schemas beyond those of the profiles, by name; absent from a mere announcement. */
  readonly delta?: Delta | undefined;
  /** Operations beyond those of the delta's schemas. */
  readonly operations?: readonly string[] | undefined;
  /** Unchecked entries that compact frames refer to by number. */
  readonly compact?: unknown;
}

/** The types of the fields, so that a hash of digits keeps its zeros. */
export const ANNOUNCEMENT_TYPES: { readonly [key: string]: FieldType } = Object.freeze(
  Object.assign(nullObject<FieldType>(), { hash: 'string' } as const),
);

export function announcement(registry: Registry, features: Features): JsonObject {
  return payload(registry, shortHash(registry.hash), features);
}

/** Digits of the hash sent with a delta: 128 bits resist collisions and keep the frame short. */
const DELTA_DIGITS = 32;

export function registryDelta(registry: Registry, features: Features): JsonObject {
  const delta = nullObject<Json>();
  for (const name of Object.keys(registry.schemas)) {
    const definition = registry.schemas[name]!;
    if (!isProfileSchema(name, definition)) delta[name] = wireForm(definition);
  }
  const { customOperations, compact } = registry;
  return {
    ...payload(registry, shortHash(registry.hash, DELTA_DIGITS), features),
    delta,
    ...(customOperations.length === 0 ? {} : { operations: customOperations }),
    ...(compact === undefined ? {} : { compact: compact as unknown as JsonObject }),
  };
}

/** Fits a whole hash of any usual algorithm. */
const hash: Check<string> = (value, path) => {
  if (typeof value !== 'string' && typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new ShapeError(path, 'is invalid');
  }
  const digits = asciiLowerCase(String(value));
  if (!/^[!-~]{1,128}$/.test(digits)) throw new ShapeError(path, 'must be a hash');
  return digits;
};

/** Ignores features of later versions. */
function feature<const T extends string>(name: T): Check<T | undefined> {
  return (value, path) => (text(value, path) === name ? name : undefined);
}

const announcementShape = object({
  version: integer(1),
  hash,
  text: optional(feature('transliterate')),
  sequence: optional(oneOf(['session', 'sender'])),
  profile: optional(feature('compact1')),
  delta: optional(refine(isPlainMap, 'must be a map')),
  operations: optional(list(text)),
  compact: optional(refine(isPlainMap, 'must be a map')),
});

/** Reads the payload of a `sync:registry` frame and ignores unknown members. Throws AccpError E1004 if the payload is invalid. */
export function readAnnouncement(payload: { readonly [key: string]: Json }): Announcement {
  return checkShape(announcementShape, payload, 'payload');
}

function payload({ version }: Registry, hash: string, { text, sequence, profile }: Features): JsonObject {
  return {
    version,
    hash,
    ...(text === undefined ? {} : { text }),
    ...(sequence === undefined ? {} : { sequence }),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** Returns a definition that any frame can carry, whatever the text policy: other defaults become their JSON text. */
function wireForm(definition: SchemaDefinition): Json {
  const { defaults } = definition;
  const plain = { ...definition } as unknown as JsonObject;
  return defaults === undefined || Object.values(defaults).every(isWritable)
    ? plain
    : { ...plain, defaults: asciiJson(defaults) };
}

/** Refuses nesting, as the definition itself has three levels. */
function isWritable(value: Json): boolean {
  if (typeof value === 'string') {
    return /^[!-~]+$/.test(value) && !/^(?:-?[0-9]+(?:\.[0-9]+)?|true|false)$/.test(value);
  }
  if (value === null || typeof value !== 'object') return true;
  return Object.keys(value).length === 0;
}

/** In compact JSON, other characters than visible ASCII occur only in strings, where they can be escaped. */
function asciiJson(value: JsonObject): string {
  return JSON.stringify(value).replace(/[^!-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The progress of one side. */
export interface Negotiation {
  /** The hash of the own registry announced last. */
  readonly announced: string | null;
  /** The hash of the own registry that the peer has. */
  readonly known: string | null;
  /** Version and hash that the peer announced last. */
  readonly peer: { readonly version: number; readonly hash: string } | null;
}

/** The next frame to send: `announcement(...)` or `registryDelta(...)`. */
export type Step = 'announcement' | 'delta';

export function nextStep(registry: Registry, { announced, known, peer }: Negotiation): Step | null {
  if (peer !== null && known !== registry.hash && !matchesHash(registry, peer.hash)) return 'delta';
  return announced === registry.hash ? null : 'announcement';
}

export function stepSent(registry: Registry, negotiation: Negotiation, step: Step): Negotiation {
  const { hash } = registry;
  return { ...negotiation, announced: hash, known: step === 'delta' ? hash : negotiation.known };
}

/** Throws AccpError E5001 if the version is older than the one announced before, or the same with another registry. */
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

/**
 * Creates the registry of the peer. Throws AccpError E1004 if a definition is invalid, E5001 if hash or version is wrong (section 9,
 * item 4).
 */
export function applyDelta(announcement: Announcement): Registry {
  const { version, hash, delta, operations, compact } = announcement;
  if (delta === undefined) throw accpError('E1004', 'payload.delta', 'The delta is missing.');
  const schemas = readDelta(delta) as { readonly [name: string]: SchemaDefinition };
  const registry = createRegistry({ version, schemas, operations, compact: compact as CompactDefinition | undefined });
  if (!matchesHash(registry, hash)) throw accpError('E5001', 'payload.hash', 'The hash does not match the registry.');
  if (registry.version !== version) {
    throw accpError(
      'E5001',
      'payload.version',
      `The version must be at least ${registry.version} for a registry of this size.`,
    );
  }
  return registry;
}

/** Decodes defaults that are JSON text. */
function readDelta(delta: Delta): Delta {
  const read = nullObject<unknown>();
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
    throw accpError('E1004', `schemas.${name}.defaults`, 'The text must be JSON.');
  }
}

function checkSuccession(before: { version: number; hash: string }, { version, hash }: Announcement): void {
  if (version < before.version) {
    throw accpError(
      'E5001',
      'payload.version',
      `The version must not decrease; it was ${before.version}, and is ${version} now.`,
    );
  }
  if (version === before.version && !hash.startsWith(before.hash) && !before.hash.startsWith(hash)) {
    throw accpError('E5001', 'payload.hash', `Another registry was announced with version ${version} before.`);
  }
}
