// biome-ignore-all lint/correctness/noNodejsModules: programs, sockets and named pipes need Node
/** Addresses, each of which names a transport and the other side in one string. */
import process from 'node:process';
import { WebSocket } from 'ws';
import { systemReason } from '../../text/system-reason.js';
import type { Channel } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { dialBus, type OpenBus } from '../queue/dial.js';
import { shownAddress } from '../shown-address.js';
import { connectEventStream } from '../sse.js';
import { connectFifo, fifoPair } from './fifo.js';
import { connectHttp2 } from './http2.js';
import { openNats } from './nats.js';
import { type LaunchOptions, launchProcess } from './process.js';
import { dialQuicAddress } from './quic/dial.js';
import { openRabbitmq } from './rabbitmq.js';
import { connectSocket } from './socket.js';
import { type Trust, tlsOptionsOf } from './trust.js';
import { wsChannel } from './ws-channel.js';

/** Options of connections by address. */
export interface AddressOptions extends Trust {
  /** The name of the protocol: the subprotocol of WebSockets. */
  readonly protocol: string;
  /** The bearer token, sent when a connection opens. @default none */
  readonly token?: string | undefined;
  /** The longest message in bytes. @default 33554432 (32 MiB) */
  readonly maxMessageBytes?: number | undefined;
}

/** Connects to the other side. */
type Dial = () => Promise<Channel>;

interface Scheme {
  /** The form of the addresses. */
  readonly form: string;
  /** @throws TypeError if the address is invalid */
  readonly dial: (address: string, rest: string, options: AddressOptions) => Dial;
}

const SCHEMES: Readonly<Record<string, Scheme>> = {
  ws: { form: 'ws://HOST:PORT/PATH', dial: webSocket },
  wss: { form: 'wss://HOST/PATH', dial: webSocket },
  quic: {
    form: 'quic://HOST:PORT',
    dial: (address, _, { protocol, ...options }) => dialQuicAddress(address, protocol, options),
  },
  https: { form: 'https://HOST/PATH', dial: http2 },
  http2: { form: 'http2://HOST:PORT/PATH', dial: http2 },
  sse: { form: 'sse:https://HOST/PATH', dial: eventStream },
  nats: { form: 'nats://HOST:PORT/NAME', dial: nats },
  amqp: { form: 'amqp://HOST:PORT/VHOST?name=NAME', dial: rabbitmq },
  amqps: { form: 'amqps://HOST/VHOST?name=NAME', dial: rabbitmq },
  unix: { form: 'unix:PATH', dial: (_, path, options) => () => connectSocket(path, linesOf(options)) },
  tcp: { form: 'tcp://HOST:PORT', dial: tcp },
  pipe: { form: 'pipe:NAME', dial: namedPipe },
  stdio: { form: 'stdio:COMMAND', dial: program },
};

/** Describes all addresses, for messages and help texts. */
export const ADDRESS_FORMS: readonly string[] = Object.values(SCHEMES).map(({ form }) => form);

/**
 * Returns a function that connects to an address.
 *
 * - `ws://HOST:PORT/PATH`, `wss://...`: a WebSocket
 * - `quic://HOST:PORT`: a stream of a QUIC connection; requires the package `@matrixai/quic`
 * - `https://HOST/PATH`: a stream of HTTP/2 over TLS; `http2://HOST:PORT/PATH` without encryption, for the loopback and trusted networks
 * - `sse:https://HOST/PATH`, `sse:http://...`: server-sent events and POST, for proxies that pass nothing else
 * - `nats://HOST:PORT/NAME`: a connection to one of the servers with this name (default: `default`) over NATS; requires
 *   `@nats-io/transport-node`. `USER:PASSWORD@` or `TOKEN@` may stand before the host
 * - `amqp://HOST:PORT/VHOST?name=NAME`, `amqps://...`: the same over RabbitMQ; requires `amqplib`
 * - `unix:PATH`: a Unix-domain socket
 * - `tcp://HOST:PORT`: a TCP socket without encryption, for the loopback and trusted networks
 * - `pipe:NAME`: a pair of named pipes, `NAME.in` and `NAME.out`; on Windows, the named pipe `\\.\pipe\NAME`
 * - `stdio:COMMAND`: a program, which is started for each connection, without a shell; spaces separate its arguments
 *
 * @throws TypeError if the address is invalid, or its scheme is unknown
 */
export function dialAddress(address: string, options: AddressOptions): Dial {
  const [, name = '', rest] = /^([A-Za-z][A-Za-z0-9+.-]*):(.+)$/s.exec(address) ?? [];
  const scheme = Object.hasOwn(SCHEMES, name.toLowerCase()) ? SCHEMES[name.toLowerCase()] : undefined;
  if (scheme === undefined || rest === undefined)
    throw new TypeError(`"${shownAddress(address)}" is not an address; the forms are ${ADDRESS_FORMS.join(', ')}`);
  return scheme.dial(address, rest, options);
}

const linesOf = ({ maxMessageBytes: maxLineBytes }: AddressOptions): { maxLineBytes?: number | undefined } => ({
  maxLineBytes,
});

/** @throws TypeError if the address is not a URL with a host */
function urlOf(address: string, form: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === '')
    throw new TypeError(`"${shownAddress(address)}" is invalid; the form is ${form}`);
  return url;
}

