/** Registries of schemas and operations (draft-benzing-accp-00, sections 4.3 and 6): immutable values. */

import { sha256Hex } from '../../text/sha256.js';
import { integer, list, object, optional, refine, text } from '../../text/shape.js';
import { quotedShort } from '../../text/visible.js';
import { type AccpError, accpError } from '../errors.js';
import {
  bare,
  canonicalJson,
  type FieldType,
  isPlainMap,
  type JsonObject,
  type SchemaDefinition,
  sealDefinition,
} from '../message/json.js';
import { PROFILES } from '../profiles/profiles.js';
import { CORE_OPERATIONS, checkDefinition, checkShape, whyNoWord } from './definition.js';

/** The schemas of the profiles, which every registry has (draft-benzing-accp-00, sections 3.6 and 10). */
export const PROFILE_SCHEMAS: { readonly [name: string]: SchemaDefinition } = Object.freeze(
  Object.assign(
    bare<SchemaDefinition>(),
    Object.fromEntries(PROFILES.map(({ schemaName, schema }) => [schemaName, schema])),
  ),
);

export function isProfileSchema(name: string, definition: SchemaDefinition): boolean {
  const own = PROFILE_SCHEMAS[name];
  return own === definition || (own !== undefined && isSame(own, definition));
}

export function isSame(a: SchemaDefinition, b: SchemaDefinition): boolean {
  return canonicalJson({ ...a }) === canonicalJson({ ...b });
}

/** A new definition of a profile's schema may only add to it. Throws AccpError E1004 on a changed code, field or type. */
export function keepProfile(name: string, definition: SchemaDefinition): SchemaDefinition {
  const profile = PROFILE_SCHEMAS[name];
  if (profile === undefined) return definition;
  const { code } = profile;
  const changed = (member: string, message: string): AccpError =>
    accpError('E1004', `schemas.${name}.${member}`, message);
  if (definition.code !== code) throw changed('code', `The code of this schema is ${code}, that of its profile.`);
  const missing = profile.fields.find((field) => !definition.fields.includes(field));
  if (missing !== undefined) {
    throw changed('fields', `The field ${quotedShort(missing)} of the profile ${code} is missing.`);
  }
  const types = Object.assign(bare<FieldType>(), profile.types);
  for (const [field, type] of Object.entries(definition.types ?? {})) {
    const expected = types[field];
    if (expected !== undefined && type !== expected) {
      throw changed(`types.${field}`, `The type of this field is ${expected} in the profile ${code}.`);
    }
    types[field] = type;
  }
  return sealDefinition({ ...definition, types });
}

export interface Registry {
  /** 1 for the profiles' schemas alone; one more with each registration. */
  readonly version: number;
  /** SHA-256 of the canonical JSON of the schemas, and of {@link customOperations} where there are any: 64 hex digits. */
  readonly hash: string;
  /** By name, without a prototype; includes the schemas of the profiles. */
  readonly schemas: { readonly [name: string]: SchemaDefinition };
  /** Operations without a schema, sorted. */
  readonly customOperations: readonly string[];
  /** Core operations, {@link customOperations}, and those of schemas. */
  readonly operations: readonly string[];
  readonly byCode: (code: string) => SchemaDefinition | undefined;
}

/** A registry as JSON, as in the draft's example (section 6.2). */
export interface RegistryJson {
  readonly version?: number | undefined;
  readonly schemas: { readonly [name: string]: SchemaDefinition };
  /** Operations without a schema. */
  readonly operations?: readonly string[] | undefined;
}

type Schemas = { readonly [name: string]: SchemaDefinition };

const registryShape = object(
  {
    version: optional(integer(1)),
    // Entries are checked one by one.
    schemas: refine(isPlainMap, 'expected an object'),
    operations: optional(list(text)),
  },
  { strict: true },
);

/**
 * Makes a registry of the profiles' schemas and the given ones, which replace those of the same name.
 *
 * @param json may come from outside. A missing version, or one too low for the number of schemas and operations, becomes the lowest
 * possible one.
 * @throws AccpError E1004 with the path of the first fault
 */
export function createRegistry(json?: RegistryJson): Registry {
  if (json === undefined) return build(1, PROFILE_SCHEMAS, []);
  const { version = 1, schemas, operations = [] } = checkShape(registryShape, json, '');
  const all = Object.assign(bare<SchemaDefinition>(), PROFILE_SCHEMAS);
  for (const name of Object.keys(schemas)) {
    all[name] = keepProfile(name, checkDefinition(name, schemas[name]));
  }
  checkCodes(all);
  for (const [at, operation] of operations.entries()) checkOperation(operation, `operations[${at}]`);
  const custom = operations.filter((operation) => !CORE_OPERATIONS.includes(operation));
  const registered =
    Object.keys(all).filter((name) => !isProfileSchema(name, all[name]!)).length + new Set(custom).size;
  return build(Math.max(version, 1 + registered), all, custom);
}

