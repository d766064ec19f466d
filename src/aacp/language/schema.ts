/** The tree of a packet in JSON, as a zod schema and as a JSON Schema. Checks the shape only. Public as `pegwire/aacp/schema`. */
import * as z from 'zod';
import type { Packet } from '../ast.js';

const names = z.registry<{ id?: string; title?: string; description?: string }>();

const spanSchema = z
  .strictObject({ start: z.int().min(0), end: z.int().min(0) })
  .register(names, { id: 'span', description: 'A stretch of the source in UTF-16 code units; end is excluded.' });

const span = spanSchema.exactOptional();

const fieldSchema = z
  .strictObject({ key: z.string(), value: z.string(), bare: z.literal(true).exactOptional(), span })
  .register(names, {
    id: 'field',
    description: 'key:value, split at the first colon. bare: a slot without a colon, which is all in value.',
  });

/** The schema of one packet (draft-mackay-aacp-01, section 4). */
export const packetSchema: z.ZodType<Packet, PacketJson> = z
  .strictObject({
    kind: z.literal('packet'),
    task: z.string(),
    domain: z.string(),
    fields: z.array(fieldSchema).readonly(),
    span,
  })
  .register(names, {
    title: 'AACP packet',
    description: 'The tree of one packet of draft-mackay-aacp-01, section 4. Fields are in source order.',
  });

/** The tree of a packet in JSON, which is the tree itself. */
export type PacketJson = Packet;

/** Returns the JSON Schema (draft 2020-12) of the tree of a packet. */
export function packetJsonSchema(): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(packetSchema, {
    io: 'input',
    metadata: names,
    target: 'draft-2020-12',
    // The types are readonly, which does not apply to JSON.
    override: ({ jsonSchema }) => {
      delete jsonSchema.readOnly;
    },
  });
}
