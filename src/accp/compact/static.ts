/** The entries of the tables that follow from a registry, which both sides know before the first frame. */
import { keyTable } from '../message/abbreviations.js';
import { isProfileSchema, type Registry, type ShapeDefinition } from '../registry/registry.js';
import { bySpelling, numberIn } from './spelling.js';
import { numbered, type Shape, type StaticEntries, shapeKey } from './tables.js';

/** An update of the state that both sides share (draft-benzing-accp-00, section 5.4). */
const STATE: Shape = { operation: 'state', schema: null, keys: ['v', 'delta'] };

const known = new WeakMap<Registry, StaticEntries>();

/**
 * Returns the static entries: the update of state, the schemas of the profiles, other schemas, and those of `registry.compact`. A schema has a
 * shape for any operation, and one for each of its own. Schemas are sorted by name.
 */
export function staticEntries(registry: Registry): StaticEntries {
  let entries = known.get(registry);
  if (entries === undefined) {
    const { shapes = [], strings = [] } = registry.compact ?? {};
    entries = {
      shapes: numbered([STATE, ...schemaShapes(registry), ...shapes.map(shapeOf)], shapeKey),
      strings: numbered(strings, (text) => text),
    };
    known.set(registry, entries);
  }
  return entries;
}

/** Returns the name of an agent as a compact frame has it: the number in the registry, if it is listed. */
export function spellAgent(agent: string, { compact }: Registry): string {
  const number = compact?.agents?.indexOf(agent) ?? -1;
  return number < 0 ? agent : String(number);
}

/** Returns the agent of a compact frame. */
export function unspellAgent(written: string, { compact }: Registry): string {
  const number = numberIn(written);
  return (number === undefined ? undefined : compact?.agents?.[number]) ?? written;
}

function schemaShapes({ schemas }: Registry): readonly Shape[] {
  const names = Object.keys(schemas).sort();
  const isOfProfile = (name: string): boolean => isProfileSchema(name, schemas[name]!);
  return [...names.filter(isOfProfile), ...names.filter((name) => !isOfProfile(name))].flatMap((name) => {
    const { code, fields, operations = [] } = schemas[name]!;
    return [undefined, ...operations].map((operation) => shapeOf({ operation, schema: code, fields }));
  });
}

function shapeOf({ operation, schema, fields }: ShapeDefinition): Shape {
  const isMap = operation === undefined && schema === undefined;
  const { abbreviate } = keyTable(schema);
  const keys = isMap
    ? fields.toSorted(bySpelling)
    : [...new Set(fields.map((field) => abbreviate(field)))].filter((key) => key !== 'schema' || schema === undefined);
  return { operation: operation ?? null, schema: schema ?? null, keys };
}
