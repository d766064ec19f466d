/** A packet within JSON, for providers that constrain what is written to a JSON Schema. */

/** What the tool, the schema and the member are called. */
export const PACKET = 'packet';

/** `{ packet: "..." }` and nothing else; with a pattern, of such packets only. It is a regular expression for whole texts. */
export function packetSchema(pattern: string | null): Record<string, unknown> {
  return {
    type: 'object',
    properties: {
      [PACKET]: {
        type: 'string',
        description: 'One AACP packet, on one line.',
        ...(pattern === null ? {} : { pattern: `^(?:${pattern})$` }),
      },
    },
    required: [PACKET],
    additionalProperties: false,
  };
}

/** What the system message says beside how a packet is written. */
export const JSON_REPLY = `Unlike said above, the reply is JSON: {"${PACKET}": "..."}, where ... stands for the packet.`;
export const TOOL_REPLY = `Unlike said above, the reply is a call of the tool ${PACKET} with the packet.`;
