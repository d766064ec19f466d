import { Queue } from '../async/queue.js';
import { isLonger } from '../text/bytes.js';
import { BEGINNING, type Channel, type Receiver } from './channel.js';
import { beginningOf } from './line-decoder.js';

/** The part of the WebSocket interface that channels use. Implemented by browsers, by Node 22 and later, and by `ws`. */
export interface WebSocketLike {
  /** The state: 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** The number of bytes that are queued by `send` and not yet transmitted. */
  readonly bufferedAmount: number;
  /** Sends a text message. */
  send(data: string): void;
  /** Starts the closing handshake. */
  close(code?: number, reason?: string): void;
  /** Adds a listener. */
  addEventListener(type: 'open' | 'error', listener: (event: unknown) => void): void;
  /** Adds a listener for messages. */
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  /** Adds a listener for the end of the connection. */
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  /** Stops reading (`ws` only). */
  pause?(): void;
  /** Restarts reading (`ws` only). */
  resume?(): void;
  /** Closes the connection without the closing handshake (`ws` only). */
  terminate?(): void;
}

export const CONNECTING = 0;
export const OPEN = 1;

/** The maximum length of a close reason in bytes of UTF-8 (RFC 6455, section 5.5: a control frame has at most 125 bytes, of which the code takes two). */
const MAX_REASON_BYTES = 123;
/** Added to a code below 3000 that programs may not send: 1009 is sent as 4109. */
const PRIVATE_OFFSET = 3100;

/**
 * Closes a WebSocket. The WebSockets of browsers and of Node 22 only let programs send 1000 and 3000 to 4999; they send other codes as private
 * ones, which {@link publicCode} converts back. The reason is truncated to 123 bytes, at a character boundary.
 *
 * Source: RFC 6455, sections 5.5 and 7.4; WHATWG WebSockets, `close()`.
 *
 * @param code a code of RFC 6455, section 7.4.1, or from 3000 to 4999
 */
export function closeWebSocket(socket: Pick<WebSocketLike, 'close'>, code = 1000, reason = ''): void {
  const text = firstBytes(reason, MAX_REASON_BYTES);
  try {
    socket.close(code, text);
  } catch (error) {
    if (code === 1000 || code >= 3000) throw error;
    socket.close(code + PRIVATE_OFFSET, text);
  }
}

/** Converts a received close code to that of RFC 6455: 4109 to 1009. */
export function publicCode(code: number): number {
  return code > 1000 + PRIVATE_OFFSET && code < 1016 + PRIVATE_OFFSET ? code - PRIVATE_OFFSET : code;
}

function firstBytes(text: string, bytes: number): string {
  const encoded = new Uint8Array(bytes);
  return text.slice(0, new TextEncoder().encodeInto(text, encoded).read);
}

/** Milliseconds between two checks: a WebSocket has no event for a drained buffer. */
const POLL_MS = 5;

/** Resolves when at most `bytes` are buffered, or the socket is closed; returns `undefined` if that is the case now. */
export function drained(socket: WebSocketLike, bytes: number): Promise<void> | undefined {
  const isDone = (): boolean => socket.readyState > OPEN || socket.bufferedAmount <= bytes;
  if (isDone()) return undefined;
  return new Promise((resolve) => {
    const check = (): void => {
      if (isDone()) resolve();
      else setTimeout(check, POLL_MS);
    };
    // The platform updates `bufferedAmount` after the current iteration of the event loop.
    setTimeout(check);
  });
}

/** Options of {@link webSocketChannel}. */
export interface WebSocketChannelOptions {
  /** The maximum length of a message in bytes of UTF-8. @default 33_554_432 */
  readonly maxLength?: number | undefined;
  /** The number of buffered bytes from which `ready` makes senders wait. @default 1_048_576 */
  readonly highWaterMark?: number | undefined;
}

/** Bytes by which a message may exceed the limit of a server that still reads and answers it. */
const ANSWERED_BYTES = 1024 * 1024;

/**
 * Returns the `maxPayload` of a server of `ws` whose channels have a limit: they answer a message that is longer. `ws` closes a connection with
 * 1009 before it has read a message beyond `maxPayload`, and without an answer.
 */
export function maxPayloadOf(maxLength: number): number {
  return maxLength + ANSWERED_BYTES;
}

const CLOSED = 3;
const MAX_LENGTH = 32 * 1024 * 1024;
const HIGH_WATER_MARK = 1024 * 1024;

/** Close codes of a normal end: normal closure, going away, no code (RFC 6455, section 7.4.1). */
const NORMAL_CODES: readonly unknown[] = [1000, 1001, 1005];
/** Marks the end in the queue of messages. */
const END = Symbol('end');

