// biome-ignore-all lint/correctness/noNodejsModules: programs, sockets and named pipes need Node
/** Connections to runtimes by address, and cursors in files. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { WebSocket } from 'ws';
import type { Channel } from '../../../channels/channel.js';
import { connectFifo, fifoPair } from '../../../channels/node/fifo.js';
import { type LaunchOptions, launchProcess } from '../../../channels/node/process.js';
import { connectSocket } from '../../../channels/node/socket.js';
import { webSocketChannel } from '../../../channels/websocket.js';
import { systemReason } from '../../../text/system-reason.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { openClient } from '../client.js';
import type { Client, ClientOptions, Cursor, CursorStore, Dial } from '../types.js';

/**
 * Connects to a runtime and opens a session, or resumes one.
 *
 * @throws ArcpError the refusal of the session; `DEADLINE_EXCEEDED` if no session is open after `timeoutMs`
 * @throws TypeError if the target or an option is invalid
 * @throws Error if the connection fails and `reconnect` is `false`
 * @example
 * const client = await connect('ws://127.0.0.1:7777/arcp', { token });
 * const { rows } = await client.invoke('query', { text: 'select 1' }).result();
 */
export async function connect(target: Target, options: ClientOptions & DialOptions = {}): Promise<Client> {
  const { token, maxMessageBytes, ...client } = options;
  const auth = client.auth ?? (token === undefined ? undefined : { scheme: 'bearer', token });
  return openClient(dialOf(target, { token, maxMessageBytes }), { ...client, auth });
}

/** A program that serves the protocol on its standard streams. The client starts it for each connection. */
export interface Program extends Omit<LaunchOptions, 'signal'> {
  /** The name or path of the program. */
  readonly command: string;
  /** Its arguments. @default none */
  readonly args?: readonly string[] | undefined;
}

/**
 * The address of a runtime.
 *
 * - `ws://HOST:PORT/PATH`, `wss://...`: a WebSocket
 * - `unix:PATH`: a Unix-domain socket; on Windows, `unix:\\.\pipe\NAME` is a named pipe
 * - `tcp://HOST:PORT`: a TCP socket without encryption, for the loopback and trusted networks
 * - `fifo:NAME`: a pair of named pipes, `NAME.in` and `NAME.out`
 * - an object: a program
 */
export type Target = string | Program;

/** Options of connections. */
export interface DialOptions {
  /** The bearer token, sent when a WebSocket opens and in `session.open`. @default none */
  readonly token?: string | undefined;
  /** The longest message in bytes. @default 33554432 (32 MiB) */
  readonly maxMessageBytes?: number | undefined;
}

/** Returns a function that connects to a target, for `openClient`. @throws TypeError if the target is invalid */
export function dialOf(target: Target, { token, maxMessageBytes }: DialOptions = {}): Dial {
  if (typeof target === 'object' && typeof target?.command === 'string') {
    if (!/^[^\0]+$/.test(target.command))
      throw new TypeError(`command must be a non-empty string; got ${JSON.stringify(target.command)}`);
    return () => startProgram(target);
  }
  if (typeof target !== 'string')
    throw new TypeError(`target must be a string such as "ws://HOST:PORT/PATH", or { command }; got ${String(target)}`);
  const lines = maxMessageBytes === undefined ? {} : { maxLineBytes: maxMessageBytes };
  const [, scheme, rest] = /^(unix|fifo|tcp|wss?):(.+)$/is.exec(target) ?? [];
  if (scheme === undefined || rest === undefined)
    throw new TypeError(`target must begin with ws:, wss:, unix:, tcp: or fifo:; got "${target}"`);
  switch (scheme.toLowerCase()) {
    case 'unix':
      return () => connectSocket(rest, lines);
    case 'fifo':
      return () => connectFifo(fifoPair(rest), lines);
    case 'tcp': {
      const { hostname, port } = new URL(target);
      if (port === '') throw new TypeError(`target must have a port: tcp://HOST:PORT; got "${target}"`);
      return () => connectSocket({ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }, lines);
    }
    default: {
      const url = new URL(target);
      return () => connectWebSocket(url, token, maxMessageBytes);
    }
  }
}

const HANDSHAKE_MS = 10_000;

/** Connects to a WebSocket. Resolves when it is open, so that connection errors are reported. */
async function connectWebSocket(url: URL, token?: string, maxLength?: number): Promise<Channel> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, [SUBPROTOCOL], {
    headers,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
  });
  const channel = webSocketChannel(socket, maxLength === undefined ? {} : { maxLength });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (cause) =>
      reject(new ArcpError('UNAVAILABLE', `The connection to the runtime failed: ${systemReason(cause)}`, { cause })),
    );
  });
  return channel;
}

async function startProgram({ command, args, ...options }: Program): Promise<Channel> {
  const { channel, close } = await launchProcess(command, args, { stderr: 'forward', ...options });
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

/** Creates a cursor store in a file, which only its owner can read and which is replaced atomically. */
export function fileCursor(path: string): CursorStore {
  return {
    load: async () => {
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
      return cursorOf(text, path);
    },
    save: async (cursor) => {
      const draft = `${path}.${randomUUID()}`;
      await writeFile(draft, `${JSON.stringify(cursor)}\n`, { mode: 0o600 });
      await rename(draft, path);
    },
  };
}

function cursorOf(text: string, path: string): Cursor {
  let found: Partial<Cursor> | null = null;
  try {
    found = JSON.parse(text) as Partial<Cursor> | null;
  } catch {
    // Reported below.
  }
  if (typeof found?.sessionId !== 'string')
    throw new Error(`${path} does not contain a cursor; delete it to start a new session`);
  const { sessionId, resumeToken, lastMessageId } = found;
  return { sessionId, resumeToken, lastMessageId };
}
