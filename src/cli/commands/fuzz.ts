import { FEW, MANY } from '../fuzz-defaults.js';
import { NARROWING_OPTIONS } from '../narrowing-options.js';
import type { Command } from '../options/command.js';
import { TARGET_OPTIONS } from '../options/target.js';

/** `pegwire fuzz`: texts made from the grammar; for other implementations, with what they get wrong. */
export const fuzz: Command = {
  name: 'fuzz',
  summary: 'texts made from the grammar, and what another implementation gets wrong of them',
  takesInput: false,
  takesGrammar: true,
  options: {
    ...TARGET_OPTIONS,
    target: {
      type: 'string',
      description: "CMD  a program to test, such as 'python3 adapter.py'; may come several times",
    },
    count: { type: 'string', description: `N  how many texts (default ${FEW}; with a target ${MANY})` },
    seed: { type: 'string', description: 'N  the same seed gives the same texts (default: a new one, which is told)' },
    mutate: {
      type: 'string',
      optional: true,
      description: '[SHARE]  bend this share of the texts, 0 to 1 (default 0, with a target 0.5; without a value 1)',
    },
    corpus: {
      type: 'string',
      description: 'FILE  bend the lines of this file, too; a JSON string stands for its text',
    },
    'max-length': { type: 'string', description: 'N  UTF-16 code units of a text, before it is bent (default 160)' },
    output: { type: 'string', description: 'DIR  where findings are saved (default pegwire-findings)' },
    coverage: {
      type: 'string',
      optional: true,
      description: '[FILE]  what of the grammar was seen: by the lines of FILE, or by the texts of the run',
    },
    html: { type: 'string', description: 'FILE  write the coverage as a page' },
    start: { type: 'string', description: 'RULE  of a grammar file: the rule to start with (default the first)' },
    ...NARROWING_OPTIONS,
  },
  example: "pegwire fuzz aacp --target 'python3 adapter.py'",
  // What it takes is loaded only now: the other commands need none of it.
  run: async (invocation) => (await import('../fuzzing.js')).runFuzz(invocation),
};
