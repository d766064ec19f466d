/** Registries of schemas and operations (draft-benzing-accp-00, sections 4.3 and 6): immutable values. */

import { sha256Hex } from '../../text/sha256.js';
import { integer, list, object, optional, refine, text } from '../../text/shape.js';
import { quotedShort } from '../../text/visible.js';
import { type AccpError, accpError } from '../errors.js';
import {
  canonicalJson,
  type FieldType,
  isPlainMap,
  type JsonObject,
  nullObject,
  type SchemaDefinition,
  sealDefinition,
} from '../message/json.js';
import { PROFILES } from '../profiles/profiles.js';
import {
  CORE_OPERATIONS,
  type CompactDefinition,
  checkCompact,
  checkDefinition,
  checkShape,
  whyNotWord,
} from './definition.js';

export type { CompactDefinition, ShapeDefinition } from './definition.js';

/** The schemas of the profiles, which every registry has (draft-benzing-accp-00, sections 3.6 and 10). */
export const PROFILE_SCHEMAS: { readonly [name: string]: SchemaDefinition } = Object.freeze(
  Object.assign(
    nullObject<SchemaDefinition>(),
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

/** Returns a definition with the types of the profile. Throws AccpError E1004 if a code, field or type of the profile is changed. */
export function extendProfile(name: string, definition: SchemaDefinition): SchemaDefinition {
  const profile = PROFILE_SCHEMAS[name];
  if (profile === undefined) return definition;
  const { code } = profile;
  const changed = (member: string, message: string): AccpError =>
    accpError('E1004', `schemas.${name}.${member}`, message);
  if (definition.code !== code) throw changed('code', `The code must be ${code}, that of the profile.`);
  const missing = profile.fields.find((field) => !definition.fields.includes(field));
  if (missing !== undefined) {
    throw changed('fields', `The field ${quotedShort(missing)} of the profile ${code} is missing.`);
  }
  const types = Object.assign(nullObject<FieldType>(), profile.types);
  for (const [field, type] of Object.entries(definition.types ?? {})) {
    const expected = types[field];
    if (expected !== undefined && type !== expected) {
      throw changed(`types.${field}`, `The type must be ${expected}, as in the profile ${code}.`);
    }
    types[field] = type;
  }
  return sealDefinition({ ...definition, types });
}

/** An immutable registry of schemas and operations (section 6). */
export interface Registry {
  /** The version: 1 for the schemas of the profiles alone, and one more with each registration. */
  readonly version: number;
  /** The SHA-256 hash of the canonical JSON of the schemas, and of {@link customOperations} and {@link compact} if there are any: 64 hexadecimal digits. */
  readonly hash: string;
  /** The schemas by name, including those of the profiles, in an object without a prototype. */
  readonly schemas: { readonly [name: string]: SchemaDefinition };
  /** The registered operations that belong to no schema, sorted. */
  readonly customOperations: readonly string[];
  /** All operations: those of section 4.3, those of schemas, and {@link customOperations}. */
  readonly operations: readonly string[];
  /** Entries that compact frames refer to by number, besides the fields of the schemas; `undefined` for nothing. */
  readonly compact: CompactDefinition | undefined;
  /** Returns the schema with a code; `undefined` if the code is unknown. */
  readonly byCode: (code: string) => SchemaDefinition | undefined;
}

/** A registry as JSON, as in the draft's example (section 6.2). */
export interface RegistryJson {
  /** The version. @default the lowest one possible */
  readonly version?: number | undefined;
  /** The definitions by name. */
  readonly schemas: { readonly [name: string]: SchemaDefinition };
  /** The operations that belong to no schema. @default [] */
  readonly operations?: readonly string[] | undefined;
  /** Entries that compact frames refer to by number, besides the fields of the schemas. @default nothing */
  readonly compact?: CompactDefinition | undefined;
}

type Schemas = { readonly [name: string]: SchemaDefinition };

const registryShape = object(
  {
    version: optional(integer(1)),
    // Entries are checked one by one.
    schemas: refine(isPlainMap, 'must be an object'),
    operations: optional(list(text)),
    // Checked by itself.
    compact: optional(refine(isPlainMap, 'must be an object')),
  },
  { strict: true },
);

/**
 * Creates a registry of the schemas of the profiles and the given ones, which replace those of the same name.
 *
 * Source: draft-benzing-accp-00, section 6.
 *
 * @param json the registry as JSON, which may come from outside. A version too low for the number of schemas and operations is raised.
 * @throws AccpError E1004 with the path of the first error if `json` is invalid
 */
export function createRegistry(json?: RegistryJson): Registry {
  if (json === undefined) return build(1, PROFILE_SCHEMAS, [], undefined);
  const { version = 1, schemas, operations = [], compact: unchecked } = checkShape(registryShape, json, '');
  const compact = checkCompact(unchecked);
  const all = Object.assign(nullObject<SchemaDefinition>(), PROFILE_SCHEMAS);
  for (const name of Object.keys(schemas)) {
    all[name] = extendProfile(name, checkDefinition(name, schemas[name]));
  }
  checkCodes(all);
  for (const [at, operation] of operations.entries()) checkOperation(operation, `operations[${at}]`);
  const custom = operations.filter((operation) => !CORE_OPERATIONS.includes(operation));
  const registered =
    Object.keys(all).filter((name) => !isProfileSchema(name, all[name]!)).length +
    new Set(custom).size +
    (compact === undefined ? 0 : 1);
  return build(Math.max(version, 1 + registered), all, custom, compact);
}

/** The schemas of the profiles: the registry of sides that have announced none. */
export const COMMON_REGISTRY = createRegistry();

/**
 * Returns a registry with one more schema, or with a newer version of one; returns the same registry if the definition is registered.
 *
 * Source: draft-benzing-accp-00, section 6.2.
 *
 * @throws AccpError E1004 if the definition is invalid, changes a schema without a higher version, or has the code of another schema
 */
export function registerSchema(registry: Registry, name: string, definition: unknown): Registry {
  const checked = extendProfile(name, checkDefinition(name, definition));
  const present = registry.schemas[name];
  if (present !== undefined) {
    if (isSame(present, checked)) return registry;
    if (checked.version <= present.version) {
      throw accpError(
        'E1004',
        `schemas.${name}.version`,
        `Version ${present.version} is registered with another definition; use a higher version.`,
      );
    }
  }
  const owner = Object.keys(registry.schemas).find((other) => registry.schemas[other]!.code === checked.code);
  if (owner !== undefined && owner !== name) throw codeInUse(name, checked.code, owner);
  const schemas = Object.assign(nullObject<SchemaDefinition>(), registry.schemas, { [name]: checked });
  return build(registry.version + 1, schemas, registry.customOperations, registry.compact);
}

/** Returns the schema with a code. Throws AccpError E1003 with the path if the code is unknown. */
export function requireSchema({ byCode }: Registry, code: string, path: string): SchemaDefinition {
  const schema = byCode(code);
  if (schema !== undefined) return schema;
  throw accpError('E1003', path, `the schema "${code}" is not registered`);
}

/**
 * Returns a registry with one more operation.
 *
 * Source: draft-benzing-accp-00, section 4.3.
 *
 * @throws AccpError E1004 if the name contains other characters than letters, digits and `_`
 */
export function registerOperation(registry: Registry, operation: string): Registry {
  checkOperation(operation, 'operations');
  if (registry.operations.includes(operation)) return registry;
  return build(registry.version + 1, registry.schemas, [...registry.customOperations, operation], registry.compact);
}

/** Returns the whole registry as JSON, for `createRegistry`. */
export function exportRegistry(registry: Registry): RegistryJson {
  const { version, schemas, customOperations, compact } = registry;
  return {
    version,
    schemas,
    ...(customOperations.length === 0 ? {} : { operations: customOperations }),
    ...(compact === undefined ? {} : { compact }),
  };
}

/** Returns the shortest prefix of at least `digits` characters with a letter, so that it cannot be read as a number. */
export function shortHash(hash: string, digits = 6): string {
  const lettered = /^[0-9]*[a-f]/.exec(hash)?.[0] ?? hash;
  return hash.slice(0, Math.max(digits, lettered.length));
}

/** Returns `true` if a text is the hash of the registry, or a prefix of it with at least six digits. */
export function matchesHash(registry: Registry, text: string): boolean {
  return /^[0-9a-fA-F]{6,64}$/.test(text) && registry.hash.startsWith(text.toLowerCase());
}

function build(
  version: number,
  schemas: Schemas,
  operations: readonly string[],
  compact: CompactDefinition | undefined,
): Registry {
  const customOperations = Object.freeze([...new Set(operations)].sort());
  const byCode = new Map(Object.values(schemas).map((schema) => [schema.code, schema]));
  const fromSchemas = Object.values(schemas).flatMap((schema) => schema.operations ?? []);
  let hash: string | undefined;
  return Object.freeze({
    version,
    get hash() {
      hash ??= hashOf(schemas, customOperations, compact);
      return hash;
    },
    schemas: Object.freeze(schemas),
    customOperations,
    compact,
    operations: Object.freeze([...new Set([...CORE_OPERATIONS, ...fromSchemas, ...customOperations])]),
    byCode: (code: string) => byCode.get(code),
  });
}

function hashOf(schemas: Schemas, operations: readonly string[], compact: CompactDefinition | undefined): string {
  const plain = schemas as unknown as JsonObject;
  const isPlain = operations.length === 0 && compact === undefined;
  const others = { operations, ...(compact === undefined ? {} : { compact: compact as unknown as JsonObject }) };
  return sha256Hex(canonicalJson(isPlain ? plain : { ...others, schemas: plain }));
}

function checkCodes(schemas: Schemas): void {
  const owners = new Map<string, string>();
  for (const name of Object.keys(schemas)) {
    const { code } = schemas[name]!;
    const owner = owners.get(code);
    if (owner !== undefined) throw codeInUse(name, code, owner);
    owners.set(code, name);
  }
}

function codeInUse(name: string, code: string, owner: string): AccpError {
  return accpError('E1004', `schemas.${name}.code`, `The code ${code} belongs to the schema ${quotedShort(owner)}.`);
}

function checkOperation(operation: string, path: string): void {
  const why = typeof operation === 'string' ? whyNotWord(operation) : 'must be a string';
  if (why !== null) throw accpError('E1004', path, `The operation ${quotedShort(String(operation))} ${why}.`);
}
