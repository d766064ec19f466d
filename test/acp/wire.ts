/** A connection whose other side is the test, which sends and receives texts. */
import {
  type Connection,
  type ConnectionError,
  type ConnectionOptions,
  createConnection,
  memoryChannels,
} from '../../src/acp/portable.js';

export interface Wire {
  readonly connection: Connection;
  /** Sends texts as they are, and other values as JSON. */
  readonly send: (...values: readonly unknown[]) => void;
  /** Returns the next message of the connection. */
  readonly receive: () => Promise<unknown>;
  /** Returns the number of messages that were not received by the test. */
  readonly unreceived: () => number;
  /** Ends the other side. */
  readonly disconnect: () => Promise<void>;
  /** The errors that the connection reported. */
  readonly errors: ConnectionError[];
}

export function openWire(options: ConnectionOptions = {}): Wire {
  const [ours, theirs] = memoryChannels();
  const messages: unknown[] = [];
  const receivers: ((message: unknown) => void)[] = [];
  const errors: ConnectionError[] = [];
  theirs.start({
    text: (text) => {
      const next = receivers.shift();
      if (next === undefined) messages.push(JSON.parse(text));
      else next(JSON.parse(text));
    },
    invalid: () => {},
    tooLong: () => {},
    ended: () => {},
  });
  const connection = createConnection(ours, { onError: (error) => errors.push(error), ...options });
  return {
    connection,
    send: (...values) => {
      for (const value of values) theirs.send(typeof value === 'string' ? value : JSON.stringify(value));
    },
    receive: () =>
      messages.length > 0 ? Promise.resolve(messages.shift()) : new Promise((resolve) => receivers.push(resolve)),
    unreceived: () => messages.length,
    disconnect: () => theirs.end(),
    errors,
  };
}

export const request = (id: unknown, method: string, params?: unknown): object => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params === undefined ? {} : { params }),
});

export const notification = (method: string, params?: unknown): object => ({
  jsonrpc: '2.0',
  method,
  ...(params === undefined ? {} : { params }),
});

export const result = (id: unknown, value: unknown): object => ({ jsonrpc: '2.0', id, result: value });

export const error = (id: unknown, code: number, message = 'no'): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
