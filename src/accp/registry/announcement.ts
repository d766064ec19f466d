/** The payload of `sync:registry` frames (draft-benzing-accp-00, section 6.4), with full key names. */
import { asciiLowerCase } from '../../text/ascii.js';
import { type Check, integer, list, object, oneOf, optional, ShapeError, text, where } from '../../text/shape.js';
import {
  bare,
  type FieldType,
  isPlainMap,
  type Json,
  type JsonObject,
  type SchemaDefinition,
} from '../message/json.js';
import { checkShape } from './definition.js';
import { isProfileSchema } from './profile-schemas.js';
import { type Registry, shortHash } from './registry.js';

/** What a side tells of itself beside its registry. These are pegwire's additions to the draft. */
export interface Features {
  /** It reads transliterated text. */
  readonly text?: 'transliterate' | undefined;
  /** Whose frames its numbers count: those of all parties, or its own. */
  readonly sequence?: 'session' | 'sender' | undefined;
}

/** Schemas by name, as they came; `applyDelta` checks them. */
export type Delta = { readonly [name: string]: unknown };

export interface Announcement extends Features {
  readonly version: number;
  /** The hash or a prefix of it, in lower case. */
  readonly hash: string;
  readonly delta?: Delta | undefined;
  /** Operations that come with the delta beside those of its schemas. */
  readonly operations?: readonly string[] | undefined;
}

/** How the fields of these frames are read: as text, a hash of digits alone keeps its zeros. */
export const ANNOUNCEMENT_TYPES: { readonly [key: string]: FieldType } = Object.freeze(
  Object.assign(bare<FieldType>(), { hash: 'string' } as const),
);

/** The payload that announces a registry. */
export function announcement(registry: Registry, features: Features): JsonObject {
  return payload(registry, shortHash(registry.hash), features);
}

/** Digits of the hash beside a delta: 128 bits, which nobody finds another registry for, and no long text to a frame. */
const DELTA_DIGITS = 32;

/** The payload that announces a registry and gives all of it that not every registry has. */
export function registryDelta(registry: Registry, features: Features): JsonObject {
  const delta = bare<Json>();
  for (const name of Object.keys(registry.schemas)) {
    const definition = registry.schemas[name]!;
    if (!isProfileSchema(name, definition)) delta[name] = wireForm(definition);
  }
  const { customOperations } = registry;
  return {
    ...payload(registry, shortHash(registry.hash, DELTA_DIGITS), features),
    delta,
    ...(customOperations.length === 0 ? {} : { operations: customOperations }),
  };
}

/** A whole hash of any usual algorithm fits. */
const hash: Check<string> = (value, path) => {
  if (typeof value !== 'string' && typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new ShapeError(path, 'Invalid input');
  }
  const digits = asciiLowerCase(String(value));
  if (!/^[!-~]{1,128}$/.test(digits)) throw new ShapeError(path, 'expected a hash');
  return digits;
};

/** A feature of a later version is none of ours. */
const feature: Check<'transliterate' | undefined> = (value, path) =>
  text(value, path) === 'transliterate' ? 'transliterate' : undefined;

const announcementShape = object({
  version: integer(1),
  hash,
  text: optional(feature),
  // Both sides have to know how frames are numbered.
  sequence: optional(oneOf(['session', 'sender'])),
  delta: optional(where(isPlainMap, 'expected a map')),
  operations: optional(list(text)),
});

/**
 * Reads the payload of a `sync:registry` frame. Members that are not known are left aside.
 *
 * @throws AccpError E1004 on one of another shape
 */
export function readAnnouncement(payload: { readonly [key: string]: Json }): Announcement {
  return checkShape(announcementShape, payload, 'payload');
}

function payload({ version }: Registry, hash: string, { text, sequence }: Features): JsonObject {
  return {
    version,
    hash,
    ...(text === undefined ? {} : { text }),
    ...(sequence === undefined ? {} : { sequence }),
  };
}

/** A definition as any frame can carry it, whatever the text policy: defaults that need one become their JSON text. */
function wireForm(definition: SchemaDefinition): Json {
  const { defaults } = definition;
  const plain = { ...definition } as unknown as JsonObject;
  return defaults === undefined || Object.values(defaults).every(isWritable)
    ? plain
    : { ...plain, defaults: asciiJson(defaults) };
}

/** Whether a frame carries a default as it is. Nesting is left: three levels of the definition are around it. */
function isWritable(value: Json): boolean {
  if (typeof value === 'string') {
    return /^[!-~]+$/.test(value) && !/^(?:-?[0-9]+(?:\.[0-9]+)?|true|false)$/.test(value);
  }
  if (value === null || typeof value !== 'object') return true;
  return Object.keys(value).length === 0;
}

/** JSON in visible ASCII: blanks and other characters stand only in its strings, where escapes can take their place. */
function asciiJson(value: JsonObject): string {
  return JSON.stringify(value).replace(/[^!-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
