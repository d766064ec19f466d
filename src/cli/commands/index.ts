/** All commands, in the order of the help page. Each is loaded when it is called. */
import type { CommandEntry, CommandGroup } from '../options/command.js';

const aacp: CommandGroup = {
  name: 'aacp',
  summary: 'Manage AACP workflows, the registry, rules and audit logs',
  commands: [
    {
      name: 'workflows',
      summary: 'List the workflow encoders, their steps and inputs',
      load: () => import('./aacp/workflows.js'),
    },
    {
      name: 'registry',
      summary: 'List, import, export and remove encoded instructions',
      load: () => import('./aacp/registry.js'),
    },
    {
      name: 'rules',
      summary: 'Check, search and list the rules that encode instructions',
      load: () => import('./aacp/rules.js'),
    },
    {
      name: 'audit',
      summary: 'Verify an audit log of dispatched packets',
      load: () => import('./aacp/audit.js'),
    },
  ],
};

const acp: CommandGroup = {
  name: 'acp',
  summary: 'Run agents of the Agent Client Protocol',
  commands: [
    {
      name: 'run',
      summary: 'Run an agent behind a transport with JSON-RPC batches, on stdio or on a port',
      isService: true,
      load: () => import('./acp/run.js'),
    },
  ],
};

const arcp: CommandGroup = {
  name: 'arcp',
  summary: 'Serve, call and inspect ARCP runtimes',
  commands: [
    {
      name: 'serve',
      summary: 'Start a runtime with demo tools, or with the tools of a module',
      isService: true,
      load: () => import('./arcp/serve.js'),
    },
    {
      name: 'invoke',
      summary: 'Call a tool, an agent or a workflow, and show its progress',
      load: () => import('./arcp/invoke.js'),
    },
    {
      name: 'tail',
      summary: 'Follow the messages of a job, or of a runtime database',
      load: () => import('./arcp/tail.js'),
    },
    {
      name: 'status',
      summary: 'Show the runtimes, queues and jobs of a runtime database',
      load: () => import('./arcp/status.js'),
    },
    {
      name: 'replay',
      summary: 'Show a recorded conversation, or repeat it with a runtime and compare',
      load: () => import('./arcp/replay.js'),
    },
    {
      name: 'graph',
      summary: 'Draw the jobs and calls of a log as a tree',
      load: () => import('./arcp/graph.js'),
    },
    {
      name: 'validate',
      summary: 'Validate the messages of a log and their order',
      load: () => import('./arcp/validate.js'),
    },
    {
      name: 'schema',
      summary: 'Print the JSON Schema of one message type, or of all',
      load: () => import('./arcp/schema.js'),
    },
    {
      name: 'conformance',
      summary: 'Test any runtime for conformance with the protocol',
      load: () => import('./arcp/conformance.js'),
    },
  ],
};

const registry: CommandGroup = {
  name: 'registry',
  summary: 'Make registries of message types, for compact frames',
  commands: [
    {
      name: 'learn',
      summary: 'Learn a registry from a sample of messages, and measure the tokens that it saves',
      load: () => import('./registry/learn.js'),
    },
  ],
};

export const COMMANDS: readonly (CommandEntry | CommandGroup)[] = [
  { name: 'parse', summary: 'Print the syntax tree of each message as JSON', load: () => import('./parse.js') },
  { name: 'fmt', summary: 'Print each message in canonical form', load: () => import('./fmt.js') },
  { name: 'check', summary: 'Report the errors and warnings of each message', load: () => import('./check.js') },
  { name: 'explain', summary: 'Explain each message in plain English', load: () => import('./explain.js') },
  {
    name: 'find',
    summary: 'Find the messages in any text: prose, Markdown, JSON or logs',
    load: () => import('./find.js'),
  },
  {
    name: 'encode',
    summary: 'Encode JSON as frames; workflow steps and English as packets',
    load: () => import('./encode/encode.js'),
  },
  { name: 'decode', summary: 'Decode frames to JSON messages', load: () => import('./decode.js') },
  {
    name: 'fuzz',
    summary: 'Generate test inputs from a grammar, and compare other implementations',
    load: () => import('./fuzz.js'),
  },
  {
    name: 'conformance',
    summary: 'Run the conformance cases against another implementation',
    load: () => import('./conformance/conformance.js'),
  },
  {
    name: 'export',
    summary: 'Convert a grammar to GBNF, Lark, ABNF and other formats',
    load: () => import('./export.js'),
  },
  {
    name: 'prompt',
    summary: 'Print the shortest prompt that makes a model write a language',
    load: () => import('./prompt.js'),
  },
  {
    name: 'render',
    summary: 'Render frames, messages and JSON as short text for a model',
    load: () => import('./render.js'),
  },
  {
    name: 'diff',
    summary: 'Find breaking changes between two registries or grammars',
    load: () => import('./diff.js'),
  },
  {
    name: 'tokens',
    summary: 'Count the tokens of messages, and of the same content in other formats',
    load: () => import('./tokens.js'),
  },
  registry,
  aacp,
  {
    name: 'serve',
    summary: 'Start an HTTP and WebSocket endpoint for frames, with demo agents',
    isService: true,
    load: () => import('./serve.js'),
  },
  {
    name: 'connect',
    summary: 'Send frames, messages and text to an endpoint, and print the answers',
    isService: true,
    load: () => import('./connect/connect.js'),
  },
  acp,
  arcp,
  {
    name: 'inspect',
    summary: 'Show the messages of a log, a database, an address or a proxy in a web page',
    isService: true,
    load: () => import('./inspect.js'),
  },
  {
    name: 'playground',
    summary: 'Serve a page on this machine that reads messages and grammars as you type',
    isService: true,
    load: () => import('./playground.js'),
  },
  {
    name: 'bench',
    summary: 'Measure how fast messages are parsed and printed on this machine',
    load: () => import('./bench.js'),
  },
  {
    name: 'lsp',
    summary: 'Start the language server for editors',
    isService: true,
    load: () => import('./lsp.js'),
  },
  {
    name: 'completion',
    summary: 'Print a script that completes command lines in bash, zsh or fish',
    load: () => import('./completion.js'),
  },
];
