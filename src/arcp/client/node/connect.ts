// biome-ignore-all lint/correctness/noNodejsModules: programs, sockets and named pipes need Node
/** Connections to runtimes by address, and cursors in files. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Channel } from '../../../channels/channel.js';
import { ConnectionError } from '../../../channels/errors.js';
import { type AddressOptions, connectProgram, dialAddress, type Program } from '../../../channels/node/addresses.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { openClient } from '../client.js';
import type { Client, ClientOptions, Cursor, CursorStore, Dial } from '../types.js';

/**
 * Connects to a runtime and opens a session, or resumes one.
 *
 * @throws ArcpError the refusal of the session; `DEADLINE_EXCEEDED` if no session is open after `timeoutMs`
 * @throws TypeError if the target or an option is invalid
 * @throws ArcpError `UNAVAILABLE` if the connection fails and `reconnect` is `false`
 * @example
 * const client = await connect('ws://127.0.0.1:7777/arcp', { token });
 * const { rows } = await client.invoke('query', { text: 'select 1' }).result();
 */
export async function connect(target: Target, options: ClientOptions & DialOptions = {}): Promise<Client> {
  const { token, maxMessageBytes, ca, serverName, ...client } = options;
  const auth = client.auth ?? (token === undefined ? undefined : { scheme: 'bearer', token });
  const dial = dialOf(target, { token, maxMessageBytes, ca, serverName });
  const connected = async (): Promise<Channel> => {
    try {
      return await dial();
    } catch (cause) {
      if (!(cause instanceof ConnectionError) || cause.code !== 'closed') throw cause;
      throw new ArcpError('UNAVAILABLE', `The connection to the runtime failed: ${cause.message}`, { cause });
    }
  };
  return openClient(connected, { ...client, auth });
}

/** The address of a runtime, as a text (`ws://HOST:PORT/PATH`; `dialAddress` lists the forms), or a program, which the client starts for each connection. */
export type Target = string | Program;

/** Options of connections. */
export type DialOptions = Omit<AddressOptions, 'protocol'>;

/** Returns a function that connects to a target, for `openClient`. @throws TypeError if the target is invalid */
export function dialOf(target: Target, options: DialOptions = {}): Dial {
  if (typeof target === 'object' && typeof target?.command === 'string') {
    if (!/^[^\0]+$/.test(target.command))
      throw new TypeError(`command must be a non-empty string; got ${JSON.stringify(target.command)}`);
    return () => connectProgram(target);
  }
  if (typeof target !== 'string')
    throw new TypeError(`target must be a string such as "ws://HOST:PORT/PATH", or { command }; got ${String(target)}`);
  return dialAddress(target, { protocol: SUBPROTOCOL, ...options });
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
