/** A channel over a WebSocket, wherever it comes from. */
import type { Channel, Receiver } from './channel.js';

/** As much of a WebSocket as is used: browsers', Node's own from version 22 on, and those of `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: (event: unknown) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  /** Those of `ws` have them. */
  pause?(): void;
  resume?(): void;
  terminate?(): void;
}

export interface WebSocketChannelOptions {
  /** Most UTF-16 code units of a message. @default 32 Mi */
  readonly maxLength?: number | undefined;
  /** Bytes that may wait in the socket before `ready` makes senders wait. @default 1 MiB */
  readonly highWaterMark?: number | undefined;
}

const CONNECTING = 0;
const OPEN = 1;
const MAX_LENGTH = 32 * 1024 * 1024;
const HIGH_WATER_MARK = 1024 * 1024;
/** Milliseconds between two looks at what waits: a WebSocket does not say when that gets less. */
const LOOK = 5;

/**
 * One JSON document a text message. The socket may still be connecting: what is sent before waits. Its close is the end,
 * whichever side it comes from; a binary message is no JSON.
 */
export function webSocketChannel(socket: WebSocketLike, options: WebSocketChannelOptions = {}): Channel {
  const { maxLength = MAX_LENGTH, highWaterMark = HIGH_WATER_MARK } = options;
  const early: string[] = [];
  let receiver: Receiver | undefined;
  let fault: Error | undefined;
  let isPaused = false;
  let isOver = false;
  const held: unknown[] = [];

  const over = (): void => {
    if (isOver) return;
    isOver = true;
    receiver?.ended(fault);
  };
  const arrive = (data: unknown): void => {
    if (typeof data !== 'string') receiver?.garbage('the message is binary');
    else if (data.length <= maxLength) receiver?.text(data);
    else {
      receiver?.tooLong(maxLength);
      socket.close(1009);
      over();
    }
  };
  const backlog = (): number => socket.bufferedAmount + early.reduce((sum, { length }) => sum + length, 0);
  const settled = (isDone: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (isOver || socket.readyState > OPEN || isDone()) resolve();
        else setTimeout(look, LOOK);
      };
      look();
    });

  return {
    start: (given) => {
      receiver = given;
      socket.addEventListener('open', () => {
        for (const text of early.splice(0)) socket.send(text);
      });
      socket.addEventListener('message', ({ data }) => {
        if (isOver) return;
        // Browsers cannot be told to read nothing.
        if (isPaused) held.push(data);
        else arrive(data);
      });
      socket.addEventListener('error', (event) => {
        const { message } = event as { readonly message?: string };
        fault = new Error(message ?? 'the WebSocket failed');
      });
      socket.addEventListener('close', over);
      if (socket.readyState > OPEN) queueMicrotask(over);
    },
    send: (text) => {
      if (isOver || socket.readyState > OPEN) return;
      if (socket.readyState === CONNECTING) early.push(text);
      else socket.send(text);
    },
    ready: () => (backlog() <= highWaterMark ? undefined : settled(() => backlog() <= highWaterMark)),
    backlog,
    pause: () => {
      isPaused = true;
      socket.pause?.();
    },
    resume: () => {
      isPaused = false;
      while (!isPaused && held.length > 0) arrive(held.shift());
      if (!isPaused) socket.resume?.();
    },
    end: async () => {
      await settled(() => backlog() === 0);
      if (socket.readyState <= OPEN) socket.close(1000);
      await settled(() => isOver);
    },
    destroy: () => {
      over();
      if (socket.terminate === undefined) socket.close();
      else socket.terminate();
    },
  };
}
