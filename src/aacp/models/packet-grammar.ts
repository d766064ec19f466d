/** The grammar of the packets that a request allows, for constrained decoding. Node only: reads the packaged grammar. */

import { aacp as grammarText } from '../../../generated/grammars.js';
import { compileGrammar } from '../../fuzz/grammar/compile.js';
import { exportGrammar } from '../../grammar-export/export-grammar.js';
import { packetOverrides, resolveNarrowing } from '../language/narrowing.js';
import { CORE_KEYS, EXTENDED_KEYS, TASKS } from '../vocabulary.js';
import type { GrammarNotation, ModelRequest } from './model.js';

/** The maximum number of cached grammars, since callers choose the agents. */
const MAX_CACHED = 64;
const cache = new Map<string, string>();

/** Excludes characters above U+FFFF: exports cannot keep surrogate pairs together, except in short lists. */
const VALUES = `value = filled_value?
filled_value = value_word (" "+ value_word)*
value_word = [^ |\\x00-\\x1F\\x7F\\uD800-\\uDFFF]+
`;

/**
 * Makes the grammar of packets for one domain, agent and priority: TASK values and keys of the draft, each key at most once, in order. As
 * `regex`, returns the pattern of a whole text, without delimiters.
 */
export function packetGrammar(
  { domain, returnAgent, priority }: Pick<ModelRequest, 'domain' | 'returnAgent' | 'priority'>,
  notation: GrammarNotation,
): string {
  const key = JSON.stringify([notation, domain, returnAgent, priority]);
  const known = cache.get(key);
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
    overrides: packetOverrides(narrowing, VALUES),
  });
  const text = exportGrammar(grammar, { to: notation });
  // An exported regular expression is in JavaScript's notation, below comments.
  const written = notation === 'regex' ? /^\/\^(.*)\$\/u?$/m.exec(text)![1]! : text;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, written);
  return written;
}

export const PACKET = 'packet';

/** Returns the JSON Schema of `{ packet: "..." }`. With a pattern, which is a regular expression for whole texts, the packet must match it. */
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

export const JSON_REPLY = `Contrary to the above, the reply is JSON: {"${PACKET}": "..."}, where ... stands for the packet.`;
export const TOOL_REPLY = `Contrary to the above, the reply is a call of the tool ${PACKET} with the packet.`;
