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

/** Features of a side: pegwire's additions to the draft. */
export interface Features {
  readonly text?: 'transliterate' | undefined;
  /** The scope of its frame numbers. */
  readonly sequence?: 'session' | 'sender' | undefined;
}

/** Unchecked schemas by name; `applyDelta` checks them. */
export type Delta = { readonly [name: string]: unknown };

export interface Announcement extends Features {
  readonly version: number;
  /** The hash or a prefix of it, in lower case. */
  readonly hash: string;
  readonly delta?: Delta | undefined;
  /** Operations beyond those of the delta's schemas. */
  readonly operations?: readonly string[] | undefined;
}

/** The types of the fields, so that a hash of digits keeps its zeros. */
export const ANNOUNCEMENT_TYPES: { readonly [key: string]: FieldType } = Object.freeze(
  Object.assign(bare<FieldType>(), { hash: 'string' } as const),
);

export function announcement(registry: Registry, features: Features): JsonObject {
  return payload(registry, shortHash(registry.hash), features);
}

/** Digits of the hash sent with a delta: 128 bits resist collisions and keep the frame short. */
const DELTA_DIGITS = 32;

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

/** Fits a whole hash of any usual algorithm. */
const hash: Check<string> = (value, path) => {
  if (typeof value !== 'string' && typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new ShapeError(path, 'Invalid input');
  }
  const digits = asciiLowerCase(String(value));
  if (!/^[!-~]{1,128}$/.test(digits)) throw new ShapeError(path, 'expected a hash');
  return digits;
};

/** Ignores features of later versions. */
const feature: Check<'transliterate' | undefined> = (value, path) =>
  text(value, path) === 'transliterate' ? 'transliterate' : undefined;

const announcementShape = object({
  version: integer(1),
  hash,
  text: optional(feature),
  sequence: optional(oneOf(['session', 'sender'])),
  delta: optional(where(isPlainMap, 'expected a map')),
  operations: optional(list(text)),
});

/** Reads the payload of a `sync:registry` frame and ignores unknown members. Throws AccpError E1004 on a payload of another shape. */
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

/** In compact JSON, other characters than visible ASCII stand only in strings, where they can be escaped. */
function asciiJson(value: JsonObject): string {
  return JSON.stringify(value).replace(/[^!-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
