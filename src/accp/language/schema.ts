/**
 * Zod schemas and the JSON Schema of the tree of a frame. Public as `pegwire/accp/schema`.
 *
 * In JSON, big integers are strings of digits, and infinities (decimals beyond a double's range) are their names.
 * `frameSchema.parse(json)` decodes a tree, `z.encode(frameSchema, frame)` encodes one. `printFrame` also rejects trees that
 * no schema can reject: repeated keys, a `text` that denotes another value, too deep nesting.
 */
import * as z from 'zod';
import type { Frame, Value } from '../ast.js';

const names = z.registry<{ id?: string; title?: string; description?: string }>();

const spanSchema = z
  .strictObject({ start: z.int().min(0), end: z.int().min(0) })
  .register(names, { id: 'span', description: 'A range of the source in UTF-16 code units; end is exclusive.' });

const span = spanSchema.exactOptional();

const stringSchema = z
  .strictObject({ kind: z.literal('string'), value: z.string().regex(/^[!-~]+$/), span })
  .register(names, { id: 'string', description: 'Text without its escapes.' });

const bigDigits = z
  .string()
  .regex(/^-?[1-9][0-9]{15,}$/)
  .refine((digits) => !Number.isSafeInteger(Number(digits)), { error: 'Safe integers are written as numbers' })
  .register(names, { description: 'An integer beyond 2^53 - 1 in magnitude.' });

const integerValue = z.codec(z.union([z.int(), bigDigits]), z.union([z.int(), z.bigint()]), {
  decode: (value) => (typeof value === 'string' ? BigInt(value) : value),
  // Hand-written trees may hold a small bigint.
  encode: (value) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)),
});

const integerSchema = z
  .strictObject({
    kind: z.literal('integer'),
    value: integerValue,
    text: z
      .string()
      .regex(/^-?[0-9]+$/)
      .exactOptional(),
    span,
  })
  .register(names, { id: 'integer', description: 'text: the source digits, where value alone would print others.' });

const infinityNames = z.enum(['Infinity', '-Infinity']);

const decimalValue = z.codec(
  z.union([z.number(), infinityNames]),
  z.union([z.number(), z.literal([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])]),
  {
    decode: (value) => Number(value),
    encode: (value) => (Number.isFinite(value) ? value : value > 0 ? 'Infinity' : '-Infinity'),
  },
);

const decimalSchema = z
  .strictObject({
    kind: z.literal('decimal'),
    value: decimalValue,
    text: z
      .string()
      .regex(/^-?[0-9]+\.[0-9]+$/)
      .exactOptional(),
    span,
  })
  .register(names, {
    id: 'decimal',
    description: 'value: the nearest double. text: the source digits, where value alone would print others.',
  });

const booleanSchema = z
  .strictObject({ kind: z.literal('boolean'), value: z.boolean(), span })
  .register(names, { id: 'boolean', description: 'true or false.' });

const nullSchema = z
  .strictObject({ kind: z.literal('null'), span })
  .register(names, { id: 'null', description: 'The absence of a value, written as a tilde.' });

const arraySchema = z.strictObject({
  kind: z.literal('array'),
  get items() {
    return z.array(valueSchema).readonly();
  },
  span,
});

const mapSchema = z.strictObject({
  kind: z.literal('map'),
  get entries() {
    return z.array(paramSchema).readonly();
  },
  span,
});

const refSchema = z
  .strictObject({ kind: z.literal('ref'), path: z.string().regex(/^[A-Za-z0-9_.]+$/), span })
  .register(names, { id: 'ref', description: 'path: the characters after the dollar sign.' });

/** The schema of a value, nested to any depth. */
export const valueSchema: z.ZodType<Value, ValueJson> = z.discriminatedUnion('kind', [
  stringSchema,
  integerSchema,
  decimalSchema,
  booleanSchema,
  nullSchema,
  arraySchema,
  mapSchema,
  refSchema,
]);

const paramSchema = z.strictObject({
  key: z.string().regex(/^[A-Za-z0-9_]+$/),
  get value() {
    return valueSchema;
  },
  span,
});

// Not at the definition: mutually recursive types cannot be inferred through a call.
names.add(arraySchema, { id: 'array', description: 'Values in source order.' });
names.add(mapSchema, { id: 'map', description: 'Keys are unique.' });
names.add(valueSchema, { id: 'value', description: 'Any value, discriminated by kind.' });
names.add(paramSchema, { id: 'param', description: 'key:value in a payload, a map or a metadata block.' });

/** The schema of a frame (draft-benzing-accp-00, section 3.1). */
export const frameSchema: z.ZodType<Frame, FrameJson> = z
  .strictObject({
    kind: z.literal('frame'),
    agent: z.string().regex(/^[A-Za-z0-9_-]+$/),
    intent: z.string().regex(/^[A-Za-z]+$/),
    operation: z.string().regex(/^[A-Za-z0-9_]+$/),
    payload: z.array(paramSchema).readonly(),
    metadata: z.array(paramSchema).min(1).readonly().nullable(),
    span,
  })
  .register(names, {
    title: 'ACCP frame',
    description: 'The tree of one message of draft-benzing-accp-00, section 3.1. Keys are unique within one list.',
  });

/** The tree of a frame as JSON. */
export type FrameJson = AsJson<Frame>;

/** A value as JSON. */
export type ValueJson = AsJson<Value>;

/** JSON has no big integers or infinities: these are strings. */
type AsJson<Tree> = Tree extends bigint
  ? string
  : Tree extends readonly (infer Item)[]
    ? readonly AsJson<Item>[]
    : Tree extends { readonly kind: 'decimal' }
      ? { [Name in keyof Tree]: Name extends 'value' ? number | 'Infinity' | '-Infinity' : Tree[Name] }
      : Tree extends object
        ? { [Name in keyof Tree]: AsJson<Tree[Name]> }
        : Tree;

/** Returns the JSON Schema (draft 2020-12) of the tree of a frame. */
export function frameJsonSchema(): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(frameSchema, {
    io: 'input',
    metadata: names,
    target: 'draft-2020-12',
    // Readonly types imply nothing about JSON.
    override: ({ jsonSchema }) => {
      delete jsonSchema.readOnly;
    },
  });
}
