import type { Command } from '../options/command.js';

/** `pegwire serve`: an endpoint for frames, over HTTP and WebSocket. */
export const serve: Command = {
  name: 'serve',
  summary: 'an endpoint for frames over HTTP and WebSocket, with agents to try it with',
  takesInput: false,
  options: {
    port: { type: 'string', description: 'PORT  (4711); 0 for one that is free' },
    host: { type: 'string', description: 'HOST  name or address (127.0.0.1); others than this machine need --token' },
    path: { type: 'string', description: 'PATH  of frames (/accp/v1/frames), for HTTP and WebSocket' },
    agent: {
      type: 'string',
      description:
        'NAME  echo says requests back; tools answers calls of the tools add, upper, now and count; by default both: calls ' +
        'of tools go to the tools, everything else is said back',
    },
    token: {
      type: 'string',
      description: 'TEXT  what who speaks here has to show; better as PEGWIRE_TOKEN in the environment',
    },
    origin: { type: 'string', description: 'ORIGIN  a web page that may speak here; may be given more than once' },
    insecure: { type: 'boolean', description: 'listen without --token where others than this machine reach it' },
    'max-frame': { type: 'string', description: 'BYTES  of a frame at most (1048576)' },
    'max-connections': { type: 'string', description: 'N  at a time; more are closed at once (1024)' },
    'max-sessions': { type: 'string', description: 'N  kept between requests; each may hold up to 16 MiB (128)' },
    grace: { type: 'string', description: 'SECONDS  for requests to be answered once it ends (5)' },
    quiet: { type: 'boolean', description: 'no access log' },
  },
  details: [
    'Its addresses go to stdout, and on stderr there is a line for each request and connection. GET /healthz tells how it is. ' +
      'SIGINT and SIGTERM end it: no more is taken, what is being answered is; a second one ends it at once.',
    'A token is shown as Authorization: Bearer TEXT; where a browser opens a WebSocket, as the subprotocol ' +
      'bearer.TEXT, percent-encoded, beside accp. Where only this machine reaches it, requests have to call it by a name of this ' +
      'machine, and web pages have to be its own or an --origin.',
  ],
  example: 'pegwire serve --port 4711',
  isService: true,
  run: async (invocation) => {
    // Loaded only now: the other commands need none of it.
    const { runServer } = await import('../serving.js');
    return runServer(invocation);
  },
};
