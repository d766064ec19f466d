/** The check of definitions that come from outside (draft-benzing-accp-00, section 6.2). */
import * as z from 'zod';
import { nearest } from '../../text/suggest.js';
import { quotedShort } from '../../text/visible.js';
import { AccpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { bare, FIELD_TYPES, isPlainMap, type SchemaDefinition, sealDefinition } from '../message/json.js';
import { checkDefault } from './defaults.js';
import { whyNoWord } from './words.js';

export type { SchemaDefinition } from '../message/json.js';

const word = z.string().superRefine((text, context) => {
  const why = whyNoWord(text);
  if (why !== null) context.addIssue(`${quotedShort(text)} ${why}`);
});

const words = z.array(word).superRefine((list, context) => {
  const seen = new Set<string>();
  for (const [at, text] of list.entries()) {
    if (seen.has(text))
      context.addIssue({ code: 'custom', message: `${quotedShort(text)} is there twice`, path: [at] });
    seen.add(text);
  }
});

/** By field; the keys are checked apart, because zod drops one of the name `__proto__`. */
const byField = z.custom<{ readonly [field: string]: unknown }>(isPlainMap, 'expected an object');

const definitionSchema = z.strictObject({
  code: z.string().regex(/^(?!(?:true|false)$)[A-Za-z][A-Za-z0-9]*$/, 'expected a letter, then letters and digits'),
  version: z.int().min(1),
  fields: words,
  defaults: byField.optional(),
  types: byField.optional(),
  operations: words.optional(),
});

/** Characters of a schema's defaults as JSON: each frame that names the schema, however short, stands for all of them. */
const MAX_DEFAULTS = 4096;

const fieldTypeSchema = z.enum(FIELD_TYPES);

/**
 * Checks a definition that comes from outside.
 *
 * @param name what the registry calls the schema: letters, digits and `_`
 * @returns the definition as data of its own
 * @throws AccpError E1004 with a path such as `schemas.sales_report.fields[2]`
 */
export function checkDefinition(name: string, definition: unknown): SchemaDefinition {
  const why = whyNoWord(name);
  if (why !== null) throw malformed('schemas', `The name ${quotedShort(name)} ${why}.`);
  const path = `schemas.${name}`;
  const { code, version, fields, defaults, types, operations } = checkShape(definitionSchema, definition, path);
  checkFieldNames(fields, code, path);
  const known = new Set(fields);
  const checkedTypes =
    types && eachField(types, known, `${path}.types`, (type, at) => checkShape(fieldTypeSchema, type, at));
  const checkedDefaults =
    defaults &&
    eachField(defaults, known, `${path}.defaults`, (value, at, field) =>
      checkDefault(value, checkedTypes?.[field], at),
    );
  if (checkedDefaults !== undefined && JSON.stringify(checkedDefaults).length > MAX_DEFAULTS) {
    const help = 'send large values in messages, or keep them in state and send references';
    throw malformed(`${path}.defaults`, `They have more than ${MAX_DEFAULTS} characters as JSON.`, help);
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

/**
 * Checks JSON from outside against a zod schema.
 *
 * @throws AccpError E1004 about the first fault, at its path
 */
export function checkShape<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const at = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const place = path === '' ? at.replace(/^\./, '') : path + at;
  if (issue.code === 'unrecognized_keys' && schema instanceof z.ZodObject) {
    const key = issue.keys[0]!;
    const meant = nearest(key, Object.keys(schema.shape));
    const help = meant === undefined ? undefined : `did you mean ${quotedShort(meant)}?`;
    throw malformed(place, `There is no member ${quotedShort(key)}.`, help);
  }
  throw malformed(place, `${issue.message}.`);
}

function checkFieldNames(fields: readonly string[], code: string, path: string): void {
  const table = keyTable(code);
  for (const [at, field] of fields.entries()) {
    const place = `${path}.fields[${at}]`;
    if (field === 'schema') throw malformed(place, 'The key "schema" names the schema itself.');
    const full = table.expand(field);
    if (full !== field)
      throw malformed(place, `${quotedShort(field)} is the short form of a key; its name is "${full}".`);
  }
}

function eachField<V>(
  members: { readonly [field: string]: unknown },
  fields: ReadonlySet<string>,
  path: string,
  check: (value: unknown, path: string, field: string) => V,
): { [field: string]: V } {
  const checked = bare<V>();
  for (const field of Object.keys(members)) {
    const value = members[field];
    if (value === undefined) continue;
    if (!fields.has(field)) {
      const meant = nearest(field, fields);
      const help = meant === undefined ? undefined : `did you mean ${quotedShort(meant)}?`;
      throw malformed(path, `${quotedShort(field)} is none of the fields.`, help);
    }
    checked[field] = check(value, `${path}.${field}`, field);
  }
  return checked;
}

function isEmpty(members: object | undefined): boolean {
  return members === undefined || Object.keys(members).length === 0;
}

function malformed(path: string, message: string, help?: string): AccpError {
  return new AccpError({ code: 'E1004', message, path: path === '' ? undefined : path, help });
}
