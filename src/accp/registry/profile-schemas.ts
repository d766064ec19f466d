/** The schemas of the profiles, which every registry has (draft-benzing-accp-00, sections 3.6 and 10). */

import { quotedShort } from '../../text/visible.js';
import { accpError } from '../errors.js';

import { bare, canonicalJson, type FieldType, type SchemaDefinition, sealDefinition } from '../message/json.js';
import { PROFILES } from '../profiles/profiles.js';

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

/**
 * Checks a newer definition of a profile's schema, which may only add to it, and completes its types. Other schemas pass.
 *
 * @throws AccpError E1004 on another code, a missing field or another type
 */
export function keepProfile(name: string, definition: SchemaDefinition): SchemaDefinition {
  const profile = PROFILE_SCHEMAS[name];
  if (profile === undefined) return definition;
  const path = `schemas.${name}`;
  if (definition.code !== profile.code) {
    throw accpError('E1004', `${path}.code`, `The code of this schema is ${profile.code}, that of its profile.`);
  }
  for (const field of profile.fields) {
    if (!definition.fields.includes(field)) {
      throw accpError(
        'E1004',
        `${path}.fields`,
        `The field ${quotedShort(field)} of the profile ${profile.code} is missing.`,
      );
    }
  }
  const types = Object.assign(bare<FieldType>(), profile.types);
  for (const [field, type] of Object.entries(definition.types ?? {})) {
    const expected = types[field];
    if (expected !== undefined && type !== expected) {
      throw accpError(
        'E1004',
        `${path}.types.${field}`,
        `The type of this field is ${expected} in the profile ${profile.code}.`,
      );
    }
    types[field] = type;
  }
  return sealDefinition({ ...definition, types });
}
