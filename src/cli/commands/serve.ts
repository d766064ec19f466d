import { PACKETS_PATH } from '../../aacp/bindings/http/index.js';
import { AccpError } from '../../accp/errors.js';
import {
  accessLine,
  createEndpoint,
  DEMO_AGENTS,
  demoAgent,
  type RunningServer,
  type ServeOptions,
  startServer,
} from '../../accp/serve/index.js';
import { listenSocket } from '../../channels/node/socket.js';
import { tapEndpoint, tapRoute } from '../../inspector/tap.js';
import { errorJson, toJson } from '../io/json.js';
import { labelled } from '../io/output.js';
import { packageVersion } from '../io/package.js';
import { endBySignal } from '../io/signals.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { choice, duration, flag, integer, text, texts, token, value } from '../options/option.js';
import { notStarted, SERVER_OPTIONS } from '../options/shared.js';
import { INSPECT_OPTIONS, type ServerPages, serverPages } from '../session/inspector.js';
import { openPacketRoute, type PacketRoute } from '../session/packet-route.js';

/** Milliseconds after which an idle session is closed. */
const IDLE_TIMEOUT_MS = 600_000;
/** Sessions kept between requests; each may use up to 16 MiB. */
const MAX_SESSIONS = 128;

const some = integer({ from: 1 });

const OPTIONS = {
  port: value('PORT', 'Listen on this port (default: 4711); 0 for any free port', integer({ from: 0, to: 65_535 })),
  host: SERVER_OPTIONS.host,
  socket: text('PATH', 'Also listen on this Unix domain socket, which only its owner can open'),
  path: text('PATH', 'Path of the HTTP and WebSocket endpoint (default: /accp/v1/frames)'),
  agent: choice(
    'NAME',
    'Demo agent: echo returns each request; tools answers calls of the tools add, upper, now and count; both (default) answers ' +
      'calls of tools and returns everything else',
    DEMO_AGENTS,
  ),
  'aacp-audit': text('FILE', 'Record received AACP packets in this log; create it if needed (default: no log)'),
  token: token('Require this bearer token'),
  origin: texts('ORIGIN', 'Accept requests from web pages of this origin; may be repeated'),
  insecure: SERVER_OPTIONS.insecure,
  'max-frame': value('BYTES', 'Allow at most this many bytes per frame (default: 1048576)', some),
  'max-connections': value('N', 'Allow at most this many open connections; close any others (default: 1024)', some),
  'max-sessions': value(
    'N',
    `Keep at most this many sessions between requests; each may use up to 16 MiB (default: ${MAX_SESSIONS})`,
    some,
  ),
  grace: value('DURATION', 'On shutdown, wait this long for open requests (default: 5s)', duration()),
  ...INSPECT_OPTIONS,
  quiet: flag('Do not print the access log'),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'nothing',
  options: OPTIONS,
  details: [
    'Prints its addresses to stdout, and a line per request and connection to stderr. GET /healthz returns its state. SIGINT or ' +
      'SIGTERM shuts it down: it finishes open requests and accepts no new ones; a second signal ends it at once.',
    'Clients send the token as "Authorization: Bearer TOKEN"; browsers that open a WebSocket send the subprotocol bearer.TOKEN, ' +
      'percent-encoded, in addition to accp. On a loopback address, the Host header must be a name of this machine, and web pages must ' +
      'have the same origin or an --origin.',
    `POST ${PACKETS_PATH} takes one AACP packet of the type application/aacp, with a nonce in Aacp-Nonce and the milliseconds since 1970 in ` +
      'Aacp-Sent-At. Each packet is validated, checked for replays and recorded; a demo handler acknowledges it.',
  ],
  example: 'pegwire serve --port 4711',
  run: async (invocation) => {
    const { options, output, json } = invocation;
    const packets = await openPacketRoute(options['aacp-audit'], (thrown) => {
      void output.note(labelled('error', 'packets', String(thrown), output.paintNote));
    });
    const endpoint = createEndpoint({
      ...demoAgent(options.agent),
      maxSessions: options['max-sessions'] ?? MAX_SESSIONS,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      onError: (thrown) => {
        // Protocol errors are sent as the answer.
        if (!(thrown instanceof AccpError))
          void output.note(labelled('error', 'agent', String(thrown), output.paintNote));
      },
    });
    const pages = serverPages(options, 'accp', async () => {
      const { sessions, connections } = await server.status();
      return {
        title: 'pegwire serve',
        facts: [
          ['Version', packageVersion()],
          ['Agent', options.agent],
          ['Frames (ACCP)', `${server.http}, ${server.ws}`],
          ['Packets (AACP)', new URL(PACKETS_PATH, server.http).href],
          ['Sessions', String(sessions)],
          ['Connections', String(connections)],
        ],
      };
    });
    let server!: RunningServer;
    try {
      const served = pages.feed === undefined ? endpoint : tapEndpoint(endpoint, pages.feed);
      server = await startServer(served, serveOptions(invocation, packets, pages)).catch((thrown: unknown) => {
        throw notStarted(thrown);
      });
      const { http, ws } = server;
      const { socket } = options;
      const listener =
        socket === undefined
          ? undefined
          : await listenSocket(socket, server.accept).catch(async (thrown: unknown) => {
              await server.close();
              throw notStarted(thrown);
            });
      const close = async (): Promise<void> => {
        if (!json) await output.note('Shutting down after open requests; press Ctrl-C again to stop now.');
        pages.close();
        await Promise.all([listener?.close(), server.close()]);
      };
      const ended = endBySignal(close, server.terminate);
      const unix = socket === undefined ? undefined : `unix:${socket}`;
      const inspect = pages.feed && pages.urlAt(http);
      if (inspect !== undefined && !json) await output.note(`Inspector: ${inspect}`);
      await output.result(json ? toJson({ http, ws, unix, inspect }) : [http, ws, unix].filter(Boolean).join('\n'));
      await ended;
    } finally {
      endpoint.close();
      await packets.close();
    }
    return 0;
  },
});

function serveOptions({ options, output, json }: Run, packets: PacketRoute, pages: ServerPages): ServeOptions {
  const { port, host, path, token, insecure, origin, quiet, grace } = options;
  const note = (message: string): void => void output.note(message);
  return {
    port,
    host,
    path,
    routes: {
      [PACKETS_PATH]: pages.feed === undefined ? packets.handle : tapRoute(packets.handle, pages.feed, 'packets'),
    },
    pages: pages.answer,
    token,
    insecure,
    origins: origin.length === 0 ? undefined : origin,
    maxFrameBytes: options['max-frame'],
    maxConnections: options['max-connections'],
    closeGraceMs: grace,
    onAccess: quiet ? undefined : (entry) => note(json ? toJson(entry) : accessLine(entry)),
    onError: ({ message }) =>
      note(json ? errorJson('connection', message) : labelled('warning', 'connection', message, output.paintNote)),
  };
}
