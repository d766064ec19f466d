import { EXPORT_FORMATS } from '../export-formats.js';
import { NARROWING_OPTIONS } from '../narrowing-options.js';
import type { Command } from '../options/command.js';

/** `pegwire export`: the grammar for other engines. */
export const exportCommand: Command = {
  name: 'export',
  summary: 'the grammar for another engine, with what that cannot say in a comment',
  takesInput: false,
  takesGrammar: true,
  options: {
    to: { type: 'string', description: `FORMAT  ${EXPORT_FORMATS.join(', ')}` },
    output: { type: 'string', description: 'FILE  write it there, and not to stdout' },
    start: { type: 'string', description: 'RULE  of a grammar file: the rule to start with (default the first)' },
    ...NARROWING_OPTIONS,
  },
  example: 'pegwire export accp --to gbnf --intents req,done --max-depth 2',
  // What it takes is loaded only now: the other commands need none of it.
  run: async (invocation) => (await import('../exporting.js')).runExport(invocation),
};
