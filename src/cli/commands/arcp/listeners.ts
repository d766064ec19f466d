/** The listeners of `pegwire arcp serve`: one option for each transport. */
import { listenNats } from '../../../arcp/queues/nats.js';
import { listenRabbitmq } from '../../../arcp/queues/rabbitmq.js';
import { listenQuic } from '../../../arcp/quic/index.js';
import {
  fifoPair,
  type ListenWebSocketOptions,
  listenFifo,
  listenHttp,
  listenUnix,
  listenWebSocket,
  type Runtime,
} from '../../../arcp/runtime/index.js';
import { shownAddress } from '../../../channels/shown-address.js';
import { UsageError } from '../../io/errors.js';
import type { Invocation } from '../../options/command.js';
import { flag, integer, optional, text, texts, token, value } from '../../options/option.js';
import { notStarted, SERVER_OPTIONS } from '../../options/shared.js';
import { tlsFiles, tlsOptions } from '../../options/tls-files.js';

const port = integer({ from: 0, to: 65_535 });

export const LISTEN_OPTIONS = {
  ws: optional('PORT', 'Listen for WebSocket connections (default: 7777); 0 for any free port', port),
  http: optional(
    'PORT',
    'Listen for HTTP/2, and for server-sent events with POST (default: 7777); 0 for any free port',
    port,
  ),
  quic: value(
    'PORT',
    'Listen for QUIC connections on this UDP port; 0 for any free port; requires --tls-key and --tls-cert, and the package @matrixai/quic',
    port,
  ),
  ...tlsOptions('--http and --quic'),
  socket: text('PATH', 'Listen on this Unix domain socket, which only its owner can open'),
  pipe: text('NAME', 'Listen on the named pipes NAME.in and NAME.out'),
  nats: text('URL', 'Serve clients over the NATS server at this URL: nats://HOST:4222'),
  'nats-name': text(
    'NAME',
    'Serve under this name on NATS; runtimes with the same name share its clients (default: default)',
  ),
  rabbitmq: text('URL', 'Serve clients over the RabbitMQ server at this URL: amqp://USER:PASSWORD@HOST:5672/VHOST'),
  'rabbitmq-name': text(
    'NAME',
    'Serve under this name on RabbitMQ; runtimes with the same name share its clients (default: default)',
  ),
  stdio: flag('Serve one client on stdin and stdout'),
  host: SERVER_OPTIONS.host,
  origin: texts('ORIGIN', 'Accept connections from web pages of this origin; may be repeated'),
  token: token('Require this bearer token from clients of --ws, --http, --quic, --nats and --rabbitmq'),
  insecure: SERVER_OPTIONS.insecure,
};

type EndpointPages = ListenWebSocketOptions['pages'];

/** A transport on which a runtime is served. */
export interface Listening {
  /** The address for clients. */
  readonly name: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts the listeners that the options name; without one, that for WebSockets.
 *
 * @param listening receives each listener as soon as it is started
 * @param onError receives errors of connections
 * @param pages answers requests for other paths of --ws and --http
 * @throws UsageError if an option is invalid, or a listener cannot be started
 */
export async function listen(
  { options }: Pick<Invocation<typeof LISTEN_OPTIONS>, 'options'>,
  runtime: Runtime,
  listening: Listening[],
  onError: (error: unknown) => void,
  pages?: EndpointPages,
): Promise<void> {
  const { ws, http, socket, pipe, quic, nats, rabbitmq, stdio, host, insecure, origin, token: secret } = options;
  const isAlone = [ws, http, socket, pipe, quic, nats, rabbitmq].every((place) => place === undefined) && !stdio;
  const shared = { host, token: secret, insecure, origins: origin.length === 0 ? undefined : origin, onError, pages };
  const tls = tlsFiles(options);
  if (tls !== undefined && http === undefined && quic === undefined)
    throw new UsageError('--tls-key and --tls-cert require --http or --quic');
  try {
    if (ws !== undefined || isAlone) {
      const { url, close } = await listenWebSocket(runtime, { ...shared, port: ws === true ? undefined : ws });
      listening.push({ name: url, close });
    }
    if (http !== undefined) {
      const { url, close } = await listenHttp(runtime, { ...shared, port: http === true ? undefined : http, tls });
      listening.push({ name: url.replace(/^http:/, 'http2:'), close });
      listening.push({ name: `sse:${url}`, close: async () => {} });
    }
    if (quic !== undefined) {
      if (tls === undefined) throw new UsageError('--quic requires --tls-key and --tls-cert');
      const { url, close } = await listenQuic(runtime, { ...shared, port: quic, tls });
      listening.push({ name: url, close });
    }
    if (socket !== undefined) {
      const { close } = await listenUnix(runtime, socket, { onError });
      listening.push({ name: `unix:${socket}`, close });
    }
    if (pipe !== undefined) {
      const { close } = await listenFifo(runtime, fifoPair(pipe), { onError });
      listening.push({ name: `pipe:${pipe}`, close });
    }
    if (nats !== undefined) {
      const [{ host: server }, name] = [urlOf('nats', nats), options['nats-name']];
      const { close } = await listenNats(runtime, { servers: nats, name, token: secret, onError });
      // Without the password.
      listening.push({ name: `nats://${server}/${name ?? 'default'}`, close });
    }
    if (rabbitmq !== undefined) {
      const [url, name] = [urlOf('rabbitmq', rabbitmq), options['rabbitmq-name']];
      const { close } = await listenRabbitmq(runtime, { url: rabbitmq, name, token: secret, onError });
      listening.push({ name: `${url.protocol}//${url.host}${url.pathname}?name=${name ?? 'default'}`, close });
    }
  } catch (thrown) {
    throw notStarted(thrown);
  }
}

const QUEUE_FORMS = { nats: 'nats://HOST:4222', rabbitmq: 'amqp://HOST:5672' };

/** @throws UsageError if the address is not a URL */
function urlOf(option: keyof typeof QUEUE_FORMS, url: string): URL {
  if (URL.canParse(url) && (option === 'nats' || /^amqps?:\/\/./.test(url))) return new URL(url);
  throw new UsageError(`--${option} needs a URL such as ${QUEUE_FORMS[option]}; got "${shownAddress(url)}"`);
}
