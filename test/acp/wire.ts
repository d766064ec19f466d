/** A connection whose other side is the test: it says texts and hears texts. */
import {
  type Connection,
  type ConnectionError,
  type ConnectionOptions,
  createConnection,
  memoryChannels,
} from '../../src/acp/portable.js';

export interface Wire {
  readonly connection: Connection;
  /** Sends a text as it is, and anything else as JSON. */
  readonly say: (...values: readonly unknown[]) => void;
  /** The next message of the connection. */
  readonly hear: () => Promise<unknown>;
  /** Messages that were not heard. */
  readonly unheard: () => number;
  /** The other side ends. */
  readonly hangUp: () => Promise<void>;
  /** What the connection reported. */
  readonly errors: ConnectionError[];
}

export function openWire(options: ConnectionOptions = {}): Wire {
  const [ours, theirs] = memoryChannels();
  const heard: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  const errors: ConnectionError[] = [];
  theirs.start({
    text: (text) => {
      const next = waiting.shift();
      if (next === undefined) heard.push(JSON.parse(text));
      else next(JSON.parse(text));
    },
    invalid: () => {},
    tooLong: () => {},
    ended: () => {},
  });
  const connection = createConnection(ours, { onError: (error) => errors.push(error), ...options });
  return {
    connection,
    say: (...values) => {
      for (const value of values) theirs.send(typeof value === 'string' ? value : JSON.stringify(value));
    },
    hear: () => (heard.length > 0 ? Promise.resolve(heard.shift()) : new Promise((resolve) => waiting.push(resolve))),
    unheard: () => heard.length,
    hangUp: () => theirs.end(),
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
