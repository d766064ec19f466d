/** A straightforward printer, which the printers are compared with in addition to `JSON.stringify`. */
import type { Packet } from '../src/aacp/ast.js';
import type { Frame, Param, Value } from '../src/accp/ast.js';

/** Prints with recursion, `map`, `join`, a sort, and a replacement for escapes. Checks nothing. */
export function plainPrintFrame({ agent, intent, operation, payload, metadata }: Frame): string {
  const body = payload.map(param).join('|');
  return `@${agent}>${intent}:${operation}{${body}}${metadata === null ? '' : `[${metadata.map(param).join(',')}]`}`;
}

export function plainPrintPacket({ task, domain, fields }: Packet): string {
  return [task, domain, ...fields.map(({ key, value }) => `${key}:${value}`)].join('|');
}

function param({ key, value }: Param): string {
  return `${key}:${printed(value)}`;
}

function printed(node: Value): string {
  switch (node.kind) {
    case 'string':
      return node.value.replace(/[@>:{}[\]|$,~\\]/g, '\\$&');
    case 'integer':
    case 'boolean':
      return String(node.value);
    case 'decimal': {
      const text = node.value.toFixed(6).replace(/0+$/, '');
      return text.endsWith('.') ? `${text}0` : text;
    }
    case 'null':
      return '~';
    case 'array':
      return `[${node.items.map(printed).join(',')}]`;
    case 'map':
      return `{${node.entries
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .map(param)
        .join(',')}}`;
    case 'ref':
      return `$${node.path}`;
  }
}
