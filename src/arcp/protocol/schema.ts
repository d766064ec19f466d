/** Schemas of whole messages, as zod schemas and as JSON Schemas (spec 003, "Schema-First"). */
import * as z from 'zod/mini';
import { CATALOGUE, MESSAGE_TYPES, type MessageType } from './catalogue.js';
import { envelopeFields } from './envelope.js';
import { names } from './errors.js';
import { id } from './payloads/parts.js';

function schemaOf(type: MessageType) {
  const { payload, requires } = CATALOGUE[type];
  const required = requires === undefined ? {} : { [requires]: id };
  return z
    .looseObject({ ...envelopeFields, ...required, type: z.literal(type), payload })
    .register(names, { id: type });
}

let schemas: Readonly<Record<MessageType, ReturnType<typeof schemaOf>>> | undefined;

function all(): NonNullable<typeof schemas> {
  schemas ??= Object.fromEntries(MESSAGE_TYPES.map((type) => [type, schemaOf(type)])) as NonNullable<typeof schemas>;
  return schemas;
}

/** Returns the zod schema of a message type, including the envelope. `parseEnvelope` is faster. @throws TypeError if the type is unknown */
export function messageSchema(type: MessageType): z.ZodMiniType {
  if (!Object.hasOwn(CATALOGUE, type)) throw new TypeError(`The message type ${JSON.stringify(type)} is unknown`);
  return all()[type];
}

/** Returns the JSON Schema (draft 2020-12) of one message type, or of all. @throws TypeError if the type is unknown */
export function messageJsonSchema(type?: MessageType): z.core.JSONSchema.JSONSchema {
  const [first, ...rest] = Object.values(all());
  const schema = type === undefined ? z.discriminatedUnion('type', [first!, ...rest]) : messageSchema(type);
  return z.toJSONSchema(schema, { io: 'input', metadata: names, target: 'draft-2020-12' });
}
