import { Queue } from '../async/queue.js';
import { BEGINNING, type Channel, type Receiver } from './channel.js';
import { beginningOf } from './line-decoder.js';

/** The part of a WebSocket that is used: browsers', Node's own from version 22, and those of `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  /** Bytes that were sent and are not on their way yet. */
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: (event: unknown) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  /** Only those of `ws` have these. */
  pause?(): void;
  resume?(): void;
  terminate?(): void;
}

export const CONNECTING = 0;
export const OPEN = 1;

/** Limit of the reason of a close in bytes of UTF-8 (RFC 6455, section 5.5: a control frame has at most 125, the code takes two). */
const MAX_REASON_BYTES = 123;
/** A code below 3000 other than 1000 is sent as this much more if programs may not send it: 1009 as 4109. */
const PRIVATE_OFFSET = 3100;

/**
 * Closes a WebSocket. Standard ones, of browsers and of Node from version 22, let programs send 1000 and the codes from 3000 to 4999 only:
 * there, another code is sent as a private one, which {@link publicCode} reads. A reason is cut to 123 bytes, at the border of a
 * character.
 *
 * Source: RFC 6455, sections 5.5 and 7.4; WHATWG WebSockets, `close()`.
 *
 * @param code one of RFC 6455, section 7.4.1, that a program may send, or of 3000 to 4999
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

/** Returns the code of RFC 6455 for a received one: 1009 for 4109. */
export function publicCode(code: number): number {
  return code > 1000 + PRIVATE_OFFSET && code < 1016 + PRIVATE_OFFSET ? code - PRIVATE_OFFSET : code;
}

function firstBytes(text: string, bytes: number): string {
  const encoded = new Uint8Array(bytes);
  return text.slice(0, new TextEncoder().encodeInto(text, encoded).read);
}

/** Milliseconds between two checks: a WebSocket does not report when less is buffered. */
const LOOK = 5;

/** Resolves when at most so many bytes are buffered, or the socket is closed; `undefined` if that is so now. */
export function drained(socket: WebSocketLike, bytes: number): Promise<void> | undefined {
  const isDone = (): boolean => socket.readyState > OPEN || socket.bufferedAmount <= bytes;
  if (isDone()) return undefined;
  return new Promise((resolve) => {
    const look = (): void => {
      if (isDone()) resolve();
      else setTimeout(look, LOOK);
    };
    // The platform updates the count after the turn in which it has sent.
    setTimeout(look);
  });
}

export interface WebSocketChannelOptions {
  /** Limit of a message in UTF-16 code units. @default 32 Mi */
  readonly maxLength?: number | undefined;
  /** Bytes that may wait in the socket before `ready` makes senders wait. @default 1 MiB */
  readonly highWaterMark?: number | undefined;
}

const CLOSED = 3;
const MAX_LENGTH = 32 * 1024 * 1024;
const HIGH_WATER_MARK = 1024 * 1024;

/** Close codes of a normal end: done, going away, and none given (RFC 6455, section 7.4.1). */
const ORDERLY: readonly unknown[] = [1000, 1001, 1005];
/** The end in the queue of messages. */
const END = Symbol('end');

/**
 * Makes a channel over a WebSocket: one JSON document per text message. The socket may still be connecting: messages wait until it is open. A
 * close from either side is the end. A binary message is garbage. Make the channel as soon as the socket, so that no message is missed.
 *
 * @throws TypeError if an option is invalid
 */
export function webSocketChannel(socket: WebSocketLike, options: WebSocketChannelOptions = {}): Channel {
  const { maxLength = MAX_LENGTH, highWaterMark = HIGH_WATER_MARK } = options;
  for (const [name, value] of Object.entries({ maxLength, highWaterMark }))
    if (!(value >= 1)) throw new TypeError(`${name} is a number from 1 on; got ${value}`);
  /** Messages to be sent once the socket is open. */
  const early: string[] = [];
  let earlyLength = 0;
  /** Received while paused: browsers' sockets cannot stop reading. */
  const held = new Queue<unknown>();
  let receiver: Receiver | undefined;
  let fault: Error | undefined;
  let isPaused = false;
  let isOver = false;
  let closed!: () => void;
  const over = new Promise<void>((resolve) => {
    closed = resolve;
  });
  /** Resolves when the socket does not connect any more. */
  const connected = new Promise<void>((resolve) => {
    socket.addEventListener('open', () => {
      earlyLength = 0;
      for (const text of early.splice(0)) socket.send(text);
      resolve();
    });
    void over.then(resolve);
  });

  const end = (): void => {
    if (isOver) return;
    isOver = true;
    held.clear();
    closed();
    receiver?.ended(fault);
  };
  const arrive = (data: unknown): void => {
    if (data === END) end();
    else if (typeof data !== 'string') receiver?.invalid('the message is binary', textOf(data));
    else if (data.length <= maxLength) receiver?.text(data);
    else {
      receiver?.tooLong(maxLength, data.slice(0, BEGINNING));
      closeWebSocket(socket, 1009, 'the message is too long');
      end();
    }
  };
  const give = (): void => {
    while (receiver !== undefined && !isPaused && held.size > 0) arrive(held.take());
  };
  socket.addEventListener('message', ({ data }) => {
    if (isOver) return;
    held.push(data);
    give();
  });
  // An error without a listener would end the process.
  socket.addEventListener('error', (event) => {
    const { message } = event as { readonly message?: string };
    fault ??= new Error(message ?? 'the WebSocket failed');
  });
  socket.addEventListener('close', ({ code: sent, reason }) => {
    const code = publicCode(sent);
    const said = reason === '' ? String(code) : `${code}: ${reason}`;
    if (!ORDERLY.includes(code)) fault ??= new Error(`the WebSocket was closed with ${said}`);
    closed();
    held.push(END);
    give();
  });
  if (socket.readyState === CLOSED) {
    closed();
    held.push(END);
  }

  return {
    // A text has at least as many bytes as code units.
    maxTextBytes: maxLength,
    start: (given) => {
      receiver = given;
      queueMicrotask(give);
    },
    send: (text) => {
      if (isOver || socket.readyState > OPEN) return;
      if (socket.readyState === CONNECTING) {
        early.push(text);
        earlyLength += text.length;
      } else socket.send(text);
    },
    ready: () => {
      if (socket.readyState !== CONNECTING || earlyLength <= highWaterMark) return drained(socket, highWaterMark);
      return connected.then(() => drained(socket, highWaterMark));
    },
    flushed: async () => {
      if (socket.readyState === CONNECTING) await connected;
      await drained(socket, 0);
      return !isOver && socket.readyState === OPEN;
    },
    backlog: () => socket.bufferedAmount + earlyLength,
    pause: () => {
      isPaused = true;
      socket.pause?.();
    },
    resume: () => {
      isPaused = false;
      give();
      if (!isPaused) socket.resume?.();
    },
    end: async () => {
      if (socket.readyState === CONNECTING && early.length > 0) await connected;
      await drained(socket, 0);
      // A paused socket would not see the confirmation.
      socket.resume?.();
      if (socket.readyState <= OPEN) closeWebSocket(socket);
      await over;
    },
    destroy: () => {
      end();
      if (socket.terminate === undefined) closeWebSocket(socket);
      else socket.terminate();
    },
  };
}

/** Returns the beginning of a binary message; a `Blob` cannot be read at once. */
function textOf(data: unknown): string | undefined {
  if (data instanceof ArrayBuffer) return beginningOf(new Uint8Array(data));
  return ArrayBuffer.isView(data)
    ? beginningOf(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    : undefined;
}