/**
 * Creates a channel over a WebSocket: one JSON document per text message. The socket may still be connecting; messages are queued until it is
 * open. A close by either side ends the channel. Binary messages are invalid. Create the channel right after the socket, so that no
 * message is missed.
 *
 * @throws TypeError if an option is invalid
 */
export function webSocketChannel(socket: WebSocketLike, options: WebSocketChannelOptions = {}): Channel {
  const { maxLength = MAX_LENGTH, highWaterMark = HIGH_WATER_MARK } = options;
  for (const [name, value] of Object.entries({ maxLength, highWaterMark }))
    if (!(value >= 1)) throw new TypeError(`${name} must be a number >= 1; got ${value}`);
  /** Messages that are sent when the socket is open. */
  const queued: string[] = [];
  let queuedLength = 0;
  /** Messages received while paused: the sockets of browsers cannot stop reading. */
  const received = new Queue<unknown>();
  let receiver: Receiver | undefined;
  let failure: Error | undefined;
  let isPaused = false;
  let hasEnded = false;
  /** `true` after this side has ended its output. */
  let isEnding = false;
  let closed!: () => void;
  const whenClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  /** Resolves when the socket is open, or failed to connect. */
  const connected = new Promise<void>((resolve) => {
    socket.addEventListener('open', () => {
      queuedLength = 0;
      for (const text of queued.splice(0)) socket.send(text);
      resolve();
    });
    void whenClosed.then(resolve);
  });

  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    received.clear();
    closed();
    receiver?.ended(failure);
  };
  const receive = (data: unknown): void => {
    if (data === END) end();
    else if (typeof data !== 'string') receiver?.invalid('the message is binary', textOf(data));
    else if (!isLonger(data, maxLength)) receiver?.text(data);
    else {
      receiver?.tooLong(maxLength, data.slice(0, BEGINNING));
      closeWebSocket(socket, 1009, 'the message is too long');
      end();
    }
  };
  const deliver = (): void => {
    while (receiver !== undefined && !isPaused && received.size > 0) receive(received.take());
  };
  socket.addEventListener('message', ({ data }) => {
    if (hasEnded) return;
    received.push(data);
    deliver();
  });
  // An error event without a listener ends the process.
  socket.addEventListener('error', (event) => {
    const { message } = event as { readonly message?: string };
    failure ??= new Error(message ?? 'the WebSocket failed');
  });
  socket.addEventListener('close', ({ code: sent, reason }) => {
    const code = publicCode(sent);
    const status = reason === '' ? String(code) : `${code}: ${reason}`;
    if (!NORMAL_CODES.includes(code)) failure ??= new Error(`the WebSocket was closed with code ${status}`);
    closed();
    received.push(END);
    deliver();
  });
  if (socket.readyState === CLOSED) {
    closed();
    received.push(END);
  }

  return {
    maxTextBytes: maxLength,
    start: (given) => {
      receiver = given;
      queueMicrotask(deliver);
    },
    send: (text) => {
      if (hasEnded || isEnding || socket.readyState > OPEN) return;
      if (socket.readyState === CONNECTING) {
        queued.push(text);
        queuedLength += text.length;
      } else socket.send(text);
    },
    ready: () => {
      if (socket.readyState !== CONNECTING || queuedLength <= highWaterMark) return drained(socket, highWaterMark);
      return connected.then(() => drained(socket, highWaterMark));
    },
    flushed: async () => {
      if (socket.readyState === CONNECTING) await connected;
      await drained(socket, 0);
      return !hasEnded && socket.readyState === OPEN;
    },
    backlog: () => socket.bufferedAmount + queuedLength,
    pause: () => {
      isPaused = true;
      socket.pause?.();
    },
    resume: () => {
      isPaused = false;
      deliver();
      if (!isPaused) socket.resume?.();
    },
    end: async () => {
      isEnding = true;
      // Closing a socket that is being connected would abort the handshake, and lose what the other side has sent.
      if (socket.readyState === CONNECTING) await connected;
      await drained(socket, 0);
      // A paused socket does not see the close frame of the other side.
      socket.resume?.();
      if (socket.readyState <= OPEN) closeWebSocket(socket);
      await whenClosed;
    },
    destroy: () => {
      end();
      if (socket.terminate === undefined) closeWebSocket(socket);
      else socket.terminate();
    },
  };
}

/** Returns the beginning of a binary message, or `undefined` for a `Blob`, which cannot be read synchronously. */
function textOf(data: unknown): string | undefined {
  if (data instanceof ArrayBuffer) return beginningOf(new Uint8Array(data));
  return ArrayBuffer.isView(data)
    ? beginningOf(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    : undefined;
}
