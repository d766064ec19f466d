import type { Command, CommandGroup } from '../options/command.js';

const run: Command = {
  name: 'run',
  summary: 'an agent, with batches, and with nothing but messages on its streams',
  takesInput: false,
  words: '-- CMD [ARG...]',
  options: {
    batches: {
      type: 'string',
      description:
        'NAME  split (default): the agent gets the messages of a batch one by one, and its answers are collected; pass: it ' +
        'gets batches as they are',
    },
    log: { type: 'string', description: 'FILE  add all messages of both sides to it, as JSON lines' },
    grace: { type: 'string', description: 'SECONDS  for the agent to end by itself once its input has ended (10)' },
  },
  details: [
    'Starts CMD, and stands between it and whoever started pegwire: messages are passed on as they are, what is no message is ' +
      'not. The client is answered as JSON-RPC says; what the agent prints is told on stderr, and so is its log.',
    'SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the agent with all that it has started. What the client has not read by then is waited ' +
      'for as long as the grace says, and after a signal for a second.',
  ],
  exitCodes:
    "The exit code is the agent's; 128 and the number of the signal where one ended it; 2 where it cannot be started, or the usage is " +
    'wrong; 70 for a defect of pegwire.',
  example: 'pegwire acp run --log messages.jsonl -- my-agent --acp',
  isService: true,
  run: async (invocation) => {
    // Loaded only now: the other commands need none of it.
    const { runAgent } = await import('./acp/run.js');
    return runAgent(invocation);
  },
};

/** `pegwire acp`: the Agent Client Protocol. */
export const acp: CommandGroup = {
  name: 'acp',
  summary: 'agents of the Agent Client Protocol: one under a transport with batches',
  commands: [run],
};
