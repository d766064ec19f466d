/** The grammar of the packets that a request allows, for constrained decoding. Node only: it reads the packaged grammar. */

import { aacp as grammarText } from '../../../generated/grammars.js';
import { compileGrammar } from '../../fuzz/grammar/compile.js';
import { exportGrammar } from '../../grammar-export/export-grammar.js';
import { packetOverlay, resolveNarrowing } from '../language/narrowing.js';
import { CORE_KEYS, EXTENDED_KEYS, TASKS } from '../vocabulary.js';
import type { GrammarNotation, ModelRequest } from './model.js';

/** Most grammars that are kept: there are as many as agents that ask. */
const MAX_KEPT = 64;
const kept = new Map<string, string>();

/** Values without characters beyond U+FFFF: whether halves of these stay together, an export can say of short lists only. */
const VALUES = `value = filled_value?
filled_value = value_word (" "+ value_word)*
value_word = [^ |\\x00-\\x1F\\x7F\\uD800-\\uDFFF]+
`;

/**
 * A grammar of packets for one domain, agent and priority, made from `grammar/aacp.peggy`: of the draft's TASK values and keys,
 * each key at most once and in the draft's order. As `regex` it is the bare pattern, which matches whole texts.
 */
export function packetGrammar(
  { domain, returnAgent, priority }: Pick<ModelRequest, 'domain' | 'returnAgent' | 'priority'>,
  notation: GrammarNotation,
): string {
  const key = JSON.stringify([notation, domain, returnAgent, priority]);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const others = [...CORE_KEYS, ...EXTENDED_KEYS].filter((name) => !['return', 'p', 'aacp'].includes(name));
  const narrowing = resolveNarrowing({
    tasks: Object.keys(TASKS),
    domains: [domain],
    fields: {
      return: { enum: [returnAgent] },
      p: { enum: [priority] },
      ...Object.fromEntries(others.map((name) => [name, { optional: true }])),
    },
  });
  const grammar = compileGrammar(grammarText, {
    name: 'aacp',
    startRule: 'packet',
    parseOptions: { dialect: 'strict' },
    gates: { tolerant: false },
    overlay: packetOverlay(narrowing, VALUES),
  });
  const text = exportGrammar(grammar, { to: notation });
  const told = notation === 'regex' ? barePattern(text) : text;
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(key, told);
  return told;
}

/** The pattern alone, of a regular expression in JavaScript's notation below comments. */
function barePattern(text: string): string {
  const [, pattern] = /^\/\^(.*)\$\/u?$/m.exec(text)!;
  return pattern!;
}

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
