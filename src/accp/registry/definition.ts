/** The validation of schema definitions (draft-benzing-accp-00, section 6.2). */

import { type Check, integer, list, object, oneOf, optional, refine, ShapeError, text } from '../../text/shape.js';
import { nearest } from '../../text/suggest.js';
import { quotedShort } from '../../text/visible.js';
import { accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { FIELD_TYPES, isPlainMap, nullObject, type SchemaDefinition, sealDefinition } from '../message/json.js';
import { OTHER_KIND } from '../plain.js';
import { checkDefault } from './defaults.js';

const WORD = /^[A-Za-z0-9_]+$/;
const READS_AS_ANOTHER_KIND = /^(?:[0-9]+|true|false)$/;

/** Returns the reason why a text cannot name a schema, field or operation; `null` if it can. */
export function whyNotWord(text: string): string | null {
  if (!WORD.test(text)) return 'is invalid: use letters, digits and "_"';
  // In a delta, it would be read as a number or a boolean.
  return READS_AS_ANOTHER_KIND.test(text) ? 'reads as a number or a boolean' : null;
}

/** Core operations (draft-benzing-accp-00, section 4.3). Others can be registered; unregistered ones are allowed. */
export const CORE_OPERATIONS: readonly string[] = [
  'analyze',
  'plan',
  'execute',
  'review',
  'approve',
  'reject',
  'fetch',
  'transform',
  'summarize',
  'classify',
  'generate',
  'validate',
  'schedule',
  'notify',
  'merge',
  'split',
  'route',
  'cache',
  'purge',
];

/** Returns `true` if a text can be the code of a schema. */
export function isCode(text: string): boolean {
  return /^(?!(?:true|false)$)[A-Za-z][A-Za-z0-9]*$/.test(text);
}

const word: Check<string> = (value, path) => {
  const checked = text(value, path);
  const why = whyNotWord(checked);
  if (why !== null) throw new ShapeError(path, `${quotedShort(checked)} ${why}`);
  return checked;
};

const words: Check<readonly string[]> = (value, path) => {
  const checked = list(word)(value, path);
  const seen = new Set<string>();
  const twice = checked.findIndex((one) => seen.size === seen.add(one).size);
  if (twice >= 0) throw new ShapeError(`${path}[${twice}]`, `${quotedShort(checked[twice]!)} is listed twice`);
  return checked;
};

const code: Check<string> = (value, path) => {
  const checked = text(value, path);
  if (isCode(checked)) return checked;
  throw new ShapeError(path, 'must be a letter, followed by letters and digits');
};

const byField = refine(isPlainMap, 'must be an object');

const definitionShape = object(
  {
    code,
    version: integer(1),
    fields: words,
    defaults: optional(byField),
    types: optional(byField),
    operations: optional(words),
  },
  { strict: true },
);

/** Most characters of a schema's defaults as JSON: every frame that names the schema, however short, expands to them. */
const MAX_DEFAULTS = 4096;

const fieldType = oneOf(FIELD_TYPES);

/** Returns a checked copy. Throws AccpError E1004 with a path such as `schemas.sales_report.fields[2]` if the definition is invalid. */
export function checkDefinition(name: string, definition: unknown): SchemaDefinition {
  const why = whyNotWord(name);
  if (why !== null) throw accpError('E1004', 'schemas', `The name ${quotedShort(name)} ${why}.`);
  const path = `schemas.${name}`;
  const { code, version, fields, defaults, types, operations } = checkShape(definitionShape, definition, path);
  checkFieldNames(fields, code, path);
  const known = new Set(fields);
  const checkedTypes = types && eachField(types, known, `${path}.types`, (type, at) => checkShape(fieldType, type, at));
  const checkedDefaults =
    defaults &&
    eachField(defaults, known, `${path}.defaults`, (value, at, field) =>
      checkDefault(value, checkedTypes?.[field], at),
    );
  if (checkedDefaults !== undefined && JSON.stringify(checkedDefaults).length > MAX_DEFAULTS) {
    const help = 'send large values in messages, or keep them in state and send references';
    throw accpError(
      'E1004',
      `${path}.defaults`,
      `The defaults have more than ${MAX_DEFAULTS} characters as JSON.`,
      help,
    );
  }
  return sealDefinition({
    code,
    version,
    fields: [...fields],
    ...(isEmpty(checkedDefaults) ? {} : { defaults: checkedDefaults! }),
    ...(isEmpty(checkedTypes) ? {} : { types: checkedTypes! }),
    ...(isEmpty(operations) ? {} : { operations: [...operations!] }),
  });
}

/** A list of keys that compact frames refer to by number: of a payload if it has an operation or a schema, otherwise of a map. */
export interface ShapeDefinition {
  /** The operation of the payload. @default any */
  readonly operation?: string | undefined;
  /** The code of the schema of the payload. @default none */
  readonly schema?: string | undefined;
  /** The full names of the keys. */
  readonly fields: readonly string[];
}

/** Entries that compact frames refer to by number, besides the fields of the schemas. */
export interface CompactDefinition {
  /** The shapes of payloads and maps. @default [] */
  readonly shapes?: readonly ShapeDefinition[] | undefined;
  /** Strings that many messages contain: 4 to 96 visible ASCII characters. @default [] */
  readonly strings?: readonly string[] | undefined;
  /** The names of agents. @default [] */
  readonly agents?: readonly string[] | undefined;
}

export const MAX_SHAPES = 1024;
export const MAX_STRINGS = 4096;

/** Returns `true` if a string has a length that is worth a number: shorter ones cost no more than one, longer ones rarely repeat. */
export function mayHaveNumber({ length }: string): boolean {
  return length >= 4 && length <= 96;
}

/** Strings that a delta can carry, whatever the text policy, and that frames do not spell in another way. */
const plainString = refine(
  (value): value is string =>
    typeof value === 'string' && mayHaveNumber(value) && /^(?!['"])[!-~]*$/.test(value) && !OTHER_KIND.test(value),
  'must be 4 to 96 visible ASCII characters that read as a string',
);

const agentName = refine(
  (value): value is string => typeof value === 'string' && /^[A-Za-z0-9_-]{1,256}$/.test(value),
  'must be 1 to 256 letters, digits, "-" and "_"',
);

const compactShape = object(
  {
    shapes: optional(
      bounded(
        list(object({ operation: optional(word), schema: optional(code), fields: words }, { strict: true })),
        MAX_SHAPES,
      ),
    ),
    strings: optional(bounded(list(plainString), MAX_STRINGS)),
    agents: optional(bounded(list(agentName), MAX_SHAPES)),
  },
  { strict: true },
);

function bounded<T>(check: Check<readonly T[]>, max: number): Check<readonly T[]> {
  return (value, path) => {
    const checked = check(value, path);
    if (checked.length > max) throw new ShapeError(path, `must have at most ${max} items`);
    return checked;
  };
}

/** Returns a checked copy; `undefined` if it is empty. Throws AccpError E1004 with a path such as `compact.shapes[2].fields`. */
export function checkCompact(value: unknown): CompactDefinition | undefined {
  if (value === undefined) return undefined;
  const { shapes = [], strings = [], agents = [] } = checkShape(compactShape, value, 'compact');
  if (shapes.length + strings.length + agents.length === 0) return undefined;
  return Object.freeze({
    ...(shapes.length === 0 ? {} : { shapes }),
    ...(strings.length === 0 ? {} : { strings }),
    ...(agents.length === 0 ? {} : { agents }),
  });
}

/** Checks a value from outside. Throws AccpError E1004 with the path of the first error. */
export function checkShape<T>(check: Check<T>, value: unknown, path: string): T {
  try {
    return check(value, path);
  } catch (thrown) {
    if (thrown instanceof ShapeError)
      throw accpError('E1004', thrown.path || undefined, `${thrown.message}.`, thrown.help);
    throw thrown;
  }
}

function checkFieldNames(fields: readonly string[], code: string, path: string): void {
  const table = keyTable(code);
  for (const [at, field] of fields.entries()) {
    const place = `${path}.fields[${at}]`;
    if (field === 'schema') throw accpError('E1004', place, 'The key "schema" is reserved.');
    const full = table.expand(field);
    if (full !== field)
      throw accpError('E1004', place, `${quotedShort(field)} is an abbreviation; use the full name "${full}".`);
  }
}

function eachField<V>(
  members: { readonly [field: string]: unknown },
  fields: ReadonlySet<string>,
  path: string,
  check: (value: unknown, path: string, field: string) => V,
): { [field: string]: V } {
  const checked = nullObject<V>();
  for (const field of Object.keys(members)) {
    const value = members[field];
    if (value === undefined) continue;
    if (!fields.has(field)) {
      const meant = nearest(field, fields);
      const help = meant === undefined ? undefined : `did you mean ${quotedShort(meant)}?`;
      throw accpError('E1004', path, `Unknown field ${quotedShort(field)}.`, help);
    }
    checked[field] = check(value, `${path}.${field}`, field);
  }
  return checked;
}

function isEmpty(members: object | undefined): boolean {
  return members === undefined || Object.keys(members).length === 0;
}
