import type { Command } from '../../options/command.js';

/** `pegwire connect`: the other side of an endpoint. */
export const connect: Command = {
  name: 'connect',
  summary: 'frames, messages and texts to an endpoint, and what it answers',
  takesInput: false,
  words: 'URL [file|-]',
  options: {
    as: { type: 'string', description: 'NAME  who speaks (cli)' },
    token: {
      type: 'string',
      description: 'TEXT  what the endpoint wants to be shown; better as PEGWIRE_TOKEN in the environment',
    },
    timeout: { type: 'string', description: 'SECONDS  without a frame, after which answers are given up (30)' },
    explain: { type: 'boolean', description: 'tell in plain English what comes' },
    all: { type: 'boolean', description: 'show what keeps the session going, too: registries, pings' },
    raw: { type: 'boolean', description: 'send lines as they are: no session, no numbers, no registry' },
  },
  details: [
    'A line that begins with @ is a frame, one that begins with { or " a message as JSON, as pegwire encode accp reads it; any other is ' +
      'what somebody says in a chat. Messages and texts go out in a session; frames over HTTP as they are, and over a WebSocket, ' +
      "where numbers are the session's, as messages of it. An address without a path means /accp/v1/frames.",
    'What comes goes to stdout, a frame a line; with --json as {"frame", "message"}. When the input ends, outstanding answers are ' +
      'waited for. The exit code is 1 where an error frame came, or a request was not answered.',
  ],
  example: [
    `echo '@me>req:add{a:1}[mid:m1,seq:1]' | pegwire connect http://127.0.0.1:4711`,
    `echo '{"intent":"req","operation":"x"}' | pegwire connect ws://127.0.0.1:4711`,
  ],
  isService: true,
  run: async (invocation) => {
    // Loaded only now: the other commands need none of it.
    const { runConnect } = await import('./run-connect.js');
    return runConnect(invocation);
  },
};
