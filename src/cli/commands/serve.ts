import { AccpError } from '../../accp/errors.js';
import {
  accessLine,
  createEndpoint,
  DEMO_AGENTS,
  demoAgent,
  type ServeOptions,
  startServer,
} from '../../accp/serve/index.js';
import { errorJson, toJson } from '../io/json.js';
import { endBySignal } from '../io/signals.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { choice, duration, flag, integer, text, texts, token, value } from '../options/option.js';
import { notStarted, SERVER_OPTIONS } from '../options/shared.js';

/** Seconds between requests. */
const IDLE_TIME = 600;
/** Kept between requests; each may hold up to 16 MiB. */
const MAX_SESSIONS = 128;

const some = integer({ from: 1 });

const OPTIONS = {
  port: value('PORT', '(4711); 0 for one that is free', integer({ from: 0, to: 65_535 })),
  host: SERVER_OPTIONS.host,
  path: text('PATH', 'of frames (/accp/v1/frames), for HTTP and WebSocket'),
  agent: choice(
    'NAME',
    'echo says requests back; tools answers calls of the tools add, upper, now and count; by default both: calls of tools go ' +
      'to the tools, everything else is said back',
    DEMO_AGENTS,
  ),
  token: token('what who speaks here has to show'),
  origin: texts('ORIGIN', 'a web page that may speak here; may be given more than once'),
  insecure: SERVER_OPTIONS.insecure,
  'max-frame': value('BYTES', 'of a frame at most (1048576)', some),
  'max-connections': value('N', 'at a time; more are closed at once (1024)', some),
  'max-sessions': value('N', `kept between requests; each may hold up to 16 MiB (${MAX_SESSIONS})`, some),
  grace: value('DURATION', 'On shutdown, wait this long for open requests (default: 5s).', duration()),
  quiet: flag('no access log'),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'nothing',
  options: OPTIONS,
  details: [
    'Its addresses go to stdout, and on stderr there is a line for each request and connection. GET /healthz tells how it is. ' +
      'SIGINT and SIGTERM end it: no more is taken, what is being answered is; a second one ends it at once.',
    'A token is shown as Authorization: Bearer TEXT; where a browser opens a WebSocket, as the subprotocol ' +
      'bearer.TEXT, percent-encoded, beside accp. Where only this machine reaches it, requests have to call it by a name of this ' +
      'machine, and web pages have to be its own or an --origin.',
  ],
  example: 'pegwire serve --port 4711',
  run: async (invocation) => {
    const { options, output, json } = invocation;
    const endpoint = createEndpoint({
      ...demoAgent(options.agent),
      maxSessions: options['max-sessions'] ?? MAX_SESSIONS,
      idleTimeoutMs: IDLE_TIME * 1000,
      onError: (thrown) => {
        // Protocol errors are sent as the answer.
        if (!(thrown instanceof AccpError)) void output.note(`An agent failed: ${String(thrown)}`);
      },
    });
    try {
      const server = await startServer(endpoint, serveOptions(invocation)).catch((thrown: unknown) => {
        throw notStarted(thrown);
      });
      const { http, ws } = server;
      const close = async (): Promise<void> => {
        if (!json) await output.note('Ending: what is being answered still is. Once more ends it at once.');
        await server.close();
      };
      const ended = endBySignal(close, server.terminate);
      await output.result(json ? toJson({ http, ws }) : `${http}\n${ws}`);
      await ended;
    } finally {
      endpoint.close();
    }
    return 0;
  },
});

function serveOptions({ options, output, json }: Run): ServeOptions {
  const { port, host, path, token, insecure, origin, quiet, grace } = options;
  const note = (message: string): void => void output.note(message);
  return {
    port,
    host,
    path,
    token,
    insecure,
    origins: origin.length === 0 ? undefined : origin,
    maxFrameBytes: options['max-frame'],
    maxConnections: options['max-connections'],
    closeGraceMs: grace,
    onAccess: quiet ? undefined : (entry) => note(json ? toJson(entry) : accessLine(entry)),
    onError: ({ message }) =>
      note(json ? errorJson('connection', message) : `${output.paintNote('yellow', 'warning:')} ${message}`),
  };
}
