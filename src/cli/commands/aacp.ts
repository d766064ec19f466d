import type { Command, CommandGroup } from '../options/command.js';
import { RULES_OPTIONS } from './encode/options.js';

// What they work with is loaded only when it is needed: the other commands need none of it.

const workflows: Command = {
  name: 'workflows',
  summary: 'what the encoders offer: workflows, their steps, inputs and packets',
  takesInput: false,
  words: '[NAME|NAME.STEP]',
  options: {},
  example: 'pegwire aacp workflows payroll.fetch_employees',
  run: async (invocation) => (await import('./aacp/workflows.js')).showWorkflows(invocation),
};

const registry: Command = {
  name: 'registry',
  summary: 'what the registry of encoded instructions holds',
  takesInput: false,
  words: '[ACTION] [KEY|FILE]',
  options: {
    registry: {
      type: 'string',
      description: "FILE  of the registry; by default registry.db in the user's data folder",
    },
    domain: { type: 'string', description: 'DOM  list, pending: only entries of this domain' },
    'older-than': { type: 'string', description: 'DAYS  purge: drop the packets that were made before' },
  },
  details: [
    'Actions: stats counts (the default); list shows all entries, pending those that no rule covers, most asked for ' +
      'first; show KEY tells all of one, remove KEY drops it; import FILE takes an unknown_patterns.json of the ' +
      'reference SDK, export writes one; purge drops what is older than it should be.',
    'KEY is the beginning of a key, or the id of the instruction.',
  ],
  example: 'pegwire aacp registry pending --domain HR',
  run: async (invocation) => (await import('./aacp/registry.js')).runRegistry(invocation),
};

const rules: Command = {
  name: 'rules',
  summary: 'rules for instructions: check a file of them, search them, list them',
  takesInput: false,
  words: '<check [FILE]|find WORDS|list>',
  options: {
    ...RULES_OPTIONS,
    domain: { type: 'string', description: 'DOM  find, list: only rules of this domain' },
    task: { type: 'string', description: 'TASK  find, list: only rules of this task' },
    limit: { type: 'string', description: 'N  find: the most rules (default 10)' },
  },
  details:
    'check, without a FILE, checks the rules that come with pegwire. Its exit code is 1 when a rule has an error.',
  example: 'pegwire aacp rules find three-way match of an invoice',
  run: async (invocation) => (await import('./aacp/rules.js')).runRules(invocation),
};

const audit: Command = {
  name: 'audit',
  summary: 'whether an audit log of dispatched packets is as it was written',
  takesInput: false,
  words: 'verify <FILE>',
  options: {
    head: { type: 'string', description: 'HASH  of an earlier time: the record that has to be there still' },
  },
  details:
    'The exit code is 1 when the log is not intact. A last line that is not whole, as after a crash, is told apart: it was ' +
    'never acknowledged. A log that was cut off, or written anew, only --head can tell.',
  example: 'pegwire aacp audit verify audit.jsonl',
  run: async (invocation) => (await import('./aacp/audit.js')).runAudit(invocation),
};

/** `pegwire aacp`: what stands behind packets: workflows, the registry, rules, audit logs. */
export const aacp: CommandGroup = {
  name: 'aacp',
  summary: 'behind the packets: workflow encoders, the registry, rules, audit logs',
  commands: [workflows, registry, rules, audit],
};
