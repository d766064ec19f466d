/** All commands, in the order of the help page. Each is loaded when it is called. */
import type { CommandEntry, CommandGroup } from '../options/command.js';

const aacp: CommandGroup = {
  name: 'aacp',
  summary: 'behind the packets: workflow encoders, the registry, rules, audit logs',
  commands: [
    {
      name: 'workflows',
      summary: 'what the encoders offer: workflows, their steps, inputs and packets',
      load: () => import('./aacp/workflows.js'),
    },
    {
      name: 'registry',
      summary: 'what the registry of encoded instructions holds',
      load: () => import('./aacp/registry.js'),
    },
    {
      name: 'rules',
      summary: 'rules for instructions: check a file of them, search them, list them',
      load: () => import('./aacp/rules.js'),
    },
    {
      name: 'audit',
      summary: 'whether an audit log of dispatched packets is as it was written',
      load: () => import('./aacp/audit.js'),
    },
  ],
};

const acp: CommandGroup = {
  name: 'acp',
  summary: 'agents of the Agent Client Protocol: one under a transport with batches',
  commands: [
    {
      name: 'run',
      summary: 'an agent, with batches, and with nothing but messages on its streams',
      isService: true,
      load: () => import('./acp/run.js'),
    },
  ],
};

const arcp: CommandGroup = {
  name: 'arcp',
  summary: 'runtimes for agents: serve one, call it, and look at what was said',
  commands: [
    {
      name: 'serve',
      summary: 'a runtime, with tools to try it with or with those of a module',
      isService: true,
      load: () => import('./arcp/serve.js'),
    },
    {
      name: 'invoke',
      summary: 'a tool, an agent or a workflow of a runtime, and what it says meanwhile',
      load: () => import('./arcp/invoke.js'),
    },
    {
      name: 'tail',
      summary: 'what is said of a job, or all that a file of a runtime holds, as it comes',
      load: () => import('./arcp/tail.js'),
    },
    {
      name: 'replay',
      summary: 'a conversation that was written down: told once more, or held with a runtime once more',
      load: () => import('./arcp/replay.js'),
    },
    {
      name: 'graph',
      summary: 'who has begun what, from the messages of a log',
      load: () => import('./arcp/graph.js'),
    },
    {
      name: 'validate',
      summary: 'whether messages, and the order in which they were said, are as they must be',
      load: () => import('./arcp/validate.js'),
    },
    {
      name: 'schema',
      summary: 'the JSON Schema of all messages, or of those of one type',
      load: () => import('./arcp/schema.js'),
    },
    {
      name: 'conformance',
      summary: 'whether a runtime, anybody’s, is as the protocol says',
      load: () => import('./arcp/conformance.js'),
    },
  ],
};

export const COMMANDS: readonly (CommandEntry | CommandGroup)[] = [
  { name: 'parse', summary: 'messages, one a line, to syntax trees as JSON', load: () => import('./parse.js') },
  { name: 'fmt', summary: 'messages, one a line, in canonical form', load: () => import('./fmt.js') },
  {
    name: 'check',
    summary: 'errors and warnings of messages, one a line, with the place of each',
    load: () => import('./check.js'),
  },
  { name: 'explain', summary: 'messages, one a line, in plain English', load: () => import('./explain.js') },
  {
    name: 'find',
    summary: 'the messages inside any text (prose, Markdown, JSON, logs), with their offsets',
    load: () => import('./find.js'),
  },
  {
    name: 'encode',
    summary: 'messages as JSON to frames, through a session; workflow steps and English to packets',
    load: () => import('./encode/encode.js'),
  },
  {
    name: 'decode',
    summary: 'frames, one a line, to messages as JSON, through a session',
    load: () => import('./decode.js'),
  },
  {
    name: 'fuzz',
    summary: 'texts made from the grammar, and what another implementation gets wrong of them',
    load: () => import('./fuzz.js'),
  },
  {
    name: 'conformance',
    summary: 'the conformance cases against another implementation, a verdict a case',
    load: () => import('./conformance/conformance.js'),
  },
  {
    name: 'export',
    summary: 'the grammar for another engine, with what that cannot say in a comment',
    load: () => import('./export.js'),
  },
  {
    name: 'prompt',
    summary: 'the shortest instruction that makes a model write the language, or a part of it',
    load: () => import('./prompt.js'),
  },
  {
    name: 'tokens',
    summary: 'how many tokens frames, packets, JSON and English are, and the same as JSON and TOON',
    load: () => import('./tokens.js'),
  },
  aacp,
  {
    name: 'serve',
    summary: 'an endpoint for frames over HTTP and WebSocket, with agents to try it with',
    isService: true,
    load: () => import('./serve.js'),
  },
  {
    name: 'connect',
    summary: 'frames, messages and texts to an endpoint, and what it answers',
    isService: true,
    load: () => import('./connect/connect.js'),
  },
  acp,
  arcp,
  {
    name: 'bench',
    summary: 'how fast messages are read and printed here, against JSON and what else is installed',
    load: () => import('./bench.js'),
  },
];
