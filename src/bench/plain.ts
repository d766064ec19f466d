/** Converts messages to plain JSON with the same keys. */

import type { Packet } from '../aacp/ast.js';
import type { Frame, Param, Value } from '../accp/ast.js';

type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** References become strings, and numbers JavaScript numbers: integers beyond 2^53 lose digits, which saves JSON that work. */
export function plainFrame({ agent, intent, operation, payload, metadata }: Frame): Plain {
  const message = { agent, intent, operation, payload: plainParams(payload) };
  return metadata === null ? message : { ...message, metadata: plainParams(metadata) };
}

export function plainPacket({ task, domain, fields }: Packet): Plain {
  return { task, domain, fields: Object.fromEntries(fields.map(({ key, value }) => [key, value])) };
}

function plainParams(params: readonly Param[]): Plain {
  return Object.fromEntries(params.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(node: Value): Plain {
  switch (node.kind) {
    case 'integer':
      return Number(node.value);
    case 'string':
    case 'decimal':
    case 'boolean':
      return node.value;
    case 'null':
      return null;
    case 'array':
      return node.items.map(plainValue);
    case 'map':
      return plainParams(node.entries);
    case 'ref':
      return `$${node.path}`;
  }
}
