/** What a schema is, to a registry (draft-benzing-accp-00, section 6.2). */
import type { FieldType } from './field-type.js';
import type { Json } from './json.js';
import { bare, freezeAll } from './plain.js';

/** One entry of a registry's `schemas`. Those of pegwire are frozen and without prototypes. */
export interface SchemaDefinition {
  /** What frames name the schema by, `schema:SR`: a letter, then letters and digits. */
  readonly code: string;
  /** From 1 on; a changed definition needs a higher one. */
  readonly version: number;
  /** Full names of the payload's keys. A payload may have others besides. */
  readonly fields: readonly string[];
  /** By field: what is not sent where it is equal, and filled in where it is absent. */
  readonly defaults?: { readonly [field: string]: Json };
  /** By field: settles how values are read, so that a text such as `42` stays one. An addition to the draft. */
  readonly types?: { readonly [field: string]: FieldType };
  /** Custom operations that come with the schema (section 4.3). */
  readonly operations?: readonly string[];
}

/** A definition without prototypes, frozen with all that it holds. It is not checked. */
export function sealDefinition(definition: SchemaDefinition): SchemaDefinition {
  const { defaults, types } = definition;
  const sealed: { [key: string]: unknown } = Object.assign(bare<unknown>(), definition);
  if (defaults !== undefined) sealed['defaults'] = Object.assign(bare(), defaults);
  if (types !== undefined) sealed['types'] = Object.assign(bare(), types);
  return freezeAll(sealed) as unknown as SchemaDefinition;
}