/** @throws TypeError if the address is not a URL with a host, or has a user name or password */
function bareUrlOf(address: string, form: string): URL {
  const url = urlOf(address, form);
  if (url.username !== '' || url.password !== '')
    throw new TypeError(`"${shownAddress(address)}" must not contain a user name or password; use the option token`);
  return url;
}

/** @throws TypeError if certificates are given for a connection that would not check them */
function refuseTrust({ ca, serverName }: Trust, address: string, instead: string): void {
  if (ca !== undefined || serverName !== undefined)
    throw new TypeError(`"${shownAddress(address)}" does not accept ca and serverName; ${instead}`);
}

const HANDSHAKE_MS = 10_000;

function webSocket(address: string, _: string, options: AddressOptions): Dial {
  const { protocol, token, maxMessageBytes: maxLength } = options;
  const url = urlOf(address, 'ws://HOST:PORT/PATH');
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async () => {
    const settings = { headers, perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS };
    const socket = new WebSocket(url, [protocol], { ...settings, ...tlsOptionsOf(options) });
    const channel = wsChannel(socket, { maxLength });
    // Resolves when it is open, so that connection errors are reported.
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (cause) =>
        reject(new ConnectionError('closed', `Cannot connect to ${url.host}: ${systemReason(cause)}`, { cause })),
      );
    });
    return channel;
  };
}

function http2(address: string, _: string, { token, maxMessageBytes, ca, serverName }: AddressOptions): Dial {
  const url = bareUrlOf(address.replace(/^http2:/i, 'http:'), 'http2://HOST:PORT/PATH');
  return () => connectHttp2(url, { token, maxLineBytes: maxMessageBytes, ca, serverName });
}

function eventStream(
  _: string,
  rest: string,
  { protocol, token, maxMessageBytes: maxTextBytes, ...trust }: AddressOptions,
): Dial {
  const form = 'sse:https://HOST/PATH';
  const url = bareUrlOf(rest, form);
  if (!/^https?:$/.test(url.protocol))
    throw new TypeError(`"sse:${shownAddress(rest)}" is invalid; the form is ${form}`);
  refuseTrust(trust, `sse:${rest}`, 'use https:, or set NODE_EXTRA_CA_CERTS');
  return () => connectEventStream(url, { protocol, token, maxTextBytes });
}

function nats(address: string, _: string, options: AddressOptions): Dial {
  const url = urlOf(address, 'nats://HOST:PORT/NAME');
  const name = url.pathname.replace(/^\//, '');
  url.pathname = '';
  const tls = tlsOptionsOf(options);
  // With `tls`, the package requires it of the server.
  const connectOptions = Object.keys(tls).length > 0 ? { tls } : {};
  return queue(() => openNats({ servers: url.href.replace(/\/$/, ''), connectOptions }), name, options);
}

function rabbitmq(address: string, _: string, options: AddressOptions): Dial {
  const url = urlOf(address, 'amqp://HOST:PORT/VHOST?name=NAME');
  if (url.protocol === 'amqp:') refuseTrust(options, address, 'use amqps:');
  const name = url.searchParams.get('name') ?? '';
  url.searchParams.delete('name');
  return queue(() => openRabbitmq({ url: url.href, socketOptions: tlsOptionsOf(options) }), name, options);
}

function queue(open: () => Promise<OpenBus>, name: string, { protocol, maxMessageBytes }: AddressOptions): Dial {
  return dialBus(open, `${protocol}.${name || 'default'}`, { maxTextBytes: maxMessageBytes });
}

function tcp(address: string, _: string, options: AddressOptions): Dial {
  const { hostname, port } = urlOf(address, 'tcp://HOST:PORT');
  if (port === '') throw new TypeError(`"${shownAddress(address)}" has no port; the form is tcp://HOST:PORT`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return () => connectSocket({ host, port: Number(port) }, linesOf(options));
}

function namedPipe(_: string, name: string, options: AddressOptions): Dial {
  return process.platform === 'win32'
    ? () => connectSocket(`\\\\.\\pipe\\${name}`, linesOf(options))
    : () => connectFifo(fifoPair(name), linesOf(options));
}

function program(address: string, words: string, options: AddressOptions): Dial {
  const [command, ...args] = words.split(' ').filter((word) => word !== '');
  if (command === undefined || address.includes('\0'))
    throw new TypeError(`"${address}" has no program; the form is stdio:COMMAND`);
  return () => connectProgram({ command, args }, linesOf(options));
}

/** A program that serves a protocol on its standard streams. */
export interface Program extends Omit<LaunchOptions, 'signal'> {
  /** The name or path of the program. */
  readonly command: string;
  /** Its arguments. @default none */
  readonly args?: readonly string[] | undefined;
}

/** Starts a program, and connects to its standard streams. Its errors are those of this process; it ends with the channel. */
export async function connectProgram(
  { command, args, ...options }: Program,
  lines: { readonly maxLineBytes?: number | undefined } = {},
): Promise<Channel> {
  const { channel, close } = await launchProcess(command, args, { stderr: 'forward', ...lines, ...options });
  return {
    ...channel,
    end: async () => {
      await close();
    },
    destroy: () => {
      channel.destroy();
      void close();
    },
  };
}
