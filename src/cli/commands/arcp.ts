import type { Command, CommandGroup, Options } from '../options/command.js';

const TOKEN: Options = {
  token: {
    type: 'string',
    description: 'TEXT  what the runtime wants to be shown; better as PEGWIRE_TOKEN in the environment',
  },
};

const TARGETS =
  'A runtime is ws://HOST:PORT/PATH, unix:PATH, tcp://HOST:PORT or fifo:NAME; or it is a program, behind --, that speaks on its ' +
  'standard streams.';

const serve: Command = {
  name: 'serve',
  summary: 'a runtime, with tools to try it with or with those of a module',
  takesInput: false,
  options: {
    ws: { type: 'string', optional: true, description: 'PORT  by WebSocket (7777); 0 for one that is free' },
    socket: { type: 'string', description: 'PATH  by a Unix-domain socket, which only its owner reaches' },
    fifo: { type: 'string', description: 'NAME  by two named pipes, NAME.in and NAME.out' },
    stdio: { type: 'boolean', description: 'on the standard streams, for whoever starts it' },
    db: { type: 'string', description: 'FILE  where jobs, messages and sessions are kept; without it, in memory' },
    module: {
      type: 'string',
      description: 'FILE  a module whose default export is given the runtime, to add tools to it',
    },
    host: { type: 'string', description: 'HOST  name or address (127.0.0.1); others than this machine need --token' },
    origin: { type: 'string', description: 'ORIGIN  a web page that may connect; may be given more than once' },
    token: {
      type: 'string',
      description: 'TEXT  what who connects by WebSocket has to show; better as PEGWIRE_TOKEN in the environment',
    },
    insecure: { type: 'boolean', description: 'listen without --token where others than this machine reach it' },
    trust: { type: 'string', description: 'LEVEL  of clients: untrusted, constrained (default), trusted, privileged' },
    lease: {
      type: 'string',
      description: 'SECONDS  after which what a runtime was at that has died is begun again (15)',
    },
    grace: { type: 'string', description: 'SECONDS  for work to end once the runtime does (10)' },
  },
  details: [
    'Without --ws, --socket, --fifo and --stdio, it is --ws. Its addresses go to stdout (with --stdio, to stderr). SIGINT and ' +
      'SIGTERM end it: nothing new is begun, and what has not ended in time goes on after the next start, where there is a --db. A ' +
      'second one ends it at once.',
    'Its tools are echo, add, count (a job with progress, a stream and checkpoints) and refund (a job that asks for a permission), the ' +
      'agent writer and the workflow tour; with --module, there are those of the module alone.',
  ],
  example: 'pegwire arcp serve --ws 7777 --db arcp.db',
  isService: true,
  run: async (invocation) => {
    // Loaded only now: the other commands need none of it.
    const { runServe } = await import('./arcp/serve.js');
    return runServe(invocation);
  },
};

const invoke: Command = {
  name: 'invoke',
  summary: 'a tool, an agent or a workflow of a runtime, and what it says meanwhile',
  takesInput: false,
  words: 'TARGET NAME [JSON] | NAME [JSON] -- CMD [ARG...]',
  options: {
    agent: {
      type: 'boolean',
      description: 'NAME is an agent; its task stands in the place of the JSON, or is "task" in it',
    },
    workflow: { type: 'boolean', description: 'NAME is a workflow' },
    mode: { type: 'string', description: 'MODE  of a tool: auto (default), direct, job' },
    key: { type: 'string', description: 'TEXT  the operation: of several calls with one key, one is carried out' },
    timeout: { type: 'string', description: 'SECONDS  that the work may take' },
    yes: { type: 'boolean', description: 'grant all permissions that are asked for' },
    no: { type: 'boolean', description: 'deny them; without either, somebody at the terminal is asked' },
    log: { type: 'string', description: 'FILE  where what both sides say is written, for replay, graph and validate' },
    quiet: { type: 'boolean', description: 'only the result' },
    ...TOKEN,
  },
  details: [
    TARGETS,
    'The result goes to stdout as JSON, what is said meanwhile to stderr; with --json, all messages go to stdout, one a line. The exit ' +
      'code is 1 where it failed or was cancelled. Ctrl-C cancels the work, and once more ends the command.',
  ],
  example: [
    'pegwire arcp invoke ws://127.0.0.1:7777/arcp add \'{"a":2,"b":3}\'',
    'pegwire arcp invoke count -- my-runtime --stdio',
  ],
  run: async (invocation) => {
    const { runInvoke } = await import('./arcp/invoke.js');
    return runInvoke(invocation);
  },
};

const tail: Command = {
  name: 'tail',
  summary: 'what is said of a job, or all that a file of a runtime holds, as it comes',
  takesInput: false,
  words: 'FILE | TARGET JOB | JOB -- CMD [ARG...]',
  options: {
    job: { type: 'string', description: 'ID  of a file: only what is said of this job' },
    session: { type: 'string', description: 'ID  of a file: only what is said in this session' },
    trace: { type: 'string', description: 'ID  of a file: only what belongs to this trace' },
    follow: { type: 'boolean', short: 'f', description: 'of a file: wait for more, until Ctrl-C' },
    ...TOKEN,
  },
  details: [
    `FILE is what pegwire arcp serve --db keeps; a runtime may be at work on it. ${TARGETS}`,
    'Of a job, it ends with the job. With --json, messages are shown as they are, one a line.',
  ],
  example: ['pegwire arcp tail arcp.db --follow', 'pegwire arcp tail ws://127.0.0.1:7777/arcp job_01JABC'],
  run: async (invocation) => {
    const { runTail } = await import('./arcp/tail.js');
    return runTail(invocation);
  },
};

