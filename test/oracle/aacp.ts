/**
 * Reads AACP packets with the Ohm grammar: the oracle that the production parser is compared with. It shares no code
 * with that parser, only the types of the tree.
 */
import { readFileSync } from 'node:fs';
import { type Node, grammars as readGrammars, type Semantics } from 'ohm-js';
import type { Field, Packet } from '../../src/aacp/ast.js';

const grammars = readGrammars(readFileSync(new URL('../../grammar/aacp.ohm', import.meta.url), 'utf8'));

const strict = grammars['Aacp']!.createSemantics();

/** The text of a token, without its surroundings. A missing optional token reads as empty. */
strict.addOperation<string>('text', {
  _nonterminal(..._parts) {
    return this.sourceString;
  },
  _iter: (...children) => children.map(textOf).join(''),
});

strict.addOperation<unknown>('ast', {
  packet: (task, _bar, dom, _bars, fields): Packet => ({
    kind: 'packet',
    task: textOf(task),
    domain: textOf(dom),
    fields: fields.children.map(ast<Field>),
  }),
  field: (key, _colon, value): Field => ({ key: textOf(key), value: textOf(value) }),
});

const tolerant = grammars['AacpTolerant']!.extendSemantics(strict);
tolerant.extendOperation<string>('text', {
  padded: (_before, token, _after) => token.sourceString,
});
tolerant.extendOperation<unknown>('ast', {
  bare: (slot): Field => ({ key: '', value: textOf(slot), bare: true }),
});

const dialects: Record<'strict' | 'tolerant', Semantics> = { strict, tolerant };

/** Returns the tree of a packet, without spans; null if the dialect rejects the text. The tolerant one never does. */
export function parseWithOhm(text: string, dialect: 'strict' | 'tolerant'): Packet | null {
  const match = grammars[dialect === 'strict' ? 'Aacp' : 'AacpTolerant']!.match(text);
  return match.failed() ? null : ast<Packet>(dialects[dialect](match) as Node);
}

function ast<T>(node: Node): T {
  return node['ast']() as T;
}

function textOf(node: Node): string {
  return node['text']() as string;
}
