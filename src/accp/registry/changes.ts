/** The changes between two registries, and whether they break agents that have the older one (draft-benzing-accp-00, sections 6.2 to 6.4). */
import { canonicalJson, type Json, type SchemaDefinition } from '../message/json.js';
import { isProfileSchema, type Registry } from './registry.js';

/** One change of a registry. */
export interface RegistryChange {
  /** The kind of change, such as `field-removed`. */
  readonly code: string;
  /** `true` if messages of one side are rejected by the other one, or read with another meaning. */
  readonly isBreaking: boolean;
  /** The place, such as `report.rows`. */
  readonly path: string;
  /** The change in one sentence. */
  readonly message: string;
}

/**
 * Returns the changes from one registry to a later one, the breaking ones first.
 *
 * Breaking are: what is removed, other codes, types and defaults, since messages are then rejected (E1003, E1004) or read with another
 * meaning; and a version that does not rise, since peers refuse such a registry (E5001).
 */
export function registryChanges(before: Registry, after: Registry): readonly RegistryChange[] {
  const changes: RegistryChange[] = [];
  const add = (code: string, isBreaking: boolean, path: string, message: string): void => {
    changes.push({ code, isBreaking, path, message });
  };
  for (const [name, old] of Object.entries(before.schemas)) {
    const now = Object.hasOwn(after.schemas, name) ? after.schemas[name] : undefined;
    if (now === undefined) add('schema-removed', true, name, `The schema ${name} (${old.code}) is gone.`);
    else compareSchemas(name, old, now, add);
  }
  for (const [name, now] of Object.entries(after.schemas))
    if (!Object.hasOwn(before.schemas, name) && !isProfileSchema(name, now))
      add('schema-added', false, name, `The schema ${name} (${now.code}) is new.`);
  compareNames(before.customOperations, after.customOperations, 'operations', 'operation', add);
  const isChanged = before.hash !== after.hash;
  if (isChanged && after.version <= before.version)
    add('version', true, 'version', `The version must be higher than ${before.version}; it is ${after.version}.`);
  if (isChanged && compactText(before) !== compactText(after))
    add('compact', false, 'compact', 'The entries of compact frames differ; both sides begin new tables.');
  return [...changes.filter(({ isBreaking }) => isBreaking), ...changes.filter(({ isBreaking }) => !isBreaking)];
}

function compactText({ compact }: Registry): string {
  return canonicalJson((compact ?? null) as unknown as Json);
}

type Add = (code: string, isBreaking: boolean, path: string, message: string) => void;

function compareSchemas(name: string, old: SchemaDefinition, now: SchemaDefinition, add: Add): void {
  if (old.code !== now.code) add('code', true, `${name}.code`, `The code was ${old.code}; it is ${now.code}.`);
  compareNames(old.fields, now.fields, name, 'field', add);
  compareNames(old.operations ?? [], now.operations ?? [], `${name}.operations`, 'operation', add);
  for (const field of old.fields.filter((one) => now.fields.includes(one))) {
    const [type, newType] = [old.types?.[field] ?? 'any', now.types?.[field] ?? 'any'];
    if (type !== newType) add('type', newType !== 'any', `${name}.${field}`, `The type was ${type}; it is ${newType}.`);
    const [value, newValue] = [old, now].map(({ defaults }) => shown(defaults?.[field]));
    if (value !== newValue) add('default', true, `${name}.${field}`, `The default was ${value}; it is ${newValue}.`);
  }
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'none' : canonicalJson(value);
}

function compareNames(old: readonly string[], now: readonly string[], path: string, kind: string, add: Add): void {
  for (const name of old)
    if (!now.includes(name)) add(`${kind}-removed`, true, `${path}.${name}`, `The ${kind} ${name} is gone.`);
  for (const name of now)
    if (!old.includes(name)) add(`${kind}-added`, false, `${path}.${name}`, `The ${kind} ${name} is new.`);
}