const replay: Command = {
  name: 'replay',
  summary: 'a conversation that was written down: told once more, or held with a runtime once more',
  takesInput: false,
  words: 'FILE [TARGET] | FILE -- CMD [ARG...]',
  options: {
    speed: {
      type: 'string',
      description: 'FACTOR  without a runtime: how much faster than it was (1); 0 for all at once',
    },
    timeout: { type: 'string', description: 'SECONDS  with a runtime: to wait for each message (5)' },
    ...TOKEN,
  },
  details: [
    `FILE is messages, one a line, in the order in which both sides have sent them. ${TARGETS}`,
    'With a runtime, what the client has said is said again, permissions granted and denied as they were, and what the runtime says is ' +
      'compared: everything but names and times. The exit code is 1 where something is otherwise, missing or new. Without one, the ' +
      'messages are told at their pace, of which no pause is longer than two seconds. What has an operation key is carried out once by a ' +
      'runtime, however often it is said.',
  ],
  example: ['pegwire arcp replay log.jsonl --speed 10', 'pegwire arcp replay log.jsonl ws://127.0.0.1:7777/arcp'],
  run: async (invocation) => {
    const { runReplay } = await import('./arcp/replay.js');
    return runReplay(invocation);
  },
};

const graph: Command = {
  name: 'graph',
  summary: 'who has begun what, from the messages of a log',
  takesInput: true,
  takesProtocol: false,
  options: {
    as: { type: 'string', description: 'NAME  text (default), svg, mermaid' },
    trace: { type: 'string', description: 'ID  only what belongs to this trace' },
  },
  details: 'The input is messages, one a line, in any order; or a file that pegwire arcp serve --db keeps.',
  example: ['pegwire arcp graph arcp.db', 'pegwire arcp graph log.jsonl --as svg > log.svg'],
  run: async (invocation) => {
    const { runGraph } = await import('./arcp/graph.js');
    return runGraph(invocation);
  },
};

const validate: Command = {
  name: 'validate',
  summary: 'whether messages, and the order in which they were said, are as they must be',
  takesInput: true,
  takesProtocol: false,
  options: {
    'each-alone': { type: 'boolean', description: 'look at each message by itself; their order says nothing' },
    complete: { type: 'boolean', description: 'all is over: jobs and streams have ended, commands were answered' },
  },
  details:
    'The input is messages, one a line, in the order in which both sides have sent them; or a file that pegwire arcp serve --db keeps.',
  example: 'pegwire arcp validate --complete log.jsonl',
  run: async (invocation) => {
    const { runValidate } = await import('./arcp/validate.js');
    return runValidate(invocation);
  },
};

const schema: Command = {
  name: 'schema',
  summary: 'the JSON Schema of all messages, or of those of one type',
  takesInput: false,
  words: '[TYPE]',
  options: {},
  example: 'pegwire arcp schema tool.invoke',
  run: async (invocation) => {
    const { runSchema } = await import('./arcp/schema.js');
    return runSchema(invocation);
  },
};

const conformance: Command = {
  name: 'conformance',
  summary: 'whether a runtime, anybody’s, is as the protocol says',
  takesInput: false,
  words: 'TARGET | -- CMD [ARG...]',
  options: {
    tool: { type: 'string', description: 'NAME [JSON]  a tool that ends at once, which is called several times' },
    job: {
      type: 'string',
      description: 'NAME [JSON]  one that becomes a job and goes on for a second or more; it is cancelled',
    },
    'other-token': { type: 'string', description: 'TEXT  of somebody else, who must not get at what is not theirs' },
    timeout: { type: 'string', description: 'SECONDS  to wait for an answer (5)' },
    ...TOKEN,
  },
  details: [
    `${TARGETS} Nothing is called but what --tool and --job name; without them, what needs one is skipped.`,
    'Each line is a check with the numbers of its requirements, which conformance/requirements/arcp.json lists; where one has failed, what ' +
      'was said follows. The exit code is 1 where the runtime is not as it must be; "warned" is what should be otherwise.',
  ],
  example: [
    'pegwire arcp conformance ws://127.0.0.1:7777/arcp --tool echo --job \'count {"to":1000}\'',
    'pegwire arcp conformance --tool echo -- my-runtime --stdio',
  ],
  run: async (invocation) => {
    const { runConformance } = await import('./arcp/conformance.js');
    return runConformance(invocation);
  },
};

/** `pegwire arcp`: the runtime protocol. */
export const arcp: CommandGroup = {
  name: 'arcp',
  summary: 'runtimes for agents: serve one, call it, and look at what was said',
  commands: [serve, invoke, tail, replay, graph, validate, schema, conformance],
};
