/** The grammar of the packets that a request allows, for constrained decoding. Node only: reads the packaged grammar. */

import { aacp as grammarText } from '../../../generated/grammars.js';
import { compileGrammar } from '../../fuzz/grammar/compile.js';
import { exportGrammar } from '../../grammar-export/export-grammar.js';
import { packetOverlay, resolveNarrowing } from '../language/narrowing.js';
import { CORE_KEYS, EXTENDED_KEYS, TASKS } from '../vocabulary.js';
import type { GrammarNotation, ModelRequest } from './model.js';

/** Most cached grammars: callers choose the agents. */
const MAX_KEPT = 64;
const kept = new Map<string, string>();

/** Without characters beyond U+FFFF: exports cannot keep surrogate pairs together except in short lists. */
const VALUES = `value = filled_value?
filled_value = value_word (" "+ value_word)*
value_word = [^ |\\x00-\\x1F\\x7F\\uD800-\\uDFFF]+
`;

/**
 * Makes a grammar of packets for one domain, agent and priority: TASK values and keys of the draft, each key at most
 * once, in order. As `regex`, the bare pattern of a whole text.
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
    overrides: packetOverlay(narrowing, VALUES),
  });
  const text = exportGrammar(grammar, { to: notation });
  // A regular expression in JavaScript's notation stands below comments.
  const written = notation === 'regex' ? /^\/\^(.*)\$\/u?$/m.exec(text)![1]! : text;
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(key, written);
  return written;
}

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

export const JSON_REPLY = `Unlike said above, the reply is JSON: {"${PACKET}": "..."}, where ... stands for the packet.`;
export const TOOL_REPLY = `Unlike said above, the reply is a call of the tool ${PACKET} with the packet.`;