/**
 * Returns the registry with one more schema, or a newer version of one; unchanged for an equal definition.
 *
 * @throws AccpError E1004 on an invalid definition, a changed one without a higher version, or a code in use by another schema
 */
export function registerSchema(registry: Registry, name: string, definition: unknown): Registry {
  const checked = keepProfile(name, checkDefinition(name, definition));
  const present = registry.schemas[name];
  if (present !== undefined) {
    if (isSame(present, checked)) return registry;
    if (checked.version <= present.version) {
      throw accpError(
        'E1004',
        `schemas.${name}.version`,
        `Version ${present.version} is registered; another needs a higher one.`,
      );
    }
  }
  const owner = Object.keys(registry.schemas).find((other) => registry.schemas[other]!.code === checked.code);
  if (owner !== undefined && owner !== name) throw takenCode(name, checked.code, owner);
  const schemas = Object.assign(bare<SchemaDefinition>(), registry.schemas, { [name]: checked });
  return build(registry.version + 1, schemas, registry.customOperations);
}

/** @throws AccpError E1003 with the path of an unknown code */
export function requireSchema({ byCode }: Registry, code: string, path: string): SchemaDefinition {
  const schema = byCode(code);
  if (schema !== undefined) return schema;
  throw accpError('E1003', path, `no schema "${code}" is registered`);
}

/** Returns the registry with one more operation. Throws AccpError E1004 on a name with other characters than letters, digits and `_`. */
export function registerOperation(registry: Registry, operation: string): Registry {
  checkOperation(operation, 'operations');
  if (registry.operations.includes(operation)) return registry;
  return build(registry.version + 1, registry.schemas, [...registry.customOperations, operation]);
}

/** Returns the whole registry as JSON, for `createRegistry`. */
export function exportRegistry(registry: Registry): RegistryJson {
  const { version, schemas, customOperations } = registry;
  return { version, schemas, ...(customOperations.length === 0 ? {} : { operations: customOperations }) };
}

/** Returns the shortest prefix of at least `digits` characters with a letter, so that it cannot be read as a number. */
export function shortHash(hash: string, digits = 6): string {
  const lettered = /^[0-9]*[a-f]/.exec(hash)?.[0] ?? hash;
  return hash.slice(0, Math.max(digits, lettered.length));
}

/** Whether a text is the hash of the registry, or a prefix of at least six digits. */
export function matchesHash(registry: Registry, text: string): boolean {
  return /^[0-9a-fA-F]{6,64}$/.test(text) && registry.hash.startsWith(text.toLowerCase());
}

function build(version: number, schemas: Schemas, operations: readonly string[]): Registry {
  const customOperations = Object.freeze([...new Set(operations)].sort());
  const byCode = new Map(Object.values(schemas).map((schema) => [schema.code, schema]));
  const brought = Object.values(schemas).flatMap((schema) => schema.operations ?? []);
  let hash: string | undefined;
  return Object.freeze({
    version,
    get hash() {
      hash ??= hashOf(schemas, customOperations);
      return hash;
    },
    schemas: Object.freeze(schemas),
    customOperations,
    operations: Object.freeze([...new Set([...CORE_OPERATIONS, ...brought, ...customOperations])]),
    byCode: (code: string) => byCode.get(code),
  });
}

function hashOf(schemas: Schemas, operations: readonly string[]): string {
  const plain = schemas as unknown as JsonObject;
  return sha256Hex(canonicalJson(operations.length === 0 ? plain : { operations, schemas: plain }));
}

function checkCodes(schemas: Schemas): void {
  const owners = new Map<string, string>();
  for (const name of Object.keys(schemas)) {
    const { code } = schemas[name]!;
    const owner = owners.get(code);
    if (owner !== undefined) throw takenCode(name, code, owner);
    owners.set(code, name);
  }
}

function takenCode(name: string, code: string, owner: string): AccpError {
  return accpError('E1004', `schemas.${name}.code`, `The code ${code} is that of the schema ${quotedShort(owner)}.`);
}

function checkOperation(operation: string, path: string): void {
  const why = typeof operation === 'string' ? whyNoWord(operation) : 'is no text';
  if (why !== null) throw accpError('E1004', path, `The operation ${quotedShort(String(operation))} ${why}.`);
}
